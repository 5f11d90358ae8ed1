#include "banyan/store/store.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "banyan/api/inputs.hpp"
#include "banyan/api/version.hpp"
#include "banyan/base/blob.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/stats/packed_congestion.hpp"
#include "banyan/store/digest.hpp"
#include "banyan/store/file_lock.hpp"
#include "banyan/store/parts.hpp"
#include "banyan/store/sweep.hpp"

namespace banyan::store {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Mode = Database::Mode;

constexpr const char* kLockName = "results.lock";
constexpr u64 kApplication = 0x42616e79;  ///< "Bany", in the header of the file: file(1) and we can tell it

constexpr const char* kTables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE point(position INTEGER PRIMARY KEY, run TEXT NOT NULL, axes TEXT NOT NULL, configuration TEXT NOT NULL);
CREATE TABLE run(hash TEXT PRIMARY KEY, configuration TEXT NOT NULL, seed INTEGER NOT NULL, verdict TEXT NOT NULL,
  certain INTEGER NOT NULL, explanation TEXT NOT NULL, state_hash TEXT NOT NULL, version TEXT NOT NULL,
  compiler TEXT NOT NULL, cpu_seconds REAL, peak_bytes INTEGER NOT NULL, group_cycles REAL, group_cut INTEGER NOT NULL,
  checkpoints BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE metric(run TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL, mean REAL,
  half_width REAL, confidence REAL, count INTEGER NOT NULL, counter INTEGER NOT NULL,
  PRIMARY KEY(run, position)) WITHOUT ROWID;
CREATE TABLE series(run TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL,
  start REAL, interval REAL, samples BLOB NOT NULL, PRIMARY KEY(run, position)) WITHOUT ROWID;
CREATE TABLE histogram(run TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL,
  buckets BLOB NOT NULL, PRIMARY KEY(run, position)) WITHOUT ROWID;
CREATE TABLE groups(run TEXT NOT NULL, position INTEGER NOT NULL, metric TEXT NOT NULL, sums BLOB NOT NULL,
  PRIMARY KEY(run, position)) WITHOUT ROWID;
)sql";

/// Stores of every age may lack this table: such a store has no trees.
constexpr const char* kTreeTable =
    "CREATE TABLE IF NOT EXISTS trees(run TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID";

/// Runs that have none get no row.
constexpr const char* kWarningTable =
    "CREATE TABLE IF NOT EXISTS warning(run TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID";

/// The columns of every table, in order: a store that has others was changed by another program.
constexpr struct {
  const char* name;
  const char* columns;
  u64 since;      ///< the format
  bool optional;  ///< stores of format 1 may lack it
} kColumns[] = {
    {"meta", "key,value", 1, false},
    {"point", "position,run,axes,configuration", 1, false},
    {"run",
     "hash,configuration,seed,verdict,certain,explanation,state_hash,version,compiler,cpu_seconds,peak_bytes,"
     "group_cycles,group_cut,checkpoints",
     1, false},
    {"metric", "run,position,name,unit,mean,half_width,confidence,count,counter", 1, false},
    {"series", "run,position,name,unit,start,interval,samples", 1, false},
    {"histogram", "run,position,name,unit,buckets", 1, false},
    {"groups", "run,position,metric,sums", 1, false},
    {"trees", "run,record", 1, true},
    {"digest", "run,rows", 2, false},
    {"warning", "run,text", 3, false},
};

constexpr const char* kTablesOfRuns[] = {"metric", "series", "histogram", "groups", "trees", "warning"};

std::string hex(u64 value) { return fmt::format("{:016x}", value); }

u64 from_hex(const std::string& text) {
  u64 value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

std::string file_of(const std::string& folder_or_file) {
  std::error_code ignored;
  const fs::path path(folder_or_file);
  return fs::is_directory(path, ignored) ? (path / kFileName).string() : folder_or_file;
}

[[noreturn]] void damaged(const std::string& path, const std::string& how) {
  throw ConfigError({path, 0, 0, ""}, fmt::format("the result store is damaged: {}", how),
                    "restore it from a copy, or move it away: \"banyan sweep\" then starts a new one");
}

/// What is in the store, but not as Banyan writes it.
[[noreturn]] void unreadable(const std::string& path) { damaged(path, "its values are not as Banyan writes them"); }

std::string columns_of(const Database& database, const char* table) {
  Statement select(database, "SELECT group_concat(name, ',') FROM pragma_table_info(?)");
  return select.bind(table).step() ? select.text() : "";
}

void require_tables(const Database& database, u64 format) {
  for (const auto& table : kColumns) {
    const std::string columns = columns_of(database, table.name);
    if (table.since > format && !columns.empty()) {
      damaged(database.path(), fmt::format("its format number is {}, and it has the table {} of format {}", format,
                                           table.name, table.since));
    }
    if (columns == table.columns || table.since > format || (columns.empty() && table.optional && format == 1))
      continue;
    if (columns.empty()) damaged(database.path(), fmt::format("the table {} is missing", table.name));
    damaged(database.path(), fmt::format("the table {} has the columns {}, which should be {}", table.name,
                                         without_controls(columns), table.columns));
  }
}

/// The first bytes of a database; an empty file is one too.
bool begins_as_database(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::ifstream stream(path, std::ios::binary);
  std::string head(kMagic.size(), '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  return !stream.is_open() || stream.gcount() == 0 || head == kMagic;
}

/// The kind of file that a user is likely to have meant, by its name.
std::string other_file_remedy(const std::string& path) {
  if (fs::path(path).extension() == ".toml") {
    return fmt::format("this is an experiment: run it with \"banyan run {0} --out FOLDER\" and name the folder", path);
  }
  return "name the folder that \"banyan run\" or \"sweep\" filled with --out";
}

/// A file that is no store, one of another program or of a newer Banyan, or a broken one: found before anything is
/// read from it.
void require_known(const Database& database) {
  const Where where{database.path(), 0, 0, ""};
  if (!begins_as_database(database.path())) {
    if (fs::path(database.path()).filename() == kFileName) damaged(database.path(), "it does not begin as a database");
    throw ConfigError(where, "this file is no result store", other_file_remedy(database.path()));
  }
  const u64 application = database.number("PRAGMA application_id");
  const u64 format = database.number("PRAGMA user_version");
  if (database.number("SELECT count(*) FROM sqlite_schema") == 0) {
    if (application == 0 && format == 0) return;  // it is being made, or nobody filled it
    damaged(database.path(), "it has no tables");
  }
  if (application != kApplication) {
    const bool ours = columns_of(database, "run").starts_with("hash,configuration,seed");
    if (ours) damaged(database.path(), "its application number is not that of Banyan");
    throw ConfigError(where, "this is a database of another program, not a result store", "name another folder");
  }
  if (format == 0) damaged(database.path(), "its format number is 0");
  if (format >> 31U != 0) damaged(database.path(), "its format number is negative");
  if (format > kFormat) {
    throw ConfigError(
        where, fmt::format("the result store has format {}, and this Banyan knows formats up to {}", format, kFormat),
        "use the newer Banyan that wrote it, or name another folder");
  }
  const std::string state = database.text("PRAGMA quick_check(1)");
  if (state != "ok") damaged(database.path(), state.substr(0, state.find('\n')));
  require_tables(database, format);
}

[[noreturn]] void holds_nothing(const std::string& path) {
  throw ConfigError({path, 0, 0, ""}, "the result store holds no finished run",
                    "fill it with \"banyan sweep FILE --out FOLDER\"");
}

std::string axes_json(const api::Experiment& point) {
  json axes = json::array();
  for (std::size_t a = 0; a < point.axes.size(); ++a) {
    const auto& [key, value] = point.axes[a];
    axes.push_back(json::array({key, value}));
    if (a < point.labels.size()) axes.back().push_back(point.labels[a]);
  }
  return axes.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string list_json(const std::vector<std::string>& list) {
  return json(list).dump(-1, ' ', false, json::error_handler_t::replace);
}

api::Verdict verdict_of(const std::string& text) {
  for (const api::Verdict verdict :
       {api::Verdict::steady, api::Verdict::saturated, api::Verdict::deadlocked, api::Verdict::finished}) {
    if (api::to_string(verdict) == text) return verdict;
  }
  throw std::out_of_range("unknown verdict");
}

// --- the parts of a run, written and read in the same order --------------------------------------------------------

void put_metrics(const Database& database, const std::string& run, const api::Result& result) {
  Statement insert(database, "INSERT INTO metric VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < result.metrics.size(); ++i) {
    const stats::Metric& m = result.metrics[i];
    insert.bind(run).bind(u64{i}).bind(m.name).bind(m.unit).bind(m.mean).bind(m.half_width);
    insert.bind(m.confidence).bind(m.count).bind(u64{m.counter}).run();
  }
}

std::vector<stats::Metric> metrics_of(const Database& database, const std::string& run) {
  Statement select(database,
                   "SELECT name, unit, mean, half_width, confidence, count, counter FROM metric WHERE run = ? "
                   "ORDER BY position");
  std::vector<stats::Metric> metrics;
  for (select.bind(run); select.step();) {
    stats::Metric m;
    m.name = select.text();
    m.unit = select.text();
    m.mean = select.real();
    m.half_width = select.maybe_real();
    m.confidence = select.real();
    m.count = select.natural();
    m.counter = select.natural() != 0;
    metrics.push_back(std::move(m));
  }
  return metrics;
}

void put_series(const Database& database, const std::string& run, const api::Result& result) {
  Statement insert(database, "INSERT INTO series VALUES(?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < result.series.size(); ++i) {
    const stats::Series& s = result.series[i];
    BlobWriter blob;
    for (const double value : s.values) blob.add(value);
    insert.bind(run).bind(u64{i}).bind(s.name).bind(s.unit).bind(s.start).bind(s.interval);
    insert.bind_blob(blob.bytes()).run();
  }
}

std::vector<stats::Series> series_of(const Database& database, const std::string& run) {
  Statement select(database, "SELECT name, unit, start, interval, samples FROM series WHERE run = ? ORDER BY position");
  std::vector<stats::Series> all;
  for (select.bind(run); select.step();) {
    stats::Series s;
    s.name = select.text();
    s.unit = select.text();
    s.start = select.real();
    s.interval = select.real();
    const std::string bytes = select.blob();
    for (BlobReader blob(bytes); !blob.done();) s.values.push_back(blob.real());
    all.push_back(std::move(s));
  }
  return all;
}

void put_histograms(const Database& database, const std::string& run, const api::Result& result) {
  Statement insert(database, "INSERT INTO histogram VALUES(?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < result.histograms.size(); ++i) {
    const api::Histogram& h = result.histograms[i];
    BlobWriter blob;
    for (const auto& [low, high, count] : h.buckets) {
      blob.add(low);
      blob.add(high - low);
      blob.add(count);
    }
    insert.bind(run).bind(u64{i}).bind(h.name).bind(h.unit).bind_blob(blob.bytes()).run();
  }
}

std::vector<api::Histogram> histograms_of(const Database& database, const std::string& run) {
  Statement select(database, "SELECT name, unit, buckets FROM histogram WHERE run = ? ORDER BY position");
  std::vector<api::Histogram> all;
  for (select.bind(run); select.step();) {
    api::Histogram h{select.text(), select.text(), {}};
    const std::string bytes = select.blob();
    for (BlobReader blob(bytes); !blob.done();) {
      const u64 low = blob.natural();
      const u64 width = blob.natural();
      h.buckets.push_back({low, low + width, blob.natural()});
    }
    all.push_back(std::move(h));
  }
  return all;
}

void put_groups(const Database& database, const std::string& run, const api::Result& result) {
  Statement insert(database, "INSERT INTO groups VALUES(?, ?, ?, ?)");
  for (std::size_t i = 0; i < result.groups.size(); ++i) {
    BlobWriter blob;
    for (const stats::SumCount& group : result.groups[i].sums) {
      blob.add(group.sum);
      blob.add(group.count);
    }
    insert.bind(run).bind(u64{i}).bind(result.groups[i].metric).bind_blob(blob.bytes()).run();
  }
}

std::vector<api::Groups> groups_of(const Database& database, const std::string& run) {
  Statement select(database, "SELECT metric, sums FROM groups WHERE run = ? ORDER BY position");
  std::vector<api::Groups> all;
  for (select.bind(run); select.step();) {
    api::Groups groups{select.text(), {}};
    const std::string bytes = select.blob();
    for (BlobReader blob(bytes); !blob.done();) {
      const u64 sum = blob.natural();
      groups.sums.push_back({sum, blob.natural()});
    }
    all.push_back(std::move(groups));
  }
  return all;
}

/// What a record of jobs begins with, in the table of the trees: a run has one of both.
constexpr std::string_view kJobs = "jobs";

void put_record(const Database& database, const std::string& run, const api::Result& result) {
  if (result.trees == nullptr && result.jobs.empty()) return;
  Statement insert(database, "INSERT INTO trees VALUES(?, ?)");
  insert.bind(run);
  insert.bind_blob(result.trees != nullptr ? result.trees->bytes() : std::string(kJobs) + result.jobs).run();
}

void read_record(const Database& database, const std::string& run, api::Result& result) {
  if (database.number("SELECT count(*) FROM sqlite_schema WHERE name = 'trees'") == 0) return;
  Statement select(database, "SELECT record FROM trees WHERE run = ?");
  if (!select.bind(run).step()) return;
  const std::string record = select.blob();
  if (record.starts_with(kJobs)) {
    result.jobs = record.substr(kJobs.size());
    if (!json::accept(result.jobs)) throw std::out_of_range("jobs that are no JSON");
  } else {
    result.trees = std::make_shared<const stats::PackedCongestion>(record);
  }
}

void put_warning(const Database& database, const std::string& run, const api::Result& result) {
  if (result.warning.empty()) return;
  Statement insert(database, "INSERT INTO warning VALUES(?, ?)");
  insert.bind(run).bind(result.warning).run();
}

/// "" where there is none, and in stores of formats before 3, which kept none.
std::string warning_of(const Database& database, const std::string& run) {
  if (database.number("PRAGMA user_version") < 3) return "";
  Statement select(database, "SELECT text FROM warning WHERE run = ?");
  return select.bind(run).step() ? select.text() : "";
}

std::string checkpoints_blob(const api::Result& result) {
  BlobWriter blob;
  for (const api::Checkpoint& checkpoint : result.checkpoints) {
    blob.add(checkpoint.at);
    blob.add_fixed(checkpoint.hash);
  }
  return blob.bytes();
}

std::vector<api::Checkpoint> checkpoints_from(const std::string& bytes) {
  std::vector<api::Checkpoint> all;
  for (BlobReader blob(bytes); !blob.done();) {
    const u64 at = blob.natural();
    all.push_back({at, blob.fixed()});
  }
  return all;
}

/// What the sweep is, whoever runs which part of it.
u64 digest_of(const Plan& plan) {
  Hasher hasher;
  for (const std::string& axis : plan.axes) hasher.add(axis);
  for (const Plan::Point& point : plan.points) {
    hasher.add(point.run);
    hasher.add(point.axes);
  }
  return hasher.value();
}

}  // namespace

Plan plan_of(const api::ExperimentSet& set, const Source& source) {
  Plan plan{source, set.axis_names, {}, set.points.size(), 0};
  for (const api::Experiment& point : set.points) {
    api::require_files(point);
    plan.points.push_back({plan.points.size(), point.configuration_hash, axes_json(point), point.configuration});
  }
  plan.digest = digest_of(plan);
  return plan;
}

std::size_t Table::finished() const {
  return static_cast<std::size_t>(
      std::count_if(results.begin(), results.end(), [](const auto& result) { return result.has_value(); }));
}

void require_whole(const Table& table) {
  if (table.damaged.empty()) return;
  const DamagedPoint& first = table.damaged.front();
  std::string point;
  for (const auto& [key, value] : table.set.points[first.point].axes) {
    point += fmt::format("{}{} = {}", point.empty() ? "" : ", ", key, value);
  }
  throw ConfigError(
      {table.path, 0, 0, ""},
      fmt::format("the result store is damaged: {}{}{}", point.empty() ? "" : fmt::format("at {}, ", point),
                  damage_text(first.rows),
                  table.damaged.size() == 1
                      ? ""
                      : fmt::format("; {} points are damaged (\"banyan verify\" names all)", table.damaged.size())),
      fmt::format("make it again with: {}", continuation(table.source, fs::path(table.path).parent_path().string())));
}

bool is_store(const std::string& folder_or_file) {
  std::error_code ignored;
  if (fs::is_directory(folder_or_file, ignored)) return true;
  return fs::path(folder_or_file).extension() == fs::path(kFileName).extension();
}

// --- reading -------------------------------------------------------------------------------------------------------

Reader::Reader(const std::string& folder_or_file)
    : Reader(has_parts(folder_or_file) ? Reader(file_of(folder_or_file), join_parts(folder_or_file))
                                       : Reader(file_of(folder_or_file), Mode::read)) {}

Reader::Reader(std::string shown, const std::shared_ptr<const Joined>& joined)
    : path_(std::move(shown)), database_(joined->file(), Mode::read) {}

Reader::Reader(const std::string& file, Mode mode)
    : path_(file), database_([&] {
        std::error_code ignored;
        if (mode == Mode::read && !fs::exists(file, ignored)) {
          throw ConfigError({file, 0, 0, ""}, "there is no result store",
                            "name the folder that \"banyan sweep FILE --out FOLDER\" filled");
        }
        // A pipe would be read for ever.
        if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored)) {
          throw ConfigError({file, 0, 0, ""}, "this is no file, and so no result store", other_file_remedy(file));
        }
        return Database(file, mode);
      }()) {
  require_known(database_);
  if (mode == Mode::read && database_.number("PRAGMA user_version") == 0) holds_nothing(file);
}

bool Reader::sealed() const { return database_.number("PRAGMA user_version") >= 2; }

std::vector<std::string> Reader::damage(u64 configuration_hash) const {
  const std::string run = hex(configuration_hash);
  if (sealed()) return damage_of_run(database_, run);
  // Without digests there is no more to tell than that a value cannot be read.
  try {
    static_cast<void>(read(run));
    return {};
  } catch (const ConfigError&) {
    return {fmt::format("row {} of table run, or what belongs to it, is not as Banyan writes it", run)};
  }
}

std::optional<api::Result> Reader::find(u64 configuration_hash) const {
  const std::vector<std::string> rows = damage(configuration_hash);
  if (!rows.empty()) damaged(path(), damage_text(rows));
  return read(hex(configuration_hash));
}

std::optional<api::Result> Reader::read(const std::string& run) const {
  Statement select(database_,
                   "SELECT configuration, seed, verdict, certain, explanation, state_hash, version, compiler, "
                   "cpu_seconds, peak_bytes, group_cycles, group_cut, checkpoints FROM run WHERE hash = ?");
  if (!select.bind(run).step()) return std::nullopt;
  try {
    api::Result result;
    result.configuration_hash = from_hex(run);
    result.configuration = select.text();
    result.seed = select.natural();
    result.verdict = verdict_of(select.text());
    result.certain = select.natural() != 0;
    result.explanation = select.text();
    result.state_hash = from_hex(select.text());
    result.version = select.text();
    result.compiler = select.text();
    result.cpu_seconds = select.real();
    result.peak_bytes = select.natural();
    result.group_cycles = select.real();
    result.group_cut = select.natural();
    result.checkpoints = checkpoints_from(select.blob());
    result.metrics = metrics_of(database_, run);
    result.series = series_of(database_, run);
    result.histograms = histograms_of(database_, run);
    result.groups = groups_of(database_, run);
    read_record(database_, run, result);
    result.warning = warning_of(database_, run);
    return result;
  } catch (const std::out_of_range&) { unreadable(path()); }
}

std::vector<u64> Reader::runs() const {
  std::vector<u64> hashes;
  Statement select(database_, "SELECT hash FROM run ORDER BY hash");
  while (select.step()) hashes.push_back(from_hex(select.text()));
  return hashes;
}

Reader::Made Reader::made(u64 configuration_hash) const {
  Statement select(database_, "SELECT version, state_hash, * FROM run WHERE hash = ?");
  if (!select.bind(hex(configuration_hash)).step()) return {};
  Made made;
  made.version = select.text();
  made.state_hash = select.text();
  made.digest = select.digest_of_rest();
  return made;
}

double Reader::cpu_seconds(u64 configuration_hash) const {
  Statement select(database_, "SELECT cpu_seconds FROM run WHERE hash = ?");
  return select.bind(hex(configuration_hash)).step() ? select.real() : 0.0;
}

std::optional<Plan> Reader::plan() const {
  if (const auto rows = sealed() ? damage_of_plan(database_) : std::vector<std::string>{}; !rows.empty()) {
    throw ConfigError({path(), 0, 0, ""}, fmt::format("the result store is damaged: {}", damage_text(rows)),
                      "give the command that filled it again, with --out: it writes this anew and keeps the runs");
  }
  const auto meta = [&](const char* key) {
    Statement select(database_, "SELECT value FROM meta WHERE key = ?");
    return select.bind(key).step() ? select.text() : std::string();
  };
  if (meta("axes").empty()) return std::nullopt;
  try {
    Plan plan;
    plan.source = {meta("command"), meta("file"), meta("text"), json::parse(meta("overrides")).get<api::Overrides>(),
                   json::parse(meta("options").empty() ? "[]" : meta("options")).get<std::vector<std::string>>()};
    plan.axes = json::parse(meta("axes")).get<std::vector<std::string>>();
    Statement select(database_, "SELECT position, run, axes, configuration FROM point ORDER BY position");
    while (select.step()) {
      Plan::Point point;
      point.position = select.natural();
      point.run = from_hex(select.text());
      point.axes = select.text();
      point.configuration = select.text();
      plan.points.push_back(std::move(point));
    }
    const std::string total = meta("points");
    plan.total = total.empty() ? plan.points.size() : from_hex(total);
    plan.digest = total.empty() ? digest_of(plan) : from_hex(meta("plan"));
    return plan;
  } catch (const json::exception&) { unreadable(path()); }
}

Table Reader::table() const {
  // Points and runs of one moment, though a sweep may be writing.
  const Transaction moment(database_, Transaction::Kind::reading);
  std::optional<Plan> planned = plan();
  if (!planned) holds_nothing(path());
  try {
    Table table;
    table.path = path();
    table.source = std::move(planned->source);
    table.planned = planned->total;
    table.set.file = table.source.file;
    table.set.axis_names = std::move(planned->axes);
    for (Plan::Point& row : planned->points) {
      api::Experiment point;
      point.configuration_hash = row.run;
      for (const json& axis : json::parse(row.axes)) {
        point.axes.emplace_back(axis.at(0), axis.at(1));
        // Stores of before have no labels.
        if (axis.size() > 2) point.labels.push_back(axis.at(2));
      }
      if (point.labels.size() != point.axes.size()) point.labels.clear();
      point.configuration = std::move(row.configuration);
      if (std::vector<std::string> rows = damage(point.configuration_hash); !rows.empty()) {
        table.damaged.push_back({table.results.size(), std::move(rows)});
        table.results.emplace_back();
      } else {
        table.results.push_back(read(hex(point.configuration_hash)));
      }
      // Points that differ only in what results do not depend on share a run.
      if (table.results.back()) table.results.back()->configuration = point.configuration;
      table.set.points.push_back(std::move(point));
    }
    if (sealed()) table.strays = stray_rows(database_);
    return table;
  } catch (const json::exception&) { unreadable(path()); }
}

// --- writing -------------------------------------------------------------------------------------------------------

struct Writer::Opened {
  explicit Opened(const std::string& where)
      : folder(where), reader((fs::path(where) / kFileName).string(), Mode::write) {}
  Opened(const std::string& where, const std::string& file) : folder(where), reader(file, Mode::sole_writer) {}

