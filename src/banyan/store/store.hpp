// The result store: one SQLite file per output folder. A finished run is one transaction, so that a killed program
// loses none; runs are found again by the hash of their resolved configuration. docs/explanation/store.md tells the
// choices.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/api/result.hpp"
#include "banyan/store/database.hpp"

namespace banyan::store {

inline constexpr const char* kFileName = "results.sqlite";
/// Raised when tables change; a store of a newer format is refused. 2: with digests of all rows. 3: with warnings.
inline constexpr u64 kFormat = 3;

/// What a command was asked to run: enough to continue it.
struct Source {
  std::string command;  ///< "sweep", "run"
  std::string file;     ///< as given
  std::string text;     ///< of the file
  api::Overrides overrides;
  std::vector<std::string> options;  ///< that the result depends on: "--width=0.01"
};

/// A point whose stored run is not what was written.
struct DamagedPoint {
  std::size_t point = 0;
  std::vector<std::string> rows;  ///< for people: "row 3 (packet_latency) of table metric was changed"
};

/// What a command runs, as a store keeps it: all points of a sweep, or those of one part of it.
struct Plan {
  struct Point {
    u64 position = 0;  ///< in the whole sweep
    u64 run = 0;       ///< configuration hash
    std::string axes;  ///< JSON
    std::string configuration;
  };
  Source source;
  std::vector<std::string> axes;
  std::vector<Point> points;  ///< in the order of their positions
  u64 total = 0;              ///< points of the whole sweep
  u64 digest = 0;             ///< of the whole sweep: equal wherever a part of it is kept
};

[[nodiscard]] Plan plan_of(const api::ExperimentSet& set, const Source& source);

/// The points of the latest command, in the order of its sweep, as far as they are finished.
struct Table {
  Source source;
  api::ExperimentSet set;                           ///< of a point: axes, configuration and its hash
  std::size_t planned = 0;                          ///< points of the whole sweep; more than in `set` where parts lack
  std::vector<std::optional<api::Result>> results;  ///< nothing where a point is not finished, and where it is damaged
  std::vector<DamagedPoint> damaged;
  std::vector<std::string> strays;  ///< rows that belong to no run
  std::string path;                 ///< of the file

  [[nodiscard]] std::size_t finished() const;
};

/// Refuses a table with damaged points: what is made of it would be another table, and nobody would see it. The remedy
/// is the command that makes them again.
void require_whole(const Table& table);

/// Whether this names a store: a folder that holds one, or the file itself.
[[nodiscard]] bool is_store(const std::string& folder_or_file);

class FileLock;
class Joined;

/// For reading, while a sweep may be writing. A folder whose sweep ran in parts is read as if they were merged. Throws
/// ConfigError when there is no store, or none that can be read.
class Reader {
 public:
  explicit Reader(const std::string& folder_or_file);
  /// `shown`: what messages name. The file of `joined` may go: it is open.
  Reader(std::string shown, const std::shared_ptr<const Joined>& joined);

  [[nodiscard]] Table table() const;
  /// What the latest command runs; nothing in a store that no command has filled. Throws ConfigError when it is
  /// damaged.
  [[nodiscard]] std::optional<Plan> plan() const;
  /// The run of that configuration. Throws ConfigError when it is damaged.
  [[nodiscard]] std::optional<api::Result> find(u64 configuration_hash) const;
  [[nodiscard]] std::vector<u64> runs() const;  ///< configuration hashes, ascending
  /// The rows of a run that are not what was written; empty when it is whole, or not there at all.
  [[nodiscard]] std::vector<std::string> damage(u64 configuration_hash) const;
  /// Which version made a run, its state hash, and a digest of its row, which has compiler and cost besides.
  struct Made {
    std::string version;
    std::string state_hash;
    u64 digest = 0;
  };
  [[nodiscard]] Made made(u64 configuration_hash) const;
  [[nodiscard]] double cpu_seconds(u64 configuration_hash) const;  ///< 0 where the store has no such run
  /// As users know it: of a folder with parts, the file that merging them would fill.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The file that is read.
  [[nodiscard]] const std::string& file() const { return database_.path(); }

 private:
  friend class Writer;
  Reader(const std::string& file, Database::Mode mode);
  /// Stores of format 1 have no digests: what is in them is believed.
  [[nodiscard]] bool sealed() const;
  [[nodiscard]] std::optional<api::Result> read(const std::string& run) const;

  std::string path_;
  Database database_;
};

/// Opens a store for one program that writes: a second one gets a ConfigError. Creates the store when it is missing;
/// the folder must exist.
class Writer {
 public:
  explicit Writer(const std::string& folder);
  /// A file that nobody else writes, by its name (store/parts.hpp): it takes no lock, because on a network file system
  /// locks of another machine may be ignored, or hang. `folder` is the one that users know.
  Writer(const std::string& folder, const std::string& file);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// What is run now, and the order of its points: from now on the store's table.
  void plan(const api::ExperimentSet& set, const Source& source);
  void plan(const Plan& plan);
  /// Whether the store has the run of that configuration, whole and made by this version of Banyan.
  [[nodiscard]] bool has(u64 configuration_hash) const;
  /// One transaction: when put returns, the run outlives the program and a loss of power.
  void put(const api::Result& result);
  /// Copies runs with all their rows, as they are, from the file of another store that nobody writes to.
  void copy(const std::string& file, const std::vector<u64>& runs);
  /// From now on a commit need not be on the disk; this is for stores that nobody misses.
  void hurry();
  /// Leaves the store in its place though it is empty.
  void keep();

  [[nodiscard]] const Reader& reader() const;
  [[nodiscard]] const std::string& folder() const;

 private:
  struct Opened;
  void begin();

  std::unique_ptr<FileLock> lock_;  ///< let go last
  std::unique_ptr<Opened> opened_;
  bool kept_ = false;
};

}  // namespace banyan::store
