#include "banyan/engine/tree_recorder.hpp"

#include <algorithm>
#include <iterator>

#include "banyan/engine/machine.hpp"

namespace banyan::engine {

TreeRecorder::TreeRecorder(const core::Topology& topology, const core::Routing& routing, const TreePlan& plan)
    : graph_(topology.graph()),
      plan_(plan),
      spacing_(std::clamp<Tick>(plan.spacing, 1, std::max<Tick>(1, plan.interval / (kLooks + 1)))),
      next_(plan.interval == 0 ? kNever : plan.interval),
      finder_(topology, &routing, plan.threshold) {
  plan_looks();
  record_.interval = plan.interval;
  record_.threshold = plan.threshold;
}

/// Plans as many looks as fit between two samples.
void TreeRecorder::plan_looks() {
  next_look_ = next_;
  if (plan_.interval == 0) return;
  const Tick looks = std::min(kLooks, (plan_.interval - 1) / spacing_);
  next_look_ = next_ - looks * spacing_;
}

void TreeRecorder::observe(const Machine& machine) {
  if (next_look_ == next_) {
    sample(machine, next_);
    plan_looks();
    return;
  }
  glance_.clear();
  glance_.look_at(next_look_);
  machine.blocked_on(glance_);
  finder_.look(glance_);
  next_look_ += spacing_;
}

void TreeRecorder::sample(const Machine& machine, Tick at) {
  view_.clear();
  view_.look_at(at);
  machine.blocked_on(view_);
  stats::CongestionSample sample;
  sample.at = at;
  sample.trees = finder_.find(view_);
  const Places& places = finder_.places();
  for (u32 p = static_cast<u32>(record_.places.size()); p < places.size(); ++p) {
    const Resource r = Resource::of(places.id(p));
    record_.places.push_back({static_cast<u8>(r.kind), r.index, r.lane, places.capacity(p)});
  }
  add_fill(sample);
  add_use(sample);
  add_progress(machine, sample);
  for (const SetAside& s : view_.all_set_aside()) {
    if (places.has(s.resource)) sample.queues.push_back({places.of(s.resource), s.root, s.used});
  }
  std::sort(sample.queues.begin(), sample.queues.end(),
            [](const auto& a, const auto& b) { return std::pair(a.place, a.root) < std::pair(b.place, b.root); });
  tracker_.follow(at, sample.trees, record_.places);
  if (plan_.flows) add_waits();
  judge_marks(machine, sample.trees);
  record_.samples.push_back(std::move(sample));
  next_ += record_.interval;
  if (record_.samples.size() >= kMostSamples) {
    thin();
  } else if (2 * record_.interval <= plan_.longest) {
    economize(machine);
  }
}

void TreeRecorder::economize(const Machine& machine) {
  read_ += view_.contents().size() + view_.all_blocked().size();
  const u64 arrived = machine.totals().delivered;
  if (read_ * kArrivalsPerRead <= arrived - arrived_) return;
  thin();
  read_ = 0;
  arrived_ = arrived;
}

void TreeRecorder::add_fill(stats::CongestionSample& sample) const {
  const Places& places = finder_.places();
  sample.fill.assign(places.size(), 0);
  for (u32 p = 0; p < places.size(); ++p) {
    const u64 used = finder_.used(p);
    const u64 capacity = std::max(1U, places.capacity(p));
    if (used != 0) sample.fill[p] = static_cast<u8>(used >= capacity ? 255 : 1 + used * 253 / capacity);
  }
}

/// A channel is in use when somebody is ready for it.
void TreeRecorder::add_use(stats::CongestionSample& sample) const {
  sample.use.assign(graph_.channels().size(), 0);
  for (const Blocked& b : view_.all_blocked()) {
    if (b.why == Why::bandwidth) sample.use[Resource::of(b.on).index] = 255;
  }
}

void TreeRecorder::add_progress(const Machine& machine, stats::CongestionSample& sample) {
  const Totals totals = machine.totals().of_load();
  u64 latency = 0;
  u64 packets = 0;
  for (const LatencySums& tally : machine.tallies()) {
    latency += tally.latency;
    packets += tally.packets;
  }
  sample.delivered_flits = totals.delivered_flits - flits_;
  sample.delivered_packets = packets - packets_;
  sample.latency = latency - latency_;
  flits_ = totals.delivered_flits;
  packets_ = packets;
  latency_ = latency;
}

void TreeRecorder::add_waits() {
  const Places& places = finder_.places();
  for (const Blocked& b : view_.all_blocked()) {
    if (b.packet == kNever || Resource::of(b.resource).kind == ResourceKind::source) continue;
    const u32 at = places.of(b.resource);
    if (finder_.front(at) != &b) continue;  // of several ways that would do, the first
    const Blocked* ahead = b.why == Why::bandwidth ? nullptr : finder_.front(places.of(b.on));
    if (ahead != nullptr && ahead->packet == kNever) ahead = nullptr;  // a memory, of which no packet waits
    ++waits_[{b.source, b.destination, static_cast<u8>(b.why), ahead == nullptr ? kNone : ahead->source,
              ahead == nullptr ? kNone : ahead->destination, finder_.root_of(at)}];
  }
}

/// Marks since the last sample are judged by the roots at either end of that time: a tree may be born in it, or die.
void TreeRecorder::judge_marks(const Machine& machine, const std::vector<stats::CongestionTree>& trees) {
  std::vector<u32> now;
  for (const stats::CongestionTree& tree : trees) now.push_back(tree.root);
  std::vector<u32> either;
  std::set_union(roots_.begin(), roots_.end(), now.begin(), now.end(), std::back_inserter(either));
  roots_ = std::move(now);
  for (const MarkLog::Entry& entry : machine.take_marks()) {
    marks_.all += entry.marks;
    if (!finder_.goes_through(entry, either)) marks_.false_ones += entry.marks;
  }
}

/// A sample that stays takes over what was delivered before the one that goes.
void TreeRecorder::thin() {
  record_.interval *= 2;
  next_ = (record_.samples.back().at / record_.interval + 1) * record_.interval;
  std::vector<stats::CongestionSample> kept;
  stats::CongestionSample gone;
  for (stats::CongestionSample& sample : record_.samples) {
    sample.delivered_flits += gone.delivered_flits;
    sample.delivered_packets += gone.delivered_packets;
    sample.latency += gone.latency;
    gone = {};
    if (sample.at % record_.interval == 0) {
      kept.push_back(std::move(sample));
    } else {
      gone.delivered_flits = sample.delivered_flits;
      gone.delivered_packets = sample.delivered_packets;
      gone.latency = sample.latency;
    }
  }
  flits_ -= gone.delivered_flits;
  packets_ -= gone.delivered_packets;
  latency_ -= gone.latency;
  record_.samples = std::move(kept);
}

stats::CongestionRecord TreeRecorder::take() {
  record_.events = tracker_.take_events();
  std::stable_sort(record_.events.begin(), record_.events.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  for (const auto& [key, samples] : waits_) {
    const auto& [source, destination, why, behind_source, behind_destination, root] = key;
    record_.waits.push_back({source, destination, why, behind_source, behind_destination, root, samples});
  }
  return std::move(record_);
}

}  // namespace banyan::engine