  std::string folder;
  Reader reader;
};

Writer::Writer(const std::string& folder)
    : lock_(std::make_unique<FileLock>((fs::path(folder) / kLockName).string(), folder)),
      opened_(std::make_unique<Opened>(folder)) {
  begin();
}

Writer::Writer(const std::string& folder, const std::string& file) : opened_(std::make_unique<Opened>(folder, file)) {
  begin();
}

void Writer::begin() {
  const Database& database = opened_->reader.database_;
  // One file, no write-ahead log: it may be copied at any time and lie on a network file system. FULL: a commit is on
  // the disk when it returns.
  database.run("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL");
  const u64 format = database.number("PRAGMA user_version");
  if (format == kFormat) return remove_strays(database);
  Transaction transaction(database);
  if (format == 0) database.run(kTables);
  database.run(kTreeTable);
  database.run(kDigestTable);
  database.run(kWarningTable);
  database.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kFormat));
  // What a store of format 1 holds is believed as it is; one of format 2 has its digests.
  if (format == 1) {
    seal_plan(database);
    for (const u64 run : opened_->reader.runs()) seal_run(database, hex(run));
  }
  transaction.commit();
}

Writer::~Writer() {
  // A run that was interrupted leaves nothing behind in a folder that had nothing.
  if (kept_) return;
  try {
    const Database& database = opened_->reader.database_;
    if (database.number("SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM meta)") != 0) return;
    std::error_code ignored;
    fs::remove(database.path(), ignored);
  } catch (const ConfigError&) { return; }
}

