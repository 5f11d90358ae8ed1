#include "banyan/core/dependencies.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "banyan/core/digraph.hpp"

namespace banyan::core {
namespace {

/// Cuts the virtual channels of a channel into runs that the routing function treats alike. Starts with one run; the
/// walk cuts it where a candidate's range begins or ends, and starts again.
class VcRuns {
 public:
  explicit VcRuns(u32 vcs) : cut_(vcs + 1, false) {
    cut_[0] = cut_[vcs] = true;
    number();
  }
  [[nodiscard]] u32 count() const { return static_cast<u32>(begin_.size()) - 1; }
  [[nodiscard]] u32 begin(u32 run) const { return begin_[run]; }
  [[nodiscard]] u32 end(u32 run) const { return begin_[run + 1]; }
  [[nodiscard]] u32 vcs() const { return static_cast<u32>(cut_.size()) - 1; }
  [[nodiscard]] bool is_cut(u32 vc) const { return cut_[vc]; }
  [[nodiscard]] u32 run_from(u32 vc) const { return run_[vc]; }
  void cut(u32 vc) { cut_[vc] = true; }
  void number() {
    begin_.clear();
    run_.assign(cut_.size(), 0);
    for (u32 vc = 0; vc < cut_.size(); ++vc) {
      run_[vc] = static_cast<u32>(begin_.size());
      if (cut_[vc]) begin_.push_back(vc);
    }
  }

 private:
  std::vector<bool> cut_;
  std::vector<u32> begin_;
  std::vector<u32> run_;
};

/// One possible step of a packet: from a channel class to the next.
struct Step {
  u32 from = 0;
  u32 to = 0;
  bool escape = false;
};

enum class Walked : u8 { done, cut_anew, lost };

class Walk {
 public:
  Walk(const Topology& topology, const Routing& routing, u32 vcs)
      : topology_(topology), graph_(topology.graph()), routing_(routing), runs_(vcs) {
    resize();
  }

  [[nodiscard]] const VcRuns& runs() const { return runs_; }
  [[nodiscard]] u32 classes() const { return static_cast<u32>(graph_.channels().size()) * runs_.count(); }
  [[nodiscard]] u64 calls() const { return calls_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Steps of the last header between switches, and a source of a packet at each class.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] u32 origin(u32 place) const { return origin_[place]; }
  /// True when every packet met so far found an escape candidate, or its destination, wherever it stood.
  [[nodiscard]] bool always_escape() const { return always_escape_; }

  void resize() {
    runs_.number();
    seen_.assign(classes(), 0);
    origin_.assign(classes(), kNone);
    epoch_ = 0;
    always_escape_ = true;
  }

  /// Follows one header from the sources [first, last).
  Walked follow(const Packet& packet, u32 first, u32 last) {
    ++epoch_;
    steps_.clear();
    stack_.clear();
    const auto [begin, end] = routing_.entry_vcs(packet.vc_class, runs_.vcs());
    if (!runs_.is_cut(begin) || !runs_.is_cut(end)) {
      runs_.cut(begin);
      runs_.cut(end);
      return Walked::cut_anew;
    }
    for (u32 s = first; s < last; ++s) {
      const u32 entry = graph_.injection(s);
      if (graph_.channel(entry).failed) continue;
      for (u32 run = runs_.run_from(begin); run < runs_.count() && runs_.begin(run) < end; ++run) {
        push(entry * runs_.count() + run, s);
      }
    }
    while (!stack_.empty()) {
      const u32 place = stack_.back();
      stack_.pop_back();
      const Walked walked = expand(packet, place);
      if (walked != Walked::done) return walked;
    }
    return Walked::done;
  }

 private:
  void push(u32 place, u32 source) {
    if (seen_[place] == epoch_) return;
    seen_[place] = epoch_;
    origin_[place] = source;
    stack_.push_back(place);
  }

  Walked expand(const Packet& packet, u32 place) {
    const Channel& channel = graph_.channel(place / runs_.count());
    const u32 run = place % runs_.count();
    ask(packet, channel, runs_.begin(run), candidates_);
    if (runs_.end(run) - runs_.begin(run) > 1) {
      ask(packet, channel, runs_.end(run) - 1, other_);
      if (!same(candidates_, other_)) return cut_singly(run);
    }
    if (candidates_.size() == 0) return fail(packet, place, "finds no way on");
    bool escape = false;
    for (const Candidate& c : candidates_) {
      const std::optional<Walked> stop = take(packet, place, c);
      if (stop) return *stop;
      escape = escape || c.escape || graph_.channel(graph_.channel_out_of(channel.to.node, c.port)).to.terminal;
    }
    always_escape_ = always_escape_ && escape;
    return Walked::done;
  }

