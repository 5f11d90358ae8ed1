#include "banyan/engine/session.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "banyan/engine/full_audits.hpp"
#include "banyan/engine/progress_watch.hpp"

namespace banyan::engine {
namespace {

Tick first_birth(const Machine& machine) {
  Tick first = kNever;
  for (u32 i = 0; i < machine.traffics().size(); ++i) {
    if (machine.traffics()[i]->finite()) first = std::min(first, machine.first_birth(i));
  }
  return first;
}

u32 first_hot_spot(std::span<core::Traffic* const> traffics) {
  for (const core::Traffic* traffic : traffics) {
    if (traffic->hot_spot() != kNone) return traffic->hot_spot();
  }
  return kNone;
}

class Session {
 public:
  Session(Machine& machine, const core::Topology& topology, u32 replication, const SessionSettings& settings)
      : machine_(machine),
        graph_(topology.graph()),
        settings_(settings),
        watch_(settings.watchdog),
        audits_(settings.full_audit) {
    machine_.reset(replication);
    window_.from = first_birth(machine_);
    machine_.set_window(window_);
    out_.begin = window_.from;
    hot_ = first_hot_spot(machine_.traffics());
    open_.assign(machine_.traffics().size(), false);
    for (std::size_t i = 0; i < open_.size(); ++i) {
      open_[i] = machine_.traffics()[i]->finite();
      expected_.push_back(machine_.traffics()[i]->total_messages());
    }
    if (settings_.tree) {
      out_.tree_height.resize(settings_.series_length);
      out_.tree_boxes.resize(settings_.series_length);
    }
    if (settings_.occupancy) { out_.occupancy.assign(graph_.levels(), std::vector<u64>(settings_.series_length)); }
  }

  SessionOutcome run() {
    Tick now = 0;  // everything up to here is done
    const RunKeeper::State state = [this, &now](Archive& a) { archive(a, now); };
    if (settings_.keep) settings_.keep(state, true);
    for (;;) {
      if (settings_.keep) settings_.keep(state, false);
      const Tick due = machine_.next();
      const Tick look = watch_.next_look();
      if (look < due && look <= settings_.limit && !(due == kNever && empty())) {
        if (empty()) {
          watch_.skip_to(due);
          continue;
        }
        now = look;
        if (!watch_.stuck(machine_, now)) continue;
        deadlock();
        break;
      }
      if (due > settings_.limit) {
        now = settings_.limit;  // that nothing is due any more is no reason to end earlier: run.wake must not matter
        break;
      }
      if (settings_.before_step) settings_.before_step(machine_, due);
      if (settings_.log != nullptr) settings_.log->look(machine_, due);
      if (records() && recorded_ == 0 && due > window_.from) look_at_switches();
      now = machine_.step();
      if (now < window_.from) {
        out_.delivered_within =
            machine_.totals().of_load().delivered;  // until the session is closed: what came before it
      } else if (!closed_) {
        observe(now);
      }
      if (closed_ && complete()) break;
      if (now % FullAudits::kPeriod == 0) audits_.look(machine_);
    }
    if (settings_.before_step) settings_.before_step(machine_, now + 1);
    finish(now);
    return std::move(out_);
  }

 private:
  void archive(Archive& a, Tick& now) {
    a(now, out_, window_, open_, full_, tree_, levels_, recorded_, closed_, watch_, audits_, machine_);
  }

  void observe(Tick now) {
    if (records()) record(now);
    bool any_open = false;
    for (u32 i = 0; i < open_.size(); ++i) {
      if (!open_[i]) continue;
      if (machine_.finite_delivered(i) < expected_[i]) {
        any_open = true;
        continue;
      }
      open_[i] = false;
      machine_.close(i, now);  // the response is broadcast: messages generated from the next tick on see no flag
    }
    if (any_open) return;
    closed_ = true;
    window_.to = now;
    machine_.set_window(window_);
    out_.close = now;
    out_.delivered_within = machine_.totals().of_load().delivered - out_.delivered_within;
  }

  [[nodiscard]] bool empty() const {
    const Totals sum = machine_.totals();
    return sum.taken == sum.delivered;
  }

  [[nodiscard]] bool complete() const {
    const Totals sum = machine_.totals();
    return sum.counted_taken == sum.counted_delivered && machine_.sources_past_window();
  }

  [[nodiscard]] bool records() const { return settings_.tree || settings_.occupancy; }

  /// Ticks in which nothing is due look like the tick before them. The first of the window may be such ticks: whoever
  /// steps beyond the window's begin looks before.
  void record(Tick now) {
    const Tick offset = now - window_.from;
    repeat(offset);
    look_at_switches();
    note(offset);
    recorded_ = offset + 1;
  }

  void look_at_switches() {
    if (settings_.tree && hot_ != kNone) {
      full_.assign(graph_.channels().size(), false);
      for (const u32 c : machine_.full_channels()) full_[c] = true;
      tree_ = saturation_tree(graph_, hot_, full_);
    }
    if (settings_.occupancy) levels_ = machine_.occupancy(graph_.levels());
  }

