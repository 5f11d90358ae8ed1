// A sign of life: a small file beside a worker's part that changes every second or two, and says how far the worker is.
// Whoever watches trusts it more than a scheduler, which may go on calling a job running whose processes are dead.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "banyan/store/parts.hpp"

namespace banyan::store {

enum class WorkerState { running, finished, failed };

struct Beat {
  SweepPart part;
  u64 sweep = 0;  ///< digest of the plan
  std::string host;
  u64 process = 0;
  std::string job;  ///< of a scheduler: "123_4"; "" where there is none
  u64 count = 0;    ///< grows while the worker lives
  WorkerState state = WorkerState::running;
  std::string cause;  ///< why it failed
  u64 finished = 0;   ///< points of the part
  u64 points = 0;
  double seconds_left = 0.0;  ///< a prediction; below 0 while nothing is known
  std::string at;             ///< the point that runs: "load = 0.3"
  std::string file;           ///< that says so
};

/// Writes the file until it goes. What cannot be written is passed over: the worker's own results matter more.
class Heartbeat {
 public:
  /// `file` is that of the part (store/parts.hpp).
  Heartbeat(const std::string& file, const SweepPart& part, u64 sweep);
  /// The worker failed, unless finish() was called.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  void status(u64 finished, u64 points, double seconds_left, const std::string& at);
  void finish();
  void fail(const std::string& cause);

 private:
  void beat();
  void end(WorkerState state, const std::string& cause);
  void write();

  std::string file_;
  Beat beat_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

/// The signs of life in a folder, of workers of that sweep; files that cannot be read are passed over.
[[nodiscard]] std::vector<Beat> read_beats(const std::string& folder, u64 sweep);

}  // namespace banyan::store
