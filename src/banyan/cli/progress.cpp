#include "banyan/cli/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <utility>

#include "banyan/cli/output.hpp"

namespace banyan::cli {
namespace {

constexpr std::chrono::milliseconds kTerminalPause{100};
constexpr std::chrono::seconds kPlainPause{5};
constexpr double kPatience = 2.0;            ///< seconds without progress before it is said what is done
constexpr std::chrono::seconds kNoError{1};  ///< bad input mostly shows before

/// "12,345": whole, with thousands apart.
std::string grouped(double whole) {
  std::string text = fmt::format("{:.0f}", whole);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

/// Three digits that matter, thousands apart: "12,300", "0.42".
std::string rate_text(double rate) {
  if (rate < 1000.0) return fmt::format("{:.3g}", rate);
  const double unit = std::pow(10.0, std::floor(std::log10(rate)) - 2.0);
  return grouped(std::round(rate / unit) * unit);
}

/// "42 % of 8,000 cycles"
std::string share_text(u64 done, u64 total, const std::string& unit, double per_unit) {
  std::string text = fmt::format("{:3.0f} %", 100.0 * static_cast<double>(done) / static_cast<double>(total));
  if (!unit.empty()) text += fmt::format(" of {} {}", grouped(static_cast<double>(total) / per_unit), unit);
  return text;
}

std::string left_text(double seconds) { return fmt::format(", {} left", duration_text(seconds)); }

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<u64>(std::llround(seconds));
  const u64 hours = whole / 3600;
  const u64 minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string progress_text(u64 done, u64 total, double seconds, const std::string& unit, double per_unit,
                          std::optional<double> left) {
  if (total == 0) return "";
  std::string text = share_text(done, total, unit, per_unit);
  if (done == 0 || seconds <= 0.0) return text;
  const double rate = static_cast<double>(done) / seconds;
  if (!unit.empty()) text += fmt::format(", {} {}/s", rate_text(rate / per_unit), unit);
  return text + left_text(left.value_or(static_cast<double>(total - done) / rate));
}

std::string foreseen_text(u64 done, u64 total, const std::string& unit, double per_unit, std::optional<double> left) {
  if (total == 0) return "";
  return share_text(done, total, unit, per_unit) + (left ? left_text(*left) : "");
}

ProgressDisplay::ProgressDisplay(bool quiet, std::string unit, double per_unit, std::string first)
    : quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      unit_(std::move(unit)),
      per_unit_(per_unit),
      first_(std::move(first)) {
  if (!quiet_) waiter_ = std::thread([this] { await_progress(); });
}

void ProgressDisplay::await_progress() {
  const auto pause = terminal_ ? std::chrono::seconds(1) : kPlainPause;
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kNoError, [this] { return !waiting_.load(); })) return;
  say_first();
  while (!changed_.wait_for(lock, pause, [this] { return !waiting_.load(); })) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (seconds < kPatience) continue;
    shown_ = true;
    const std::string text = named("building, " + duration_text(seconds));
    const std::string shown = terminal_ ? "\r\033[K" + text : "banyan: " + text + "\n";
    std::fputs(shown.c_str(), stderr);
    std::fflush(stderr);
  }
}

void ProgressDisplay::say_first() {
  if (!first_.empty()) note(std::exchange(first_, ""));
}

void ProgressDisplay::stop_waiting() {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = false;
  }
  changed_.notify_all();
  if (waiter_.joinable()) waiter_.join();
}

ProgressDisplay::~ProgressDisplay() {
  stop_waiting();
  // Leave no half a line behind: what follows starts on a clean one.
  if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
}

void ProgressDisplay::operator()(u64 done, u64 total) {
  if (quiet_) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  show(named(foreseen_ ? foreseen_text(done, total, unit_, per_unit_, left_)
                       : progress_text(done, total, seconds, unit_, per_unit_)));
}

void ProgressDisplay::show(const std::string& text) {
  if (quiet_) return;
  if (waiting_) stop_waiting();
  say_first();
  const auto now = Clock::now();
  if (now - last_ < (terminal_ ? Clock::duration(kTerminalPause) : Clock::duration(kPlainPause))) return;
  last_ = now;
  shown_ = true;
  const std::string line = terminal_ ? "\r\033[K" + text : "banyan: " + text + "\n";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace banyan::cli
