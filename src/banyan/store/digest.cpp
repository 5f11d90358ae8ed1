#include "banyan/store/digest.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include "banyan/base/blob.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/printable.hpp"

namespace banyan::store {
namespace {

/// Rows of one table that belong together. The query gives of each row what it is known by, its name for people, and
/// then every column.
struct Part {
  const char* table;
  const char* query;
  u64 since = 1;  ///< format of the store that has the table
};

constexpr Part kOfRun[] = {
    {"run", "SELECT hash, '', * FROM run WHERE hash = ?"},
    {"metric", "SELECT position, name, * FROM metric WHERE run = ? ORDER BY position"},
    {"series", "SELECT position, name, * FROM series WHERE run = ? ORDER BY position"},
    {"histogram", "SELECT position, name, * FROM histogram WHERE run = ? ORDER BY position"},
    {"groups", "SELECT position, metric, * FROM groups WHERE run = ? ORDER BY position"},
    {"trees", "SELECT run, '', * FROM trees WHERE run = ?"},
    // Behind those that runs of format 2 were sealed with.
    {"warning", "SELECT run, '', * FROM warning WHERE run = ?", 3},
};
constexpr Part kOfPlan[] = {
    {"meta", "SELECT key, '', * FROM meta ORDER BY key"},
    {"point", "SELECT position, '', * FROM point ORDER BY position"},
};

/// What the digests of the plan are kept under: no hash of a run.
constexpr const char* kPlan = "plan";
constexpr std::size_t kLongestName = 60;  ///< of a row; a damaged name may have any length

struct Row {
  std::string key;
  std::string name;
  u64 digest = 0;
  bool used = false;
};

std::vector<Row> rows_of(const Database& database, const Part& part, const std::string& run) {
  std::vector<Row> rows;
  if (database.number("PRAGMA user_version") < part.since) return rows;
  Statement select(database, part.query);
  if (run != kPlan) select.bind(run);
  while (select.step()) {
    Row row;
    row.key = select.text();
    row.name = select.text();
    row.digest = select.digest_of_rest();
    rows.push_back(std::move(row));
  }
  return rows;
}

u64 digest_of(const std::string& run, std::string_view rows) {
  Hasher hasher;
  hasher.add(run);
  hasher.add(rows);
  return hasher.value();
}

void seal(const Database& database, const std::string& run, std::span<const Part> parts) {
  BlobWriter blob;
  for (const Part& part : parts) {
    const std::vector<Row> rows = rows_of(database, part, run);
    blob.add(u64{rows.size()});
    for (const Row& row : rows) {
      blob.add(u64{row.key.size()});
      blob.add_bytes(row.key);
      blob.add_fixed(row.digest);
    }
  }
  // The digests have a digest too, in front of them: damage to them is not taken for damage to the rows.
  BlobWriter whole;
  whole.add_fixed(digest_of(run, blob.bytes()));
  whole.add_bytes(blob.bytes());
  Statement insert(database, "INSERT OR REPLACE INTO digest VALUES(?, ?)");
  insert.bind(run).bind_blob(whole.bytes()).run();
}

std::string row_text(const Part& part, const Row& row) {
  const std::string name =
      row.name.empty() ? "" : fmt::format(" ({})", without_controls(row.name.substr(0, kLongestName)));
  return fmt::format("row {}{} of table {}", without_controls(row.key.substr(0, kLongestName)), name, part.table);
}

void compare(const Part& part, BlobReader& sealed, std::vector<Row> found, std::vector<std::string>& damage) {
  auto next = found.begin();  // both are in one order: what is looked for mostly comes next
  // A run that was sealed before there was such a table had no rows in it.
  for (u64 left = sealed.done() ? 0 : sealed.natural(); left > 0; --left) {
    Row row;
    row.key = std::string(sealed.bytes(sealed.natural()));
    row.digest = sealed.fixed();
    const auto is_same = [&](const Row& other) { return !other.used && other.key == row.key; };
    auto same = std::find_if(next, found.end(), is_same);
    if (same == found.end()) same = std::find_if(found.begin(), found.end(), is_same);
    if (same == found.end()) {
      damage.push_back(row_text(part, row) + " is missing");
      continue;
    }
    same->used = true;
    next = same + 1;
    if (same->digest != row.digest) damage.push_back(row_text(part, *same) + " was changed");
  }
  for (const Row& row : found) {
    if (!row.used) damage.push_back(row_text(part, row) + " was added");
  }
}

std::vector<std::string> damage_of(const Database& database, const std::string& run, std::span<const Part> parts) {
  std::vector<std::vector<Row>> found;
  bool any = false;
  for (const Part& part : parts) {
    found.push_back(rows_of(database, part, run));
    any = any || !found.back().empty();
  }
  Statement select(database, "SELECT rows FROM digest WHERE run = ?");
  if (!select.bind(run).step()) {
    return any ? std::vector<std::string>{fmt::format("row {} of table digest is missing", run)}
               : std::vector<std::string>{};
  }
  const std::string whole = select.blob();
  std::vector<std::string> damage;
  try {
    BlobReader sealed(whole);
    const u64 digest = sealed.fixed();
    if (digest != digest_of(run, sealed.rest())) throw std::out_of_range("other digests");
    for (std::size_t i = 0; i < parts.size(); ++i) compare(parts[i], sealed, std::move(found[i]), damage);
  } catch (const std::out_of_range&) { return {fmt::format("row {} of table digest was changed", run)}; }
  return damage;
}

}  // namespace

void seal_run(const Database& database, const std::string& run) { seal(database, run, kOfRun); }
void seal_plan(const Database& database) { seal(database, kPlan, kOfPlan); }

std::vector<std::string> damage_of_run(const Database& database, const std::string& run) {
  return damage_of(database, run, kOfRun);
}
std::vector<std::string> damage_of_plan(const Database& database) { return damage_of(database, kPlan, kOfPlan); }

namespace {

const char* key_of(const Part& part) { return std::string_view(part.table) == "run" ? "hash" : "run"; }

bool has(const Database& database, const Part& part) { return database.number("PRAGMA user_version") >= part.since; }

}  // namespace

std::vector<std::string> stray_rows(const Database& database) {
  std::vector<std::string> rows;
  for (const Part& part : kOfRun) {
    if (!has(database, part)) continue;
    Statement select(database, fmt::format("SELECT {} FROM {} WHERE {} NOT IN (SELECT run FROM digest)", key_of(part),
                                           part.table, key_of(part)));
    while (select.step()) {
      rows.push_back(fmt::format("a row of table {} belongs to no run ({})", part.table,
                                 without_controls(select.text().substr(0, kLongestName))));
    }
  }
  return rows;
}

void remove_strays(const Database& database) {
  for (const Part& part : kOfRun) {
    if (!has(database, part)) continue;
    database.run(fmt::format("DELETE FROM {} WHERE {} NOT IN (SELECT run FROM digest)", part.table, key_of(part)));
  }
}

std::string damage_text(const std::vector<std::string>& damage) {
  if (damage.empty()) return "";
  if (damage.size() == 1) return damage.front();
  return fmt::format("{}, and {} more row{}", damage.front(), damage.size() - 1, damage.size() == 2 ? "" : "s");
}

}  // namespace banyan::store
