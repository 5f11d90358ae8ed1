#include "banyan/engine/congestion.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace banyan::engine {
namespace {

constexpr u32 kMostWalks = 64;           ///< packets of a buffer whose way is followed back
constexpr std::size_t kMostFlows = 8;    ///< of a tree that are named
constexpr std::size_t kMostHeads = 256;  ///< of the ways of a packet that are followed

/// The pairs with the most packets, and how many pairs there are.
u32 count_flows(std::vector<u64>& packets, std::vector<stats::CongestionFlow>& most) {
  std::sort(packets.begin(), packets.end());
  u32 flows = 0;
  for (std::size_t i = 0; i < packets.size();) {
    std::size_t j = i;
    while (j < packets.size() && packets[j] == packets[i]) ++j;
    most.push_back({static_cast<u32>(packets[i] >> 32U), static_cast<u32>(packets[i]), static_cast<u32>(j - i)});
    ++flows;
    i = j;
  }
  const std::size_t keep = std::min(most.size(), kMostFlows);
  std::partial_sort(
      most.begin(), most.begin() + static_cast<std::ptrdiff_t>(keep), most.end(), [](const auto& a, const auto& b) {
        return std::tuple(b.packets, a.source, a.destination) < std::tuple(a.packets, b.source, b.destination);
      });
  most.resize(keep);
  return flows;
}

}  // namespace

Places::Places(const core::Graph& graph) {
  const std::size_t channels = graph.channels().size();
  first_[static_cast<std::size_t>(ResourceKind::input)].assign(channels, kNone);
  first_[static_cast<std::size_t>(ResourceKind::output)].assign(channels, kNone);
  first_[static_cast<std::size_t>(ResourceKind::port)].assign(channels, kNone);
  first_[static_cast<std::size_t>(ResourceKind::memory)].assign(graph.switches(), kNone);
  first_[static_cast<std::size_t>(ResourceKind::source)].assign(graph.terminals(), kNone);
}

bool Places::has(u64 id) const noexcept {
  const Resource r = Resource::of(id);
  u32 place = first_[static_cast<std::size_t>(r.kind)][r.index];
  while (place != kNone && ids_[place] != id) place = next_[place];
  return place != kNone;
}

void Places::learn(const BlockedView& view) {
  std::vector<std::pair<u64, u32>> fresh;
  for (const Fill& f : view.fills()) {
    if (!has(f.resource)) fresh.emplace_back(f.resource, f.capacity);
  }
  for (const Blocked& b : view.all_blocked()) {
    if (!has(b.resource)) fresh.emplace_back(b.resource, 0);
    if (!has(b.on)) fresh.emplace_back(b.on, 0);
  }
  // The capacity that is known comes first.
  std::sort(fresh.begin(), fresh.end(),
            [](const auto& a, const auto& b) { return std::pair(a.first, b.second) < std::pair(b.first, a.second); });
  for (const auto& [id, capacity] : fresh) {
    if (!ids_.empty() && ids_.back() == id) continue;
    const Resource r = Resource::of(id);
    u32& first = first_[static_cast<std::size_t>(r.kind)][r.index];
    next_.push_back(first);
    first = size();
    ids_.push_back(id);
    capacity_.push_back(capacity);
  }
  for (const Fill& f : view.fills()) capacity_[of(f.resource)] = f.capacity;
}

TreeFinder::TreeFinder(const core::Topology& topology, const core::Routing* routing, double threshold)
    : graph_(topology.graph()), routing_(routing), threshold_(threshold), places_(graph_) {}

u32 TreeFinder::channel_of(u32 place) const {
  const Resource r = Resource::of(places_.id(place));
  switch (r.kind) {
    case ResourceKind::source:
      return graph_.injection(r.index);
    case ResourceKind::memory:
      return kNone;
    default:
      return r.index;
  }
}

/// Terminals are numbered behind the switches.
u32 TreeFinder::switch_of(u32 place) const {
  const Resource r = Resource::of(places_.id(place));
  const auto node = [&](const core::End& end) { return end.terminal ? graph_.switches() + end.node : end.node; };
  switch (r.kind) {
    case ResourceKind::input:
      return node(graph_.channel(r.index).to);
    case ResourceKind::output:
    case ResourceKind::port:
      return node(graph_.channel(r.index).from);
    case ResourceKind::memory:
      return r.index;
    case ResourceKind::source:
      return graph_.switches() + r.index;
  }
  return kNone;
}