  /// Records one candidate; a value stops the walk.
  std::optional<Walked> take(const Packet& packet, u32 place, const Candidate& c) {
    const Channel& channel = graph_.channel(place / runs_.count());
    if (c.vc_begin >= c.vc_end || c.vc_end > runs_.vcs()) {
      return fail(packet, place, fmt::format("is sent to virtual channels {} to {}", c.vc_begin, c.vc_end));
    }
    const u32 next = c.port < graph_.outputs(channel.to.node) ? graph_.channel_out_of(channel.to.node, c.port) : kNone;
    if (next == kNone || graph_.channel(next).failed) {
      return fail(
          packet, place,
          fmt::format("is sent to port {} ({}), which leads nowhere", c.port, next == kNone ? "no channel" : "failed"));
    }
    const End& to = graph_.channel(next).to;
    if (to.terminal) {
      if (to.node == packet.destination) return std::nullopt;
      return fail(packet, place, fmt::format("is delivered to terminal {}", to.node));
    }
    if (!runs_.is_cut(c.vc_begin) || !runs_.is_cut(c.vc_end)) {
      runs_.cut(c.vc_begin);
      runs_.cut(c.vc_end);
      return Walked::cut_anew;
    }
    for (u32 run = runs_.run_from(c.vc_begin); runs_.begin(run) < c.vc_end; ++run) {
      const u32 target = next * runs_.count() + run;
      if (!channel.from.terminal) steps_.push_back({place, target, c.escape});
      push(target, origin_[place]);
      if (run + 1 == runs_.count()) break;
    }
    return std::nullopt;
  }

  void ask(const Packet& packet, const Channel& channel, u32 vc, Candidates& into) {
    ++calls_;
    into.clear();
    RouteRequest request;
    request.at = channel.to.node;
    request.in_port = channel.to.port;
    request.in_vc = vc;
    request.packet = &packet;
    routing_.all_candidates(request, into);
  }

  static bool same(const Candidates& a, const Candidates& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Candidate& x, const Candidate& y) {
      return x.port == y.port && x.vc_begin == y.vc_begin && x.vc_end == y.vc_end && x.escape == y.escape;
    });
  }

  Walked cut_singly(u32 run) {
    for (u32 vc = runs_.begin(run); vc < runs_.end(run); ++vc) runs_.cut(vc);
    return Walked::cut_anew;
  }

  Walked fail(const Packet& packet, u32 place, const std::string& what) {
    const Channel& channel = graph_.channel(place / runs_.count());
    problem_ = fmt::format("a packet {} -> {} at {}, input {}, vc {} {}", origin_[place], packet.destination,
                           topology_.label(channel.to.node), topology_.port_label(channel.to.node, channel.to.port),
                           runs_.begin(place % runs_.count()), what);
    return Walked::lost;
  }

  const Topology& topology_;
  const Graph& graph_;
  const Routing& routing_;
  VcRuns runs_;
  std::vector<u32> seen_;
  std::vector<u32> origin_;
  std::vector<u32> stack_;
  std::vector<Step> steps_;
  Candidates candidates_;
  Candidates other_;
  u32 epoch_ = 0;
  u64 calls_ = 0;
  bool always_escape_ = true;
  std::string problem_;
};

/// The word that prepare() turns into header `index` of `count`.
u32 word_of(u32 index, u32 count) {
  return static_cast<u32>(((static_cast<u64>(index) << 32U) + (u64{1} << 31U)) / count);
}

class Check {
 public:
  Check(const Topology& topology, const Routing& routing, u32 vcs, u64 most_steps)
      : graph_(topology.graph()), routing_(routing), walk_(topology, routing, vcs), most_(most_steps) {}

  DependencyReport run() {
    const u64 terminals = graph_.terminals();
    const u64 walks = routing_.reads_source() ? terminals * terminals : terminals * graph_.channels().size();
    represented_ = walks > most_ / 16;
    report_.represented = represented_;
    while (!build()) {
      edges_ = EdgeTable();
      walk_.resize();
    }
    report_.steps = walk_.calls();
    report_.dependencies = edges_.size();
    if (report_.verdict == DependencyVerdict::acyclic) judge();
    if (report_.verdict == DependencyVerdict::undecided) look_for_cycle();
    report_.steps = walk_.calls();
    return report_;
  }

