// Checkpoints: the state of a run in a file, written now and then, from which another process goes on. The layers of a
// run (how long it measures, its loop, its machine) register what they know, from the outside to the inside; a resumed
// run takes the same way inwards, and each layer reads its part when it registers.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/engine/ranks.hpp"

namespace banyan::engine {

/// What a checkpoint says of the run that wrote it.
struct CheckpointHeader {
  std::string program;        ///< version and compiler
  std::string configuration;  ///< canonical JSON
  u32 ranks = 1;              ///< that shared the run; of several each has a file of its own (part_of_checkpoint)
  u64 identity = 0;           ///< of several ranks: the same in all files that were written together

  void archive(Archive& a) { a(program, configuration, ranks, identity); }
};

/// Where a rank's state lies that belongs to a checkpoint of several.
[[nodiscard]] std::string part_of_checkpoint(const std::string& file, u64 identity, u32 rank);

/// Reads the header and checks the digest of the whole file. Throws ConfigError in one sentence: it is missing, is no
/// checkpoint, was written by another program than `program`, is damaged or cut.
[[nodiscard]] CheckpointHeader read_checkpoint_header(const std::string& file, const std::string& program);

class RunKeeper {
 public:
  using State = std::function<void(Archive&)>;

  struct Setup {
    std::string file;        ///< that is written; "": none
    double seconds = 600.0;  ///< between two of them
    std::string resume;      ///< that is gone on from; "": the run begins anew
    CheckpointHeader header;
    Ranks* ranks = nullptr;  ///< the processes that share the run and call all functions equally often
  };

  /// `resume` was read by read_checkpoint_header. Throws ConfigError where as many ranks have not written it.
  explicit RunKeeper(Setup setup);
  ~RunKeeper();
  RunKeeper(const RunKeeper&) = delete;
  RunKeeper& operator=(const RunKeeper&) = delete;

  /// The state of one layer, for as long as the object lives. Where the run is resumed it is read here.
  class Part {
   public:
    /// `keeper`: nullptr where nobody asked for checkpoints.
    Part(RunKeeper* keeper, State state);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    RunKeeper* keeper_;
  };

  /// Whether it is time for the next checkpoint; the first one is due at once, so that what cannot be written is known.
  /// Of several ranks the first one's clock counts.
  [[nodiscard]] bool due() const;
  /// The same of somebody who told their part of the state at `last`.
  [[nodiscard]] bool due_since(std::chrono::steady_clock::time_point last) const;
  /// Writes the state of all layers to a temporary file beside, and renames it. The first must not fail: throws
  /// NotArchived, and ConfigError where the file cannot be written. A later one that fails leaves the one before.
  /// Of several ranks each writes a file of its own; when all have, the first one writes that which names them, and
  /// those of the checkpoint before go.
  void save();
  /// Why the last checkpoint could not be written; empty: it was.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  void open_resumed();
  [[nodiscard]] std::string put(const std::string& place, bool state) const;
  [[nodiscard]] std::string put_parts();
  void remove_old_parts(const std::string& own) const;
  void write(const std::string& temporary, bool state) const;

  Setup setup_;
  std::vector<State> parts_;
  std::unique_ptr<Archive> reader_;  ///< of a resumed run, up to its innermost layer
  u64 unread_ = 0;                   ///< parts
  bool saved_ = false;
  std::chrono::steady_clock::time_point last_;
  std::string failure_;
};

}  // namespace banyan::engine