void TreeFinder::look(const BlockedView& view) {
  places_.learn(view);
  const u32 size = places_.size();
  for (std::vector<u8>* flags : {&waited_for_, &blocked_}) flags->resize(size);
  for (const Blocked& b : view.all_blocked()) {
    if (b.resource == b.on) continue;
    const u32 waiter = places_.of(b.resource);
    const u32 on = places_.of(b.on);
    looks_.push_back({waiter, on, b.why});
    if (b.why == Why::space) waited_for_[on] = 1;
    if (b.why != Why::bandwidth) blocked_[waiter] = 1;
  }
}

/// Who waits for a place, of all looks, side by side; the same one may be there several times.
void TreeFinder::sort_edges() {
  const u32 size = places_.size();
  waits_.assign(size, 0);
  edge_begin_.assign(size + 1, 0);
  std::erase_if(looks_, [&](const Seen& seen) { return seen.why == Why::bandwidth && blocked_[seen.waiter] != 0; });
  for (const Seen& seen : looks_) {
    ++edge_begin_[seen.on + 1];
    waits_[seen.waiter] = 1;
  }
  for (u32 i = 0; i < size; ++i) edge_begin_[i + 1] += edge_begin_[i];
  edges_.resize(edge_begin_[size]);
  std::vector<u32> next(edge_begin_.begin(), edge_begin_.end() - 1);
  for (const Seen& seen : looks_) edges_[next[seen.on]++] = {seen.waiter, seen.why};
}

bool TreeFinder::is_congested(u32 place) const noexcept {
  const u32 capacity = places_.capacity(place);
  return waited_for_[place] != 0 ||
         (capacity != 0 && static_cast<double>(used_[place]) >= threshold_ * static_cast<double>(capacity));
}

/// What is waited for and waits for nothing itself. A port must be asked for more than it carries: two packets that
/// meet are no congestion, and neither is a buffer that one channel fills as fast as another empties it.
bool TreeFinder::is_root(u32 place) {
  if (waits_[place] != 0 || edge_begin_[place] == edge_begin_[place + 1]) return false;
  const Resource r = Resource::of(places_.id(place));
  if (r.kind != ResourceKind::port && r.kind != ResourceKind::output) return false;
  if (used_[place] != 0) return true;  // held, by a circuit that moves
  return is_overloaded(place);
}

/// The port's own buffer is congested, and what is in it or waits for room there came over channels that bring more
/// than the port carries; or the channels whose packets want it do, and a buffer at the end of one is congested.
bool TreeFinder::is_overloaded(u32 port) {
  asking_.clear();
  bool congested = false;
  bool own = false;
  const auto ask = [&](u32 waiter) {
    const Resource r = Resource::of(places_.id(waiter));
    if (r.kind == ResourceKind::source || r.kind == ResourceKind::port) return false;
    congested = congested || is_congested(waiter);
    if (r.kind != ResourceKind::input) {
      own = own || is_congested(waiter);
      return ask_for_feeders(waiter) && is_congested(waiter);
    }
    ask_for(r.index);
    return false;
  };
  for (u32 i = edge_begin_[port]; i < edge_begin_[port + 1]; ++i) {
    const u32 waiter = edges_[i].waiter;
    if (ask(waiter)) return true;
    // Who waits for the end of that packet asks for the same port.
    for (u32 k = edge_begin_[waiter]; k < edge_begin_[waiter + 1]; ++k) {
      if (edges_[k].why == Why::held && switch_of(edges_[k].waiter) == switch_of(waiter)) ask(edges_[k].waiter);
    }
  }
  return (congested || own) && brings_too_much(port);
}

void TreeFinder::ask_for(u32 channel) {
  if (std::find(asking_.begin(), asking_.end(), channel) == asking_.end()) asking_.push_back(channel);
}

/// The channels in `asking_` bring more than the port carries.
bool TreeFinder::brings_too_much(u32 port) const {
  double demand = 0.0;
  for (const u32 c : asking_) demand += 1.0 / graph_.channel(c).link.cycles_per_flit;
  return demand > 1.0 / graph_.channel(Resource::of(places_.id(port)).index).link.cycles_per_flit;
}

/// Asks for the channels that fill a buffer before a port: it stays full when what filled it has ended and one channel
/// goes on bringing as much as the port carries. True where they are not known: a view does not show all contents, or
/// a routing leaves a choice.
bool TreeFinder::ask_for_feeders(u32 buffer) {
  if (view_ == nullptr || !view_->wants_contents() || routing_ == nullptr) return true;
  if (!indexed_) index_contents();
  const u32 here = switch_of(buffer);
  const u32 packets = content_begin_[buffer + 1] - content_begin_[buffer];
  if (here >= graph_.switches() || packets == 0 || packets < used_[buffer]) return true;
  for (u32 i = edge_begin_[buffer]; i < edge_begin_[buffer + 1]; ++i) {
    const u32 channel = channel_of(edges_[i].waiter);
    if (channel == kNone) return true;
    const core::End& to = graph_.channel(channel).to;
    if (!to.terminal && to.node == here) ask_for(channel);
  }
  u64 last = kNever;
  u32 walks = 0;
  for (u32 i = content_begin_[buffer]; i < content_begin_[buffer + 1] && walks < kMostWalks; ++i) {
    const core::Packet& packet = *contents_[i];
    const u64 flow = static_cast<u64>(packet.source) << 32U | packet.destination;
    if (std::exchange(last, flow) == flow) continue;
    ++walks;
    const u32 channel = way_in(packet, here);
    if (channel == kNone) return true;
    ask_for(channel);
  }
  return false;
}