 private:
  /// Calls visit(packet, first source, last source) for every header; false stops.
  template <typename Visit>
  bool for_headers(const Visit& visit) {
    const u32 terminals = graph_.terminals();
    // Where some pairs stand for all, the pairs are followed one by one.
    const bool some = represented_ && !routing_.represents(0, terminals - 1);
    report_.represented = some;
    const bool merged = !some && !routing_.reads_source();
    std::vector<u32> sources;
    std::vector<u32> destinations;
    for (u32 t = 0; t < terminals; ++t) {
      if (!some || routing_.represents(0, t)) destinations.push_back(t);
      if (merged ? t == 0 : !some || routing_.represents(t, 0)) sources.push_back(t);
    }
    for (const u32 d : destinations) {
      for (const u32 s : sources) {
        if (some && !routing_.represents(s, d)) continue;
        for (u32 c = 0; c < routing_.classes(); ++c) {
          const auto [begin, end] = routing_.entry_vcs(c, walk_.runs().vcs());
          if (begin == end) continue;
          const u32 count = routing_.headers(s, d);
          for (u32 i = 0; i < count; ++i) {
            Packet packet;
            packet.source = s;
            packet.destination = d;
            packet.vc_class = static_cast<u8>(c);
            routing_.prepare(packet, word_of(i, count));
            if (!visit(packet, merged ? 0 : s, merged ? terminals : s + 1)) return false;
          }
        }
      }
    }
    return true;
  }

  /// For a network that is too large: a cycle among the dependencies that were found, unless escapes may break it.
  void look_for_cycle() {
    if (any_escape_) return;
    const Digraph all(walk_.classes(), edges_);
    const std::vector<u32> knot = all.knots();
    if (std::any_of(knot.begin(), knot.end(), [](u32 k) { return k != kNone; })) tell(all, knot, edges_);
  }

  /// Collects all dependencies. False: the virtual channels were cut anew, start again.
  bool build() {
    report_.walked = 0;
    bool again = false;
    escapes_.assign(walk_.classes(), false);
    used_.assign(walk_.classes(), false);
    const bool complete = for_headers([&](const Packet& packet, u32 first, u32 last) {
      if (walk_.calls() > most_) {
        report_.verdict = DependencyVerdict::undecided;
        return false;
      }
      const Walked walked = walk_.follow(packet, first, last);
      again = walked == Walked::cut_anew;
      if (walked == Walked::lost) {
        report_.verdict = DependencyVerdict::lost;
        report_.problem = walk_.problem();
      }
      if (walked != Walked::done) return false;
      ++report_.walked;
      for (const Step& step : walk_.steps()) {
        edges_.add(step.from, step.to, walk_.origin(step.from), packet.destination);
        used_[step.from] = used_[step.to] = true;
        if (step.escape) escapes_[step.to] = any_escape_ = true;
      }
      return true;
    });
    if (again) return false;
    if (complete) report_.headers = report_.walked;
    report_.classes = static_cast<u64>(std::count(used_.begin(), used_.end(), true));
    return true;
  }

  void judge() {
    const Digraph all(walk_.classes(), edges_);
    const std::vector<u32> knot = all.knots();
    const bool cycles = std::any_of(knot.begin(), knot.end(), [](u32 k) { return k != kNone; });
    if (!cycles) return;
    if (any_escape_ && walk_.always_escape()) {
      bool apart = true;
      for (u32 c = 0; c < walk_.classes(); ++c) apart = apart && !(escapes_[c] && knot[c] != kNone);
      if (apart) {
        report_.verdict = DependencyVerdict::escape;
        return;
      }
      judge_extended();
      return;
    }
    tell(all, knot, edges_);
  }

  /// Duato's extended dependencies: from every class that some packet uses as an escape, whatever this packet uses it
  /// as, over any number of steps outside the escape function, to the escapes that the packet is offered there.
  void judge_extended() {
    EdgeTable extended;
    const bool complete = for_headers([&](const Packet& packet, u32 first, u32 last) {
      if (walk_.calls() + closed_ > most_ * 2) return false;
      walk_.follow(packet, first, last);
      close(packet, extended);
      return true;
    });
    if (!complete) {
      report_.verdict = DependencyVerdict::undecided;
      report_.headers = 0;
      return;
    }
    const Digraph graph(walk_.classes(), extended);
    const std::vector<u32> knot = graph.knots();
    report_.verdict = DependencyVerdict::escape_when_empty;
    if (std::any_of(knot.begin(), knot.end(), [](u32 k) { return k != kNone; })) tell(graph, knot, extended);
  }