const Reader& Writer::reader() const { return opened_->reader; }
const std::string& Writer::folder() const { return opened_->folder; }

void Writer::plan(const api::ExperimentSet& set, const Source& source) { plan(plan_of(set, source)); }

void Writer::plan(const Plan& plan) {
  const Database& database = opened_->reader.database_;
  Transaction transaction(database);
  Statement meta(database, "INSERT OR REPLACE INTO meta VALUES(?, ?)");
  meta.bind("format").bind(fmt::format("{}", kFormat)).run();
  meta.bind("banyan").bind(api::version()).run();
  meta.bind("command").bind(plan.source.command).run();
  meta.bind("file").bind(plan.source.file).run();
  meta.bind("text").bind(plan.source.text).run();
  meta.bind("overrides").bind(list_json(plan.source.overrides)).run();
  meta.bind("options").bind(list_json(plan.source.options)).run();
  meta.bind("axes").bind(list_json(plan.axes)).run();
  // A part says what the whole is.
  database.run("DELETE FROM meta WHERE key IN ('points', 'plan')");
  if (plan.points.size() < plan.total) {
    meta.bind("points").bind(hex(plan.total)).run();
    meta.bind("plan").bind(hex(plan.digest)).run();
  }
  database.run("DELETE FROM point");
  Statement insert(database, "INSERT INTO point VALUES(?, ?, ?, ?)");
  for (const Plan::Point& point : plan.points) {
    insert.bind(point.position).bind(hex(point.run)).bind(point.axes).bind(point.configuration).run();
  }
  seal_plan(database);
  transaction.commit();
}

