#include "banyan/api/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "banyan/api/profiler.hpp"

namespace banyan::api {
namespace {

double percent(double part, double whole) { return whole > 0.0 ? 100.0 * part / whole : 0.0; }

std::string size_text(double bytes) {
  for (const char* unit : {"B", "kB", "MB"}) {
    if (bytes < 1000.0) return fmt::format("{:.3g} {}", bytes, unit);
    bytes /= 1000.0;
  }
  return fmt::format("{:.3g} GB", bytes);
}

std::string thread_text(std::size_t number, const Profile::Thread& thread, double run_seconds) {
  std::string text = fmt::format("  {:>6}", number);
  for (const double seconds : {thread.work, thread.mail, thread.wait, thread.other}) {
    text += fmt::format("  {:>8.3f} {:>3.0f} %", seconds, percent(seconds, run_seconds));
  }
  return text + "\n";
}

std::string row(const char* name, const std::string& text) { return fmt::format("  {:<15} {}\n", name, text); }

}  // namespace

double Profile::imbalance() const {
  double sum = 0.0;
  double most = 0.0;
  for (const Thread& thread : threads) {
    sum += thread.work;
    most = std::max(most, thread.work);
  }
  return sum > 0.0 ? most * static_cast<double>(threads.size()) / sum : 1.0;
}

double Profile::nanoseconds_per_move() const {
  double sum = 0.0;
  for (const Thread& thread : threads) sum += thread.work + thread.mail;
  return moves == 0 ? 0.0 : sum * 1e9 / static_cast<double>(moves);
}

std::string to_table(const Profile& profile) {
  std::string text = fmt::format("profile: {:.3f} s, {:.3f} s of them to build, {:.3f} s to run\n", profile.seconds,
                                 profile.build_seconds, profile.run_seconds);
  if (!profile.fewer_threads.empty()) {
    const std::size_t reason = profile.fewer_threads.find(": ") + 1;
    text += fmt::format("  {}\n   {}\n", profile.fewer_threads.substr(0, reason), profile.fewer_threads.substr(reason));
  }
  text += fmt::format("  {:>6}  {:>14}  {:>14}  {:>14}  {:>14}\n", "thread", "work [s]", "mail [s]", "wait [s]",
                      "other [s]");
  for (std::size_t i = 0; i < profile.threads.size(); ++i) {
    text += thread_text(i, profile.threads[i], profile.run_seconds);
  }
  text += row("imbalance", fmt::format("{:.2f}, the most work of a thread over the mean", profile.imbalance()));
  if (profile.windows > 0 && profile.imbalance_in_windows > 0.0) {
    text +=
        row("in windows", fmt::format("{:.2f}, the most work of a {} in each window over the mean",
                                      profile.imbalance_in_windows, profile.threads.size() > 1 ? "thread" : "shard"));
  }
  text += row("cut", profile.shards == 1 ? "none, the network is one shard"
                                         : fmt::format("{} shards by {}", profile.shards, profile.cut_by));
  if (profile.shards > 1) {
    const double crossing =
        percent(static_cast<double>(profile.crossing_channels), static_cast<double>(profile.channels));
    text += row("crossing",
                fmt::format("{} of {} channels ({:.1f} %)", profile.crossing_channels, profile.channels, crossing));
    text += row("heaviest shard", fmt::format("{:.2f}, its ports over the mean", profile.heaviest));
    text += row("window", fmt::format("{} ticks at most; {} windows", profile.window, profile.windows));
    if (profile.windows > 0) {
      text += row("mail", fmt::format("{:.4g} flits and control words per window",
                                      static_cast<double>(profile.mails) / static_cast<double>(profile.windows)));
    }
  }
  text += row("work per hop", fmt::format("{:.4g} ns, mail included", profile.nanoseconds_per_move()));
  text += row("memory", fmt::format("{}, {} per switch", size_text(static_cast<double>(profile.peak_bytes)),
                                    size_text(static_cast<double>(profile.peak_bytes) /
                                              std::max(1.0, static_cast<double>(profile.switches)))));
  return text;
}

void add_cut(Profile& profile, const engine::Machine& machine) {
  const engine::Scaling scaling = machine.scaling();
  profile.shards = scaling.cut.shards;
  profile.cut_by = profile.shards == 1 ? "nothing" : scaling.cut.by;
  profile.channels = scaling.cut.channels;
  profile.crossing_channels = scaling.cut.crossing;
  profile.heaviest = scaling.cut.heaviest;
  profile.window = scaling.window;
  profile.windows += scaling.windows;
  profile.mails += scaling.mails;
}

void add_run(Profile& profile, const engine::Machine& machine, double seconds) {
  const engine::Scaling scaling = machine.scaling();
  profile.run_seconds += seconds;
  profile.imbalance_in_windows = std::max(profile.imbalance_in_windows, scaling.longest);
  profile.threads.resize(std::max(profile.threads.size(), scaling.workers.size()));
  for (std::size_t i = 0; i < profile.threads.size(); ++i) {
    Profile::Thread& thread = profile.threads[i];
    const engine::Scaling::Worker worker = i < scaling.workers.size() ? scaling.workers[i] : engine::Scaling::Worker{};
    // One shard is not watched: its steps are all there is.
    const double work = scaling.cut.shards == 1 ? (i == 0 ? seconds : 0.0) : worker.work;
    thread.work += work;
    thread.mail += worker.mail;
    thread.wait += worker.wait;
    thread.other += std::max(0.0, seconds - work - worker.mail - worker.wait);
  }
}

}  // namespace banyan::api