  /// Records the ticks before `offset` that are not recorded yet, like the last one that is.
  void repeat(Tick offset) {
    for (; recorded_ < std::min<Tick>(offset, settings_.series_length); ++recorded_) note(recorded_);
    if (recorded_ >= offset) return;
    add_tree(offset - recorded_);
    recorded_ = offset;
  }

  void add_tree(u64 ticks) {
    out_.tree_height_sum += ticks * tree_.height;
    out_.tree_boxes_sum += ticks * tree_.boxes;
    out_.tree_other_sum += ticks * (tree_.boxes - tree_.upper_boxes);
  }

  void note(Tick offset) {
    add_tree(1);
    out_.tree_height_most = std::max(out_.tree_height_most, tree_.height);
    if (offset >= settings_.series_length) return;
    if (settings_.tree) {
      out_.tree_height[offset] = tree_.height;
      out_.tree_boxes[offset] = tree_.boxes;
    }
    for (std::size_t l = 0; l < levels_.size(); ++l) out_.occupancy[l][offset] = levels_[l];
  }

  /// What is missing when the limit is reached.
  [[nodiscard]] std::string unfinished(Tick now) const {
    u64 expected = 0;
    u64 delivered = 0;
    for (u32 i = 0; i < expected_.size(); ++i) {
      expected += expected_[i];
      delivered += std::min(expected_[i], machine_.finite_delivered(i));
    }
    if (delivered == expected) {
      return fmt::format(
          "the {} messages of the session arrived, but not all that are counted beside them within {} "
          "ticks (run.session_limit)",
          expected, settings_.limit);
    }
    std::string text =
        fmt::format("{} of {} messages of the session were delivered within {} ticks (run.session_limit)", delivered,
                    expected, settings_.limit);
    const Tick next = machine_.next_birth_after(now);
    if (next != kNever && empty()) text += fmt::format("; nothing is under way, and the next is generated at {}", next);
    return text + "; use a larger run.session_limit if it only takes longer";
  }

  void deadlock() {
    out_.end = SessionOutcome::End::deadlocked;
    out_.explanation = machine_.explain_blockage();
  }

  void finish(Tick now) {
    machine_.audit();
    if (records() && !closed_ && now >= window_.from) {
      if (recorded_ == 0) look_at_switches();
      repeat(now - window_.from + 1);
    }
    if (out_.end == SessionOutcome::End::finished && !(closed_ && complete())) {
      out_.end = SessionOutcome::End::saturated;
      out_.explanation = unfinished(now);
      if (!closed_) out_.close = std::max(out_.begin, now == kNever ? out_.begin : now);
    }
    const Totals sum = machine_.totals().of_load();
    out_.ticks = now == kNever ? 0 : now + 1;
    machine_.finish_records();
    out_.tallies = machine_.tallies();
    out_.delivered = sum.delivered;
    out_.delivered_flits = sum.delivered_flits;
    out_.movements = sum.movements;
    if (settings_.log != nullptr) settings_.log->finish(machine_);
    out_.probed = machine_.probed();
    out_.activity = machine_.activity();
    out_.own = machine_.own_metrics();
    Hasher h;
    h.add(machine_.hash());
    h.add(out_.begin);
    h.add(out_.close);
    h.add(out_.ticks);
    out_.own.hash(h);
    out_.hash = h.value();
    for (u32 c = 0; c < out_.tallies.size(); ++c) out_.generated.push_back(machine_.generated(c));
  }

  Machine& machine_;
  const core::Graph& graph_;
  SessionSettings settings_;
  SessionOutcome out_;
  Window window_;
  u32 hot_ = kNone;
  std::vector<bool> open_;
  std::vector<u64> expected_;  ///< messages of each traffic that is finite
  std::vector<bool> full_;
  Tree tree_;
  std::vector<u64> levels_;
  Tick recorded_ = 0;  ///< ticks of the session that are recorded
  bool closed_ = false;
  ProgressWatch watch_;
  FullAudits audits_;
};

}  // namespace

SessionOutcome run_session(Machine& machine, const core::Topology& topology, u32 replication,
                           const SessionSettings& settings) {
  return Session(machine, topology, replication, settings).run();
}

Tree saturation_tree(const core::Graph& graph, u32 hot, const std::vector<bool>& full) {
  Tree tree;
  const u32 root_channel = graph.ejection(hot);
  if (root_channel == kNone) return tree;
  struct Node {
    u32 box;
    u32 depth;
    bool upper;
  };
  std::vector<Node> queue{{graph.channel(root_channel).from.node, 0, true}};
  std::vector<bool> seen(graph.switches(), false);
  seen[queue.front().box] = true;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Node node = queue[i];
    ++tree.boxes;
    tree.upper_boxes += node.upper ? 1U : 0U;
    tree.height = std::max(tree.height, node.depth);
    for (u32 p = 0; p < graph.inputs(node.box); ++p) {
      const u32 c = graph.channel_into(node.box, p);
      if (c == kNone || !full[c] || graph.channel(c).from.terminal) continue;
      const u32 feeder = graph.channel(c).from.node;
      if (seen[feeder]) continue;
      seen[feeder] = true;
      queue.push_back({feeder, node.depth + 1, node.depth == 0 ? p == 0 : node.upper});
    }
  }
  if (tree.boxes == 1 && !full[root_channel]) return {};
  return tree;
}

}  // namespace banyan::engine