/// Packets of the view by place.
void TreeFinder::index_contents() {
  indexed_ = true;
  content_begin_.assign(places_.size() + 1, 0);
  for (const Content& c : view_->contents()) ++content_begin_[places_.of(c.resource) + 1];
  for (u32 i = 0; i < places_.size(); ++i) content_begin_[i + 1] += content_begin_[i];
  contents_.resize(view_->contents().size());
  std::vector<u32> next(content_begin_.begin(), content_begin_.end() - 1);
  for (const Content& c : view_->contents()) contents_[next[places_.of(c.resource)]++] = c.packet;
}

u32 TreeFinder::way_in(const core::Packet& packet, u32 switch_) {
  u32 channel = graph_.injection(packet.source);
  for (u32 hops = 0; hops <= graph_.switches(); ++hops) {
    const core::End& at = graph_.channel(channel).to;
    if (at.terminal) return kNone;
    if (at.node == switch_) return channel;
    candidates_.clear();
    routing_->all_candidates({at.node, at.port, 0, &packet, 0, nullptr}, candidates_);
    if (candidates_.size() != 1 || candidates_[0].port >= graph_.outputs(at.node)) return kNone;
    channel = graph_.channel_out_of(at.node, candidates_[0].port);
    if (channel == kNone) return kNone;
  }
  return kNone;
}

void TreeFinder::collect(const std::vector<u32>& roots, stats::CongestionTree& tree) {
  std::vector<u32> reached;
  std::deque<u32> queue(roots.begin(), roots.end());
  for (const u32 root : roots) depth_[root] = 0;
  // Steps within a switch cost nothing, so that depth counts switches.
  while (!queue.empty()) {
    const u32 place = queue.front();
    queue.pop_front();
    const u32 here = switch_of(place);
    for (u32 i = edge_begin_[place]; i < edge_begin_[place + 1]; ++i) {
      const u32 waiter = edges_[i].waiter;
      const bool same = switch_of(waiter) == here;
      const u32 depth = depth_[place] + (same ? 0 : 1);
      if (depth_[waiter] != kNone && depth_[waiter] <= depth) continue;
      if (depth_[waiter] == kNone) reached.push_back(waiter);
      depth_[waiter] = depth;
      same ? queue.push_front(waiter) : queue.push_back(waiter);
    }
  }
  std::sort(reached.begin(), reached.end(),
            [&](u32 a, u32 b) { return std::pair(depth_[a], a) < std::pair(depth_[b], b); });
  tree.per_stage.assign(graph_.levels(), 0);
  std::vector<u32> switches{switch_of(roots.front())};
  for (const u32 place : reached) {
    const u32 at = switch_of(place);
    if (Resource::of(places_.id(place)).kind == ResourceKind::source) {
      ++tree.sources;
    } else {
      tree.depth = std::max(tree.depth, depth_[place]);
      if (at < graph_.switches()) ++tree.per_stage[graph_.level(at)];
      switches.push_back(at);
    }
    bool leaf = true;
    for (u32 i = edge_begin_[place]; leaf && i < edge_begin_[place + 1]; ++i) leaf = depth_[edges_[i].waiter] == kNone;
    tree.leaves += leaf ? 1U : 0U;
    tree.members.push_back({place, depth_[place], 0});
  }
  std::sort(switches.begin(), switches.end());
  tree.switches = static_cast<u32>(std::unique(switches.begin(), switches.end()) - switches.begin());
  for (const u32 place : reached) depth_[place] = kNone;
  for (const u32 root : roots) depth_[root] = kNone;
}