  /// Adds the extended dependencies of the header that was followed last.
  void close(const Packet& packet, EdgeTable& extended) {
    std::vector<Step> steps = walk_.steps();
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.from < b.from; });
    const auto steps_of = [&](u32 from) {
      return std::equal_range(steps.begin(), steps.end(), Step{from, 0, false},
                              [](const Step& a, const Step& b) { return a.from < b.from; });
    };
    stamp_.resize(walk_.classes(), 0);
    for (auto at = steps.begin(); at != steps.end(); ++at) {
      const u32 start = at->from;
      if (!escapes_[start] || (at != steps.begin() && std::prev(at)->from == start)) continue;
      ++mark_;
      pending_.assign(1, start);
      stamp_[start] = mark_;
      while (!pending_.empty()) {
        const auto [first, last] = steps_of(pending_.back());
        pending_.pop_back();
        for (auto step = first; step != last; ++step) {
          ++closed_;
          if (step->escape) {
            extended.add(start, step->to, walk_.origin(start), packet.destination);
          } else if (stamp_[step->to] != mark_) {
            stamp_[step->to] = mark_;
            pending_.push_back(step->to);
          }
        }
      }
    }
  }

  void tell(const Digraph& graph, const std::vector<u32>& knot, const EdgeTable& edges) {
    report_.verdict = DependencyVerdict::cyclic;
    const Digraph::Cycle cycle = graph.shortest_cycle(knot);
    report_.shortest = cycle.shortest;
    for (std::size_t i = 0; i < cycle.nodes.size(); ++i) {
      const u32 from = cycle.nodes[i];
      const EdgeTable::Edge& edge = edges.at(from, cycle.nodes[(i + 1) % cycle.nodes.size()]);
      const u32 run = from % walk_.runs().count();
      report_.cycle.push_back(
          {{from / walk_.runs().count(), walk_.runs().begin(run), walk_.runs().end(run)}, edge.first, edge.second});
    }
  }

  const Graph& graph_;
  const Routing& routing_;
  Walk walk_;
  u64 most_;
  bool represented_ = false;  ///< pairs of Routing::represents are followed alone
  EdgeTable edges_;
  std::vector<bool> escapes_;  ///< classes that some packet may use as an escape
  std::vector<bool> used_;
  bool any_escape_ = false;
  std::vector<u32> stamp_;
  std::vector<u32> pending_;
  u32 mark_ = 0;
  u64 closed_ = 0;
  DependencyReport report_;
};

std::string vc_text(const ChannelClass& c) {
  return c.vc_end - c.vc_begin == 1 ? fmt::format("vc {}", c.vc_begin)
                                    : fmt::format("vcs {} to {}", c.vc_begin, c.vc_end - 1);
}

std::string size_text(const DependencyReport& report) {
  return fmt::format("{} dependencies between {} classes of virtual channels{}", report.dependencies, report.classes,
                     report.represented ? "; the other packets are like those that were followed" : "");
}

}  // namespace

DependencyReport check_dependencies(const Topology& topology, const Routing& routing, u32 vcs, u64 most_steps) {
  if (!topology.graph().topological_order().empty()) return {};
  return Check(topology, routing, vcs, most_steps).run();
}

std::string explain(const DependencyReport& report, const Topology& topology) {
  switch (report.verdict) {
    case DependencyVerdict::acyclic:
      if (report.walked == 0) return "deadlock: acyclic, the channels themselves form no cycle";
      if (report.classes == 0) return "deadlock: acyclic (no packet takes two channels between switches)";
      return fmt::format("deadlock: acyclic ({})", size_text(report));
    case DependencyVerdict::escape:
      return fmt::format("deadlock: acyclic on the escape subnetwork ({})", size_text(report));
    case DependencyVerdict::escape_when_empty:
      return fmt::format(
          "deadlock: acyclic on the escape subnetwork if a virtual channel is given to the next packet only when it "
          "is empty ({})",
          size_text(report));
    case DependencyVerdict::lost:
      return "lost: " + report.problem;
    case DependencyVerdict::undecided:
      return fmt::format(
          "deadlock: not decided, the network is too large to follow all packets ({} steps taken, no "
          "cycle so far); check a smaller instance of the same shape",
          report.steps);
    case DependencyVerdict::cyclic:
      break;
  }
  std::string text = fmt::format("cycle of {} channels whose packets may wait on each other{}:", report.cycle.size(),
                                 report.shortest ? "" : " (there may be a shorter one)");
  for (const DependencyStep& step : report.cycle) {
    const Channel& c = topology.graph().channel(step.held.channel);
    text += fmt::format("\n  {} {} -> {}, {}: held by a packet {} -> {} that waits for the next",
                        topology.label(c.from.node), topology.port_label(c.from.node, c.from.port),
                        topology.label(c.to.node), vc_text(step.held), step.source, step.destination);
  }
  return text;
}

}  // namespace banyan::core
