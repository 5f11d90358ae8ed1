#include "banyan/cli/workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/cli/interrupt.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/process.hpp"
#include "banyan/cli/progress.hpp"
#include "banyan/cli/ranks.hpp"
#include "banyan/cli/slurm.hpp"
#include "banyan/store/heartbeat.hpp"

namespace banyan::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr u32 kMostTasks = 100;        ///< of an array, unless --array says otherwise
constexpr int kFruitlessAttempts = 3;  ///< of a part, without a point more
constexpr std::chrono::seconds kPoll{1};
constexpr int kAbsences = 2;  ///< polls in which a task is not in the queue before that is believed

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

/// A part, as its watcher sees it.
struct Watched {
  store::SweepPart part;
  bool finished = false;
  u64 points = 0;
  u64 done = 0;
  double seconds_left = -1.0;
  std::string at;
  std::map<std::string, u64> counts;  ///< of each worker that ever beat for this part
  Clock::time_point heard = Clock::now();
  bool alive = false;   ///< beat within the patience
  std::string failure;  ///< of the latest worker
  // Under Slurm:
  std::string task;  ///< "123_4"
  int absences = 0;
  int attempts = 0;  ///< since the last new point
  u64 done_at_attempt = 0;
  bool told_waiting = false;
};

class Watch {
 public:
  Watch(const api::ExperimentSet& set, const store::Source& source, u32 parts, const RunArguments& arguments)
      : set_(set), arguments_(arguments), plan_(store::plan_of(set, source)), source_(source) {
    for (u32 i = 1; i <= parts; ++i) {
      Watched watched;
      watched.part = {i, parts};
      watched.points = store::places_of(set, watched.part).size();
      parts_.push_back(std::move(watched));
    }
    plan_.points.clear();
    plan_.points.shrink_to_fit();
  }

  [[nodiscard]] std::vector<Watched>& parts() { return parts_; }
  [[nodiscard]] u64 sweep() const { return plan_.digest; }
  [[nodiscard]] bool all_finished() const {
    return std::all_of(parts_.begin(), parts_.end(), [](const Watched& part) { return part.finished; });
  }

  /// Looks at the files themselves: which parts have all their points.
  void count_points() {
    std::set<u64> runs;
    for (const u64 run : store::runs_in(arguments_.running.out)) runs.insert(run);
    for (Watched& part : parts_) {
      part.done = 0;
      for (const std::size_t i : store::places_of(set_, part.part)) {
        part.done += runs.contains(set_.points[i].configuration_hash) ? 1U : 0U;
      }
      part.finished = part.done == part.points;
    }
  }

  /// Hears what changed since the last time.
  void listen() {
    for (const store::Beat& beat : store::read_beats(arguments_.running.out, plan_.digest)) {
      if (beat.part.count != parts_.size() || beat.part.index > parts_.size()) continue;
      Watched& part = parts_[beat.part.index - 1];
      const auto [count, first] = part.counts.emplace(beat.file, beat.count);
      // A file that lay there before anybody watched tells nothing about now; count_points() knows what it left.
      if (first && !listened_) continue;
      if (!first && count->second == beat.count) continue;
      count->second = beat.count;
      part.heard = Clock::now();
      part.alive = beat.state == store::WorkerState::running;
      part.done = std::max(part.done, beat.finished);
      part.seconds_left = beat.seconds_left;
      part.at = beat.at;
      if (beat.state == store::WorkerState::failed) part.failure = beat.cause;
      if (beat.state == store::WorkerState::finished) part.finished = true;
    }
    listened_ = true;
    for (Watched& part : parts_) {
      if (seconds_since(part.heard) > arguments_.silence) part.alive = false;
    }
  }

  /// Whether the experiment is another one by now; one that cannot be read tells so in the words of its worker.
  [[nodiscard]] bool file_changed() const {
    const std::optional<std::string> text = read_text_file(source_.file);
    return text && *text != source_.text;
  }