void Writer::copy(const std::string& file, const std::vector<u64>& runs) {
  const Database& database = opened_->reader.database_;
  Statement attach(database, "ATTACH ? AS part");
  attach.bind(file).run();
  {
    Transaction transaction(database);
    std::vector<const char*> tables{"run", "digest"};
    tables.insert(tables.end(), std::begin(kTablesOfRuns), std::end(kTablesOfRuns));
    for (const char* table : tables) {
      const char* key = std::string_view(table) == "run" ? "hash" : "run";
      Statement remove(database, fmt::format("DELETE FROM main.{} WHERE {} = ?", table, key));
      for (const u64 run : runs) remove.bind(hex(run)).run();
      // Stores of before lack some tables.
      Statement select(database, "SELECT count(*) FROM part.sqlite_schema WHERE name = ?");
      if (!select.bind(table).step() || select.natural() == 0) continue;
      Statement insert(database, fmt::format("INSERT INTO main.{0} SELECT * FROM part.{0} WHERE {1} = ?", table, key));
      for (const u64 run : runs) insert.bind(hex(run)).run();
    }
    // What a store of format 1 holds is believed as it is, as where such a store is raised.
    Statement sealed(database, "SELECT count(*) FROM part.sqlite_schema WHERE name = 'digest'");
    if (sealed.step() && sealed.natural() == 0) {
      for (const u64 run : runs) seal_run(database, hex(run));
    }
    transaction.commit();
  }
  database.run("DETACH part");
}

