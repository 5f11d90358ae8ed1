#include "banyan/api/steady_windows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "banyan/stats/warmup.hpp"

namespace banyan::api {
namespace {

/// Groups that are kept of a run: enough for batches after any cut, few enough for stores of many runs.
constexpr std::size_t kMostGroups = 512;

}  // namespace

SteadyWindows::SteadyWindows(const engine::SteadyRecord& record, const config::Values& run, u32 terminals)
    : record_(record), terminals_(terminals), window_(Tick{1} << record.plan.shift) {
  rule_.confidence = run.real("confidence");
  const u64 given = (static_cast<u64>(run.integer("warmup")) + window_ - 1) / window_;
  const stats::Warmup found = stats::mser(latencies());
  cut_ = std::max<u64>(given, found.valid ? found.windows : 0);
  warmup_text_ = fmt::format("warm-up: {} cycles cut (run.warmup = {}; {})", cut_ * window_, run.integer("warmup"),
                             found.statement(static_cast<double>(window_)));
  whole_ = record.plan.end / window_;
  cut_ = std::min(cut_, whole_ == 0 ? 0 : whole_ - 1);
}

stats::BatchMeans SteadyWindows::load(const std::vector<u64>& flits) const {
  const double scale = 1.0 / (static_cast<double>(window_) * static_cast<double>(terminals_));
  std::vector<double> rates;
  for (const u64 f : measured(flits)) rates.push_back(static_cast<double>(f) * scale);
  return stats::batch_means(rates, rule_);
}

stats::BatchMeans SteadyWindows::settled_latency() const {
  const std::vector<stats::SumCount> all = latencies();
  const Tick longest = record_.latency.count() == 0 ? 0 : record_.latency.moments().maximum();
  const u64 settled = longest >= record_.plan.end ? 0 : (record_.plan.end - longest) / window_;
  if (settled <= cut_) return {};
  return stats::ratio_batch_means(std::span<const stats::SumCount>(all).subspan(cut_, settled - cut_), rule_);
}

stats::Saturation SteadyWindows::saturation() const {
  std::vector<stats::SumCount> backlog;
  u64 waiting = 0;
  for (std::size_t i = 0; i < record_.offered.size(); ++i) {
    waiting += record_.offered[i];
    waiting -= record_.taken[i];
    backlog.push_back({waiting, 1});
  }
  stats::SaturationRule rule;
  rule.confidence = rule_.confidence;
  return stats::saturation(measured(backlog), measured(record_.offered), measured(record_.accepted),
                           static_cast<double>(window_), rule);
}

void SteadyWindows::keep(Result& result, const std::string& metric, std::vector<stats::SumCount> windows) const {
  windows.resize(whole_);
  u64 joined = 1;
  for (; windows.size() > kMostGroups; joined *= 2) {
    for (std::size_t i = 0; i + 1 < windows.size(); i += 2) {
      windows[i / 2] = windows[i];
      windows[i / 2].merge(windows[i + 1]);
    }
    windows.resize(windows.size() / 2);
  }
  result.groups.push_back({metric, std::move(windows)});
  result.group_cycles = static_cast<double>(joined * window_);
  result.group_cut = (cut_ + joined - 1) / joined;
}

void SteadyWindows::keep_load(Result& result, const std::string& metric, const std::vector<u64>& flits) const {
  std::vector<stats::SumCount> windows;
  for (const u64 f : flits) windows.push_back({f, window_ * terminals_});
  keep(result, metric, std::move(windows));
}

}  // namespace banyan::api