  [[nodiscard]] std::string progress() const {
    u64 done = 0;
    u64 points = 0;
    std::size_t alive = 0;
    double longest = -1.0;
    double sum = 0.0;
    bool unknown = false;
    std::string at;
    for (const Watched& part : parts_) {
      points += part.points;
      done += part.finished ? part.points : std::min(part.done, part.points);
      if (part.finished) continue;
      if (part.alive) ++alive;
      if (part.alive && at.empty()) at = part.at;
      if (part.seconds_left < 0.0) unknown = true;
      longest = std::max(longest, part.seconds_left);
      sum += std::max(0.0, part.seconds_left);
    }
    std::string text = fmt::format("{} of {} points, {} of {} workers at work", done, points, alive, parts_.size());
    if (alive > 0 && !unknown && longest >= 0.0) {
      text += fmt::format(", {} left", duration_text(std::max(longest, sum / static_cast<double>(alive))));
    }
    return at.empty() ? text : text + ", at " + at;
  }

  [[nodiscard]] std::string again() const {
    store::Source source = source_;
    if (!arguments_.slurm) return store::continuation(source, arguments_.running.out);
    // It has as many parts as now, since it would be another job otherwise.
    source.options.insert(source.options.end(), {"--slurm", "--wait", fmt::format("--array={}", parts_.size())});
    if (!arguments_.slurm_time.empty()) source.options.push_back("--time=" + arguments_.slurm_time);
    if (!arguments_.slurm_partition.empty()) source.options.push_back("--partition=" + arguments_.slurm_partition);
    if (arguments_.running.threads) source.options.push_back(fmt::format("--threads={}", *arguments_.running.threads));
    return store::continuation(source, arguments_.running.out);
  }

 private:
  const api::ExperimentSet& set_;
  const RunArguments& arguments_;
  store::Plan plan_;
  store::Source source_;
  std::vector<Watched> parts_;
  bool listened_ = false;
};

/// The same for who follows the jobs of a folder, by whichever of its names; another one for another folder, although
/// the same sweep goes there.
u64 job_digest(u64 sweep, const std::string& folder) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(folder), error);
  Hasher hasher;
  hasher.add(sweep);
  hasher.add(error ? folder : (place / "").lexically_normal().string());
  return hasher.value() & 0xffffffffffffU;
}

/// A job array, and what became of its tasks.
class SlurmFarm {
 public:
  SlurmFarm(Watch& watch, const api::ExperimentSet& set, const RunArguments& arguments)
      : watch_(watch), arguments_(arguments) {
    const u32 count = static_cast<u32>(watch.parts().size());
    job_.folder = (fs::path(arguments.running.out) / "slurm").string();
    job_.name = fmt::format("banyan-{:012x}-{}", job_digest(watch.sweep(), arguments.running.out), count);
    job_.time = arguments.slurm_time;
    job_.partition = arguments.slurm_partition;
    job_.threads = arguments.running.threads.value_or(0);
    job_.at_once = arguments.slurm_at_once;
    std::string command = "exec " + quoted_for_shell(own_path()) + " sweep " + quoted_for_shell(set.file);
    for (const std::string& change : arguments.overrides) command += " " + quoted_for_shell(change);
    for (const std::string& plugin : *arguments.plugins) command += " --plugin " + quoted_for_shell(plugin);
    if (arguments.running.seed) command += fmt::format(" --seed {}", *arguments.running.seed);
    if (arguments.booksim) command += " --booksim";
    if (arguments.ignore_unmapped) command += " --ignore-unmapped";
    command += fmt::format(
        " --part \"$SLURM_ARRAY_TASK_ID/{}\" --threads \"${{SLURM_CPUS_PER_TASK:-1}}\" --quiet --out ", count);
    job_.script = "#!/bin/sh\n" + command + quoted_for_shell(arguments.running.out) + "\n";
    require_writable_folder(job_.folder);
  }

  /// Parts that have points left and no task in the queue.
  void submit_missing() {
    const auto tasks = queued(job_.name);
    std::vector<u32> missing;
    for (Watched& part : watch_.parts()) {
      const auto task = tasks ? tasks->find(part.part.index) : std::map<u32, SlurmTask>::const_iterator{};
      if (tasks && task != tasks->end()) {
        part.task = task->second.id;
      } else if (!part.finished) {
        missing.push_back(part.part.index);
      }
    }
    if (!missing.empty()) submit_parts(missing);
    note(missing.empty() ? "nothing is missing that is not in the queue already"
                         : fmt::format("job {} has {} of {} parts", number_, missing.size(), watch_.parts().size()));
  }

