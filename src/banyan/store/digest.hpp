// Digests of the rows of a store: a row that was changed, removed or added since it was written is found and named
// without running anything again.
#pragma once

#include <string>
#include <vector>

#include "banyan/store/database.hpp"

namespace banyan::store {

/// The table of the digests; it belongs to the tables of a new store.
inline constexpr const char* kDigestTable =
    "CREATE TABLE IF NOT EXISTS digest(run TEXT PRIMARY KEY, rows BLOB NOT NULL) WITHOUT ROWID";

/// Records the digests of all rows of a run, within the transaction that wrote them.
void seal_run(const Database& database, const std::string& run);
/// Records the digests of what is run and in which order: the tables `meta` and `point`.
void seal_plan(const Database& database);

/// The rows that are not what was written: "row 3 (packet_latency) of table metric was changed". Empty when all are,
/// and when the store has never heard of the run.
[[nodiscard]] std::vector<std::string> damage_of_run(const Database& database, const std::string& run);
[[nodiscard]] std::vector<std::string> damage_of_plan(const Database& database);

/// The rows of runs that were never sealed: no program of ours wrote them. Nothing that is read or exported has them.
[[nodiscard]] std::vector<std::string> stray_rows(const Database& database);
/// Removes them.
void remove_strays(const Database& database);

/// The first of them, and how many there are.
[[nodiscard]] std::string damage_text(const std::vector<std::string>& damage);

}  // namespace banyan::store