std::vector<stats::CongestionTree> TreeFinder::find(const BlockedView& view) {
  look(view);
  view_ = &view;
  indexed_ = false;
  const u32 size = places_.size();
  used_.assign(size, 0);
  for (const Fill& f : view.fills()) used_[places_.of(f.resource)] = f.used;
  front_.assign(size, nullptr);
  for (const Blocked& b : view.all_blocked()) {
    const Blocked*& front = front_[places_.of(b.resource)];
    if (front == nullptr) front = &b;
  }
  root_of_.assign(size, kNone);
  depth_.resize(size, kNone);
  trees_of_.resize(size);
  for (const u32 place : touched_) trees_of_[place].clear();
  touched_.clear();
  sort_edges();
  std::vector<stats::CongestionTree> trees;
  // A port may be several resources: its channel, the way to it through the crossbar.
  std::map<u32, std::vector<u32>> roots;
  for (u32 place = 0; place < places_.size(); ++place) {
    if (is_root(place)) roots[channel_of(place)].push_back(place);
  }
  for (const auto& [channel, its] : roots) {
    stats::CongestionTree tree;
    tree.root = channel;
    collect(its, tree);
    trees.push_back(std::move(tree));
  }
  for (u32 t = 0; t < trees.size(); ++t) {
    for (u32 m = 0; m < trees[t].members.size(); ++m) {
      const u32 place = trees[t].members[m].place;
      if (trees_of_[place].empty()) touched_.push_back(place);
      trees_of_[place].emplace_back(t, m);
      if (root_of_[place] == kNone) root_of_[place] = trees[t].root;
    }
  }
  if (view.wants_contents()) count_contents(view, trees);
  view_ = nullptr;
  looks_.clear();
  waited_for_.assign(size, 0);
  blocked_.assign(size, 0);
  return trees;
}

void TreeFinder::count_contents(const BlockedView& view, std::vector<stats::CongestionTree>& trees) {
  counted_.assign(trees.size(), {});
  for (const Content& content : view.contents()) {
    const u32 place = places_.of(content.resource);
    for (const auto& [t, m] : trees_of_[place]) {
      stats::CongestionTree& tree = trees[t];
      Counted& counted = counted_[t];
      const u64 flow = static_cast<u64>(content.packet->source) << 32U | content.packet->destination;
      u32 next = kNone;
      if (passes(place, *content.packet, tree.root, next)) {
        ++tree.packets;
        counted.flows.push_back(flow);
      } else {
        ++tree.victims;
        ++tree.members[m].victims;
        counted.victims.push_back(flow);
        if (next != kNone) counted.wanted.push_back(next);
      }
    }
  }
  // A port is idle when nobody is ready for it and nobody waits for room behind it.
  std::vector<u8> busy(graph_.channels().size(), 0);
  for (const Blocked& b : view.all_blocked()) {
    if (b.why == Why::bandwidth || b.why == Why::space) busy[Resource::of(b.on).index] = 1;
    if (b.via != kNone) busy[b.via] = 1;
  }
  for (std::size_t t = 0; t < trees.size(); ++t) {
    trees[t].flows = count_flows(counted_[t].flows, trees[t].most_flows);
    trees[t].victim_flows = count_flows(counted_[t].victims, trees[t].most_victims);
    std::vector<u32>& wanted = counted_[t].wanted;
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    trees[t].idle_ports =
        static_cast<u32>(std::count_if(wanted.begin(), wanted.end(), [&](u32 c) { return busy[c] == 0; }));
  }
}

bool TreeFinder::passes(u32 place, const core::Packet& packet, u32 channel, u32& next) {
  if (routing_ == nullptr) return true;
  const Resource r = Resource::of(places_.id(place));
  stack_.clear();
  seen_.clear();
  const auto enter = [&](u32 c, u32 vc) {
    const core::End& to = graph_.channel(c).to;
    if (to.terminal || std::find(seen_.begin(), seen_.end(), c) != seen_.end()) return;
    seen_.push_back(c);
    stack_.push_back({to.node, to.port, vc});
  };
  switch (r.kind) {
    case ResourceKind::input:
      enter(r.index, r.lane == Resource::kWhole ? 0 : r.lane);
      break;
    case ResourceKind::output:
    case ResourceKind::port:
      if (r.index == channel) return true;
      enter(r.index, 0);
      break;
    case ResourceKind::memory:
      stack_.push_back({r.index, 0, 0});
      break;
    case ResourceKind::source:
      if (graph_.injection(r.index) == channel) return true;
      enter(graph_.injection(r.index), 0);
      break;
  }
  bool first = true;
  while (!stack_.empty()) {
    const Head head = stack_.back();
    stack_.pop_back();
    candidates_.clear();
    routing_->all_candidates({head.at, head.port, head.vc, &packet, 0, nullptr}, candidates_);
    for (const core::Candidate& c : candidates_) {
      if (c.port >= graph_.outputs(head.at)) continue;
      const u32 out = graph_.channel_out_of(head.at, c.port);
      if (out == kNone) continue;
      if (out == channel) return true;
      if (first) next = out;
      first = false;
      enter(out, c.vc_begin);
    }
    if (seen_.size() > kMostHeads) return true;  // too many ways to say that none does
  }
  return false;
}

}  // namespace banyan::engine