  /// Looks at the queue once, and submits again what died.
  void look() {
    const auto tasks = queued(job_.name);
    if (!tasks && !std::exchange(told_unanswered_, true))
      note("Slurm does not answer; the workers are heard all the same");
    std::vector<u32> dead;
    std::map<u32, std::string> told;
    for (Watched& part : watch_.parts()) {
      if (part.finished) continue;
      std::string why;
      if (tasks) {
        const auto task = tasks->find(part.part.index);
        why = task == tasks->end() ? reason_of_absence(part) : reason_of_silence(part, task->second);
      }
      if (why.empty()) continue;
      told.emplace(part.part.index, why);
    }
    if (told.empty()) return;
    // Signs of life are rarer than points: what a worker has done is in its file.
    watch_.count_points();
    for (const auto& [index, why] : told) {
      const Watched& part = watch_.parts()[index - 1];
      if (part.finished) continue;
      require_worth(part);
      note(fmt::format("part {} is submitted again: {}", store::to_text(part.part), why));
      dead.push_back(index);
    }
    if (!dead.empty()) submit_parts(dead);
  }

  [[nodiscard]] const std::string& name() const { return job_.name; }

 private:
  void submit_parts(const std::vector<u32>& indices) {
    number_ = submit(job_, indices);
    for (const u32 index : indices) {
      Watched& part = watch_.parts()[index - 1];
      if (part.done > part.done_at_attempt) part.attempts = 0;
      part.done_at_attempt = part.done;
      ++part.attempts;
      part.absences = 0;
      part.task = fmt::format("{}_{}", number_, index);
      part.heard = Clock::now();
      part.alive = false;
      running_since_.erase(index);
    }
  }

  /// A task that left the queue without its points: it was cancelled, killed, or failed. A worker that still beats may
  /// be about to say that it is done.
  [[nodiscard]] std::string reason_of_absence(Watched& part) {
    ++part.absences;
    if (part.absences < kAbsences || (part.alive && seconds_since(part.heard) < kGoodbye)) return "";
    if (!part.failure.empty()) return std::exchange(part.failure, "");
    return fmt::format("its task {} left the queue before its points were done", part.task);
  }

  /// A task that runs, as Slurm says, and whose worker says nothing.
  [[nodiscard]] std::string reason_of_silence(Watched& part, const SlurmTask& task) {
    part.absences = 0;
    if (task.state != "RUNNING" && task.state != "COMPLETING") {
      const bool stuck = task.state == "PENDING" && task.reason != "None" && task.reason != "Priority" &&
                         task.reason != "Resources" && !task.reason.starts_with("JobArrayTaskLimit");
      if (stuck && !std::exchange(part.told_waiting, true)) {
        note(fmt::format("part {} waits in the queue: {}", store::to_text(part.part), task.reason));
      }
      part.heard = Clock::now();
      return "";
    }
    // Silence counts from when the task began to run, not from when it was submitted.
    const auto [since, first] = running_since_.emplace(part.part.index, Clock::now());
    const double silence = std::min(seconds_since(part.heard), seconds_since(since->second));
    if (first || silence < arguments_.silence) return "";
    cancel(task.id);
    return fmt::format("Slurm calls its task {} running, but the worker has said nothing for {:.0f} s", task.id,
                       silence);
  }

  /// Three times for nothing are enough, and once where the jobs read another file than this command did.
  void require_worth(const Watched& part) const {
    if (watch_.file_changed()) {
      throw ConfigError({arguments_.running.out, 0, 0, ""},
                        fmt::format("part {} has no end: {} was changed after the jobs were submitted",
                                    store::to_text(part.part), arguments_.file),
                        fmt::format("begin again with another --out, or make {} what it was, remove what the changed "
                                    "one has left in {}, and continue with: {}",
                                    arguments_.file, (fs::path(arguments_.running.out) / store::kPartsFolder).string(),
                                    watch_.again()));
    }
    if (part.attempts < kFruitlessAttempts || part.done > part.done_at_attempt) return;
    const std::string file = (fs::path(job_.folder) / (part.task + ".out")).string();
    throw ConfigError({arguments_.running.out, 0, 0, ""},
                      fmt::format("part {} was submitted {} times and got no further: {}", store::to_text(part.part),
                                  part.attempts, last_words(file)),
                      fmt::format("see {}, mend what it says, then continue with: {}", file, watch_.again()));
  }

