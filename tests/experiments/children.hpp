// Experiments in child processes, so that one that crashes or hangs is a finding and not the end. A child reports line
// by line through a pipe; the parent knows which experiment it died in, and goes on with the next.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/coverage.hpp"
#include "experiments/judge.hpp"
#include "support/effort.hpp"

namespace banyan::test::experiments {

/// CPU time, not wall time, after which an experiment hangs. Such a short one takes some 20 ms in all modes. The
/// longest of 200,000 took about a minute: a `vc_router` of 10 ports by 32 virtual channels with the general kernel,
/// whose switches cost 100 us per cycle near saturation, and of which short trials are run for the notes of each mode.
inline constexpr long kMostSeconds = tries(150L, 600L);
inline constexpr const char* kHang = "a hang";
/// Address space of a child. Sanitizers reserve terabytes and get no limit.
inline constexpr rlim_t kMostBytes = rlim_t{3} << 30U;

struct Counts {
  u64 passed = 0;
  u64 refused = 0;
  u64 too_large = 0;
  u64 failed = 0;
  std::map<std::string, u64> refusals;  ///< by place and cause
  Coverage coverage;

  Counts& operator+=(const Counts& other) {
    passed += other.passed;
    refused += other.refused;
    too_large += other.too_large;
    failed += other.failed;
    for (const auto& [refusal, times] : other.refusals) refusals[refusal] += times;
    coverage.add(other.coverage);
    return *this;
  }
  [[nodiscard]] u64 all() const { return passed + refused + too_large + failed; }
};

/// What tests of the judge itself set.
struct ChildOptions {
  long seconds = kMostSeconds;
  Disturb disturb;
};

namespace children {

/// Newlines and backslashes in one line.
inline std::string escaped(const std::string& text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
  return line;
}

inline std::string unescaped(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      text += line[i];
    } else {
      text += line[++i] == 'n' ? '\n' : line[i];
    }
  }
  return text;
}

inline void write_line(int fd, const std::string& line) {
  const std::string whole = line + "\n";
  std::size_t at = 0;
  while (at < whole.size()) {
    const ssize_t n = write(fd, whole.data() + at, whole.size() - at);
    if (n <= 0) _exit(1);
    at += static_cast<std::size_t>(n);
  }
}

/// Starts the clock of one experiment; SIGPROF ends the process when it has run out.
inline void start_clock(long seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

[[noreturn]] inline void child(int fd, u64 begin, u64 end, const std::function<Recipe(u64)>& make,
                               const std::filesystem::path& folder, const std::function<Repairer(u64)>& repairer,
                               const ChildOptions& options) {
  if (!kSanitized) {
    const rlimit memory{kMostBytes, kMostBytes};
    setrlimit(RLIMIT_AS, &memory);
  }
  std::signal(SIGPROF, SIG_DFL);
  const rlimit core{0, 0};
  setrlimit(RLIMIT_CORE, &core);
  Judge judge(folder, options.disturb);
  for (u64 i = begin; i < end; ++i) {
    start_clock(options.seconds);
    write_line(fd, fmt::format("begin {}", i));
    const Judgement judgement = judge.judge(
        make(i), [fd](const Recipe& recipe) { write_line(fd, "recipe " + escaped(pack(recipe))); },
        repairer ? repairer(i) : Repairer());
    for (const Finding& f : judgement.findings) {
      write_line(fd, "kind " + escaped(f.kind));
      write_line(fd, "detail " + escaped(f.detail));
    }
    for (const std::string& refusal : judgement.refusals) write_line(fd, "refused " + escaped(refusal));
    write_line(fd, fmt::format("end {}", static_cast<int>(judgement.fate)));
  }
  _exit(0);
}

}  // namespace children

/// An experiment that failed, as it was when it did.
struct Failure {
  u64 number = 0;
  Recipe recipe;
  std::vector<Finding> findings;
};

/// Judges experiments [begin, end) and calls `found` for each that failed.
inline Counts judge_in_children(u64 begin, u64 end, const std::function<Recipe(u64)>& make,
                                const std::filesystem::path& folder, const std::function<Repairer(u64)>& repairer,
                                const std::function<void(const Failure&)>& found, const ChildOptions& options = {}) {
  constexpr u64 kBatch = 200;  // a child starts afresh now and then, so that its memory is its own
  Counts counts;
  while (begin < end) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("no child process");
    const u64 stop = std::min(end, begin + kBatch);
    if (pid == 0) {
      close(ends[0]);
      children::child(ends[1], begin, stop, make, folder, repairer, options);
    }
    close(ends[1]);
    FILE* const in = fdopen(ends[0], "r");
    bool open = false;   // an experiment that has begun and not ended
    bool fresh = false;  // its recipe as it was generated comes next
    std::vector<Finding> findings;
    Recipe recipe;
    const auto report = [&] {
      recipe.files = make(begin).files;
      found({begin, recipe, findings});
    };
    char* line = nullptr;
    std::size_t size = 0;
    for (ssize_t n = 0; (n = getline(&line, &size, in)) > 0;) {
      const std::string text(line, static_cast<std::size_t>(n) - 1);
      const std::size_t space = text.find(' ');
      const std::string word = text.substr(0, space);
      const std::string rest = text.substr(space + 1);
      if (word == "begin") {
        begin = std::stoull(rest);
        open = fresh = true;
      } else if (word == "kind") {
        findings.push_back({children::unescaped(rest), ""});
      } else if (word == "detail") {
        findings.back().detail = children::unescaped(rest);
      } else if (word == "recipe") {
        recipe = unpack(children::unescaped(rest));
        if (fresh) counts.coverage.tried(recipe);
        fresh = false;
      } else if (word == "refused") {
        ++counts.refusals[children::unescaped(rest)];
      } else if (word == "end") {
        const auto fate = static_cast<Fate>(std::stoi(rest));
        counts.passed += fate == Fate::passed ? 1U : 0U;
        counts.refused += fate == Fate::refused ? 1U : 0U;
        counts.too_large += fate == Fate::too_large ? 1U : 0U;
        counts.failed += fate == Fate::failed ? 1U : 0U;
        if (fate == Fate::passed) counts.coverage.completed(recipe);
        if (fate == Fate::failed) report();
        findings.clear();
        open = false;
        ++begin;
      }
    }
    std::free(line);
    std::fclose(in);
    int status = 0;
    waitpid(pid, &status, 0);
    if (!open) continue;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    findings.clear();
    if (signal == SIGPROF) {
      findings.push_back({kHang, fmt::format("not finished after {} s of CPU time", options.seconds)});
    } else {
      findings.push_back({signal == 0 ? std::string("a child that exits") : fmt::format("crash with signal {}", signal),
                          fmt::format("status {}", status)});
    }
    ++counts.failed;
    report();
    ++begin;
  }
  return counts;
}

}  // namespace banyan::test::experiments