void Writer::keep() { kept_ = true; }

void Writer::hurry() { opened_->reader.database_.run("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY"); }

bool Writer::has(u64 configuration_hash) const {
  Statement select(opened_->reader.database_, "SELECT 1 FROM run WHERE hash = ? AND version = ?");
  if (!select.bind(hex(configuration_hash)).bind(api::version()).step()) return false;
  return opened_->reader.damage(configuration_hash).empty();
}

void Writer::put(const api::Result& result) {
  const Database& database = opened_->reader.database_;
  const std::string run = hex(result.configuration_hash);
  Transaction transaction(database);
  for (const char* table : kTablesOfRuns) {
    Statement(database, fmt::format("DELETE FROM {} WHERE run = ?", table)).bind(run).run();
  }
  Statement insert(database, "INSERT OR REPLACE INTO run VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(run).bind(result.configuration).bind(result.seed).bind(api::to_string(result.verdict));
  insert.bind(u64{result.certain}).bind(result.explanation).bind(hex(result.state_hash)).bind(result.version);
  insert.bind(result.compiler).bind(result.cpu_seconds).bind(result.peak_bytes).bind(result.group_cycles);
  insert.bind(result.group_cut).bind_blob(checkpoints_blob(result)).run();
  put_metrics(database, run, result);
  put_series(database, run, result);
  put_histograms(database, run, result);
  put_groups(database, run, result);
  put_record(database, run, result);
  put_warning(database, run, result);
  seal_run(database, run);
  transaction.commit();
}

}  // namespace banyan::store