  /// Its error. What else stands there is no reason, and is only quoted.
  [[nodiscard]] static std::string last_words(const std::string& file) {
    constexpr std::string_view kError = "banyan: error: ";
    std::ifstream stream(file);
    std::string last;
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with(kError)) return line.substr(kError.size());
      if (!line.empty()) last = line;
    }
    return last.empty() ? "it left no word" : fmt::format("it tells no error, and its last words are \"{}\"", last);
  }

  static constexpr double kGoodbye = 5.0;  ///< seconds

  Watch& watch_;
  const RunArguments& arguments_;
  SlurmJob job_;
  std::string number_;
  bool told_unanswered_ = false;
  std::map<u32, Clock::time_point> running_since_;
};

/// Polls until all parts are finished; `look` after every poll.
void follow(Watch& watch, const RunArguments& arguments, const std::string& on_interrupt,
            const std::function<void()>& look) {
  const bool* const stop = watch_interrupt();
  ProgressDisplay display(arguments.running.quiet, "", 1.0);
  for (;;) {
    watch.listen();
    if (watch.all_finished()) return;
    look();
    display.show(watch.progress());
    std::this_thread::sleep_for(kPoll);
    if (stop != nullptr && *stop) throw Interrupted(on_interrupt);
  }
}

u32 tasks_of(const api::ExperimentSet& set, const RunArguments& arguments) {
  std::set<u64> runs;
  for (const api::Experiment& point : set.points) runs.insert(point.configuration_hash);
  const auto most = static_cast<u32>(std::max<std::size_t>(1, runs.size()));
  return std::min(most, arguments.slurm_tasks > 0 ? arguments.slurm_tasks : kMostTasks);
}

}  // namespace

std::string part_of_environment() {
  const std::optional<Launched> of = launched();
  return of ? fmt::format("{}/{}", of->rank + 1, of->size) : "";
}

bool run_on_slurm(const api::ExperimentSet& set, const store::Source& source, const RunArguments& arguments) {
  Watch watch(set, source, tasks_of(set, arguments), arguments);
  watch.listen();
  watch.count_points();
  if (watch.all_finished()) return true;
  SlurmFarm farm(watch, set, arguments);
  farm.submit_missing();
  if (!arguments.wait) {
    note(fmt::format("follow it with: {}", watch.again()));
    return false;
  }
  const std::string on_interrupt =
      fmt::format("interrupted; the jobs go on\n  remedy: follow them with: {}, or end them with: scancel --name={}",
                  watch.again(), farm.name());
  for (;;) {
    follow(watch, arguments, on_interrupt, [&farm] { farm.look(); });
    // What the workers said is not yet what is in their files.
    watch.count_points();
    if (watch.all_finished()) return true;
    farm.submit_missing();
  }
}

void await_parts(const api::ExperimentSet& set, const store::Source& source, u32 parts, const RunArguments& arguments) {
  Watch watch(set, source, parts, arguments);
  watch.listen();
  watch.count_points();
  follow(watch, arguments, "interrupted\n  remedy: continue with: " + watch.again(), [&] {
    for (const Watched& part : watch.parts()) {
      if (part.finished || (part.failure.empty() && seconds_since(part.heard) < arguments.silence)) continue;
      throw ConfigError({arguments.running.out, 0, 0, ""},
                        part.failure.empty()
                            ? fmt::format("the worker of part {} has said nothing for {:.0f} s",
                                          store::to_text(part.part), seconds_since(part.heard))
                            : fmt::format("the worker of part {} failed: {}", store::to_text(part.part), part.failure),
                        fmt::format("continue with: {}", watch.again()));
    }
  });
}

}  // namespace banyan::cli
