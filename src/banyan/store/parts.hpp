// A sweep in parts: every worker writes a file of its own into the folder `parts`, without locks, and whoever reads
// the folder joins them by the identity of their runs. docs/explanation/store.md tells the choices.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "banyan/store/store.hpp"
#include "banyan/store/temporary_folder.hpp"

namespace banyan::store {

inline constexpr const char* kPartsFolder = "parts";

/// Part `index` of `count`, from 1.
struct SweepPart {
  u32 index = 1;
  u32 count = 1;
};

/// "2/8"; "0/8" is the same as "8/8", for schedulers that count from 0. Throws ConfigError.
[[nodiscard]] SweepPart read_part(const std::string& text);
[[nodiscard]] std::string to_text(const SweepPart& part);

/// The points of a part, ascending: points that share a run are in one part.
[[nodiscard]] std::vector<std::size_t> places_of(const api::ExperimentSet& set, const SweepPart& part);

/// A name for the file of a worker that no other worker has, in a folder that is made: "parts/2-of-8.HOST.PID-...".
[[nodiscard]] std::string new_part_file(const std::string& folder, const SweepPart& part);
/// The files of the workers, sorted.
[[nodiscard]] std::vector<std::string> part_files(const std::string& folder);
/// The part that a worker's file is of, by its name; nothing for other files.
[[nodiscard]] std::optional<SweepPart> part_of_file(const std::string& file);
/// Whether a folder holds files of workers.
[[nodiscard]] bool has_parts(const std::string& folder);

/// The result store and the workers' files of a folder as one store, in a temporary file. It can still be read after
/// this by who has opened it before.
class Joined {
 public:
  [[nodiscard]] std::string file() const;

 private:
  TemporaryFolder folder_;
};

/// Gets one line where there is something that the user should know.
using Tell = std::function<void(const std::string&)>;

/// All of a folder. Throws ConfigError where something is damaged that is whole nowhere else.
[[nodiscard]] std::shared_ptr<const Joined> join_parts(const std::string& folder);
/// Only the files that may hold points of that part. Damage is told, and left out. Throws ConfigError when the folder
/// holds another sweep.
[[nodiscard]] std::shared_ptr<const Joined> join_for_part(const std::string& folder, const Plan& plan,
                                                          const SweepPart& part, const Tell& tell);

/// The whole runs of this Banyan that a folder has, in its store and its parts. Damage is passed over.
[[nodiscard]] std::vector<u64> runs_in(const std::string& folder);

/// Adds the runs of the workers of the folder to its store.
void absorb_parts(const std::string& folder, Writer& store, const Tell& tell);

struct MergeReport {
  u64 points = 0;
  u64 finished = 0;
  u64 shared = 0;  ///< runs that more than one of them has, with the same result
  u64 others = 0;  ///< finished points that another version of Banyan has made, which a sweep runs again
};
/// Joins folders and files of workers in a store, which takes in what the workers of its own folder have, too. Throws
/// ConfigError when they are of different sweeps, or the store is, when one is damaged, or when two have different
/// results of one point.
MergeReport merge(const std::vector<std::string>& from, Writer& into);

}  // namespace banyan::store
