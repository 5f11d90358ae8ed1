#include "banyan/engine/congestion.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "banyan/base/hash.hpp"

namespace banyan::engine {
namespace {

constexpr u32 kMostWalks = 64;           ///< packets of a buffer whose way is followed back
constexpr std::size_t kMostFlows = 8;    ///< of a tree that are named
constexpr std::size_t kMostHeads = 256;  ///< of the ways of a packet that are followed

constexpr u32 kAhead = 12;            ///< packets between asking for the memory of a record and reading it
constexpr u32 kMostTerminals = 1024;  ///< up to which a table has an entry for every pair
constexpr u32 kMostNumbered = 2048;   ///< terminals up to which flows are counted in such tables
constexpr u32 kMostWays = 1U << 17U;  ///< kept from sample to sample
constexpr u32 kSeveral = kNone - 1;   ///< channels

/// The flows with the most packets, which a record keeps: in room for these alone.
std::vector<stats::CongestionFlow> most_of(std::vector<stats::CongestionFlow>& flows) {
  const std::size_t keep = std::min(flows.size(), kMostFlows);
  std::partial_sort(
      flows.begin(), flows.begin() + static_cast<std::ptrdiff_t>(keep), flows.end(), [](const auto& a, const auto& b) {
        return std::tuple(b.packets, a.source, a.destination) < std::tuple(a.packets, b.source, b.destination);
      });
  return {flows.begin(), flows.begin() + static_cast<std::ptrdiff_t>(keep)};
}

}  // namespace

Places::Places(const core::Graph& graph) {
  const std::size_t channels = graph.channels().size();
  of_[static_cast<std::size_t>(ResourceKind::input)].resize(channels);
  of_[static_cast<std::size_t>(ResourceKind::output)].resize(channels);
  of_[static_cast<std::size_t>(ResourceKind::port)].resize(channels);
  of_[static_cast<std::size_t>(ResourceKind::memory)].resize(graph.switches());
  of_[static_cast<std::size_t>(ResourceKind::source)].resize(graph.terminals());
}

void Places::learn(const BlockedView& view) {
  std::vector<std::pair<u64, u32>> fresh;
  for (const Fill& f : view.fills()) {
    const u32 place = find(f.resource);
    if (place == kNone) {
      fresh.emplace_back(f.resource, f.capacity);
    } else {
      capacity_[place] = f.capacity;
    }
  }
  for (const Blocked& b : view.all_blocked()) {
    if (!has(b.resource)) fresh.emplace_back(b.resource, 0);
    if (!has(b.on)) fresh.emplace_back(b.on, 0);
  }
  // The capacity that is known comes first.
  std::sort(fresh.begin(), fresh.end(),
            [](const auto& a, const auto& b) { return std::pair(a.first, b.second) < std::pair(b.first, a.second); });
  for (const auto& [id, capacity] : fresh) {
    if (ids_.empty() || ids_.back() != id) add(id, capacity);
  }
}

/// The lanes of a place grow by moving to the end of the list.
void Places::add(u64 id, u32 capacity) {
  const Resource r = Resource::of(id);
  if (r.lane < kMostLanes) {
    Lanes& lanes = of_[static_cast<std::size_t>(r.kind)][r.index];
    if (r.lane >= lanes.size) {
      const u32 begin = static_cast<u32>(lanes_.size());
      const u32 room = std::max(std::bit_ceil(r.lane + 1), lanes.size);
      lanes_.resize(begin + room, kNone);
      std::copy_n(lanes_.begin() + lanes.begin, lanes.size, lanes_.begin() + begin);
      lanes = {begin, room};
    }
    lanes_[lanes.begin + r.lane] = size();
  } else {
    far_.emplace(id, size());
  }
  ids_.push_back(id);
  capacity_.push_back(capacity);
}

SourceRoutes::SourceRoutes(const core::Graph& graph) : hops_(graph.total_outputs(), Hop{kNone, kNone}) {
  for (const core::Channel& channel : graph.channels()) {
    begins_.push_back(channel.to.terminal ? kNone : graph.output_base(channel.to.node));
    if (channel.from.terminal) continue;
    hops_[graph.output_base(channel.from.node) + channel.from.port] = {static_cast<u32>(begins_.size() - 1),
                                                                       begins_.back()};
  }
}

template <u32 words>
u32 Ways::Numbers<words>::of(const Key& key) {
  if (2 * keys_.size() >= slots_.size()) grow();
  u64 hash = 0;
  for (const u64 word : key) hash = mix64(hash ^ word) + word;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    if (slots_[at] == kNone) {
      slots_[at] = size();
      keys_.push_back(key);
      return size() - 1;
    }
    const Key& other = keys_[slots_[at]];
    u64 differ = 0;
    for (u32 i = 0; i < words; ++i) differ |= key[i] ^ other[i];
    if (differ == 0) return slots_[at];
  }
}

template <u32 words>
void Ways::Numbers<words>::grow() {
  const std::vector<Key> keys = std::exchange(keys_, {});
  slots_.assign(std::max<std::size_t>(64, slots_.size() * 4), kNone);
  keys_.reserve(slots_.size() / 2);
  for (const Key& key : keys) static_cast<void>(of(key));
}

template <u32 words>
void Ways::Numbers<words>::clear() {
  keys_.clear();
  slots_.clear();
}

Ways::Ways(const core::Graph& graph, const core::Routing* routing)
    : graph_(graph), routing_(routing), numbers_flows_(graph.terminals() > kMostNumbered) {
  const u64 terminals = graph.terminals();
  if (terminals <= kMostTerminals) latest_.assign(terminals * terminals, kNone);
}

void Ways::begin() {
  if (std::max({flows_.size(), starts_.size(), headers_.size()}) < kMostWays) return;
  flows_.clear();
  headers_.clear();
  of_header_.clear();
  latest_.assign(latest_.size(), kNone);
  routes_.clear();
  starts_.clear();
  ways_.clear();
  channels_.clear();
}

const Ways::Header& Ways::header(const core::Packet& packet) {
  const u32 kind =
      u32{packet.traffic} | u32{packet.flags} << 8U | u32{packet.pending} << 16U | u32{packet.vc_class} << 24U;
  if (latest_.empty()) return of_header_[make_header(packet, kind)];
  u32& latest = latest_[std::size_t{packet.source} * graph_.terminals() + packet.destination];
  if (latest != kNone) {
    const Header& header = of_header_[latest];
    if (header.tag == packet.tag && header.state == packet.state && header.kind == kind) return header;
  }
  latest = make_header(packet, kind);
  return of_header_[latest];
}

u32 Ways::make_header(const core::Packet& packet, u32 kind) {
  const u64 pair = static_cast<u64>(packet.source) << 32U | packet.destination;
  const u32 number = headers_.of({pair, packet.tag, packet.state, kind});
  if (number != of_header_.size()) return number;
  const u64 seen = routing_ == nullptr || routing_->reads_source() ? pair : packet.destination;
  Header header{packet.tag, packet.state, kind, routes_.of({seen, packet.tag, packet.state, kind})};
  const Way& way = way_from(graph_.injection(packet.source), 0, header, packet);
  header.begin = way.begin;
  if (way.single == way.size) header.size = way.size;
  of_header_.push_back(header);
  return number;
}

const Ways::Way& Ways::way_from(u32 channel, u32 vc, const Header& header, const core::Packet& packet) {
  const core::End& to = graph_.channel(channel).to;
  return ways_[find(static_cast<u64>(channel) << 32U | vc, {to.terminal ? kNone : to.node, to.port, vc}, header.route,
                    packet)];
}

Ways::Rest Ways::from_switch(u32 switch_, const Header& header, const core::Packet& packet) {
  return rest_of(ways_[find(static_cast<u64>(switch_) << 32U | kNone, {switch_, 0, 0}, header.route, packet)]);
}

u32 Ways::find(u64 start, const Head& head, u32 route, const core::Packet& packet) {
  const u32 number = starts_.of({start, route});
  if (number == ways_.size()) ways_.push_back(follow(head, packet));
  return number;
}

Ways::Way Ways::follow(const Head& head, const core::Packet& packet) {
  Way way;
  way.begin = static_cast<u32>(channels_.size());
  stack_.clear();
  seen_.clear();
  if (head.at != kNone && routing_ != nullptr) stack_.push_back(head);
  bool single = true;
  while (!stack_.empty() && !way.cut_off) {
    const Head at = stack_.back();
    stack_.pop_back();
    candidates_.clear();
    routing_->all_candidates({at.at, at.port, at.vc, &packet, 0, nullptr}, candidates_);
    single = single && candidates_.size() == 1;
    for (const core::Candidate& c : candidates_) {
      if (c.port >= graph_.outputs(at.at)) continue;
      const u32 out = graph_.channel_out_of(at.at, c.port);
      if (out == kNone) continue;
      if (single) ++way.single;
      if (std::find(seen_.begin(), seen_.end(), out) != seen_.end()) continue;
      seen_.push_back(out);
      channels_.push_back(out);
      const core::End& to = graph_.channel(out).to;
      if (!to.terminal) stack_.push_back({to.node, to.port, c.vc_begin});
    }
    way.cut_off = seen_.size() > kMostHeads;
  }
  way.size = static_cast<u32>(channels_.size()) - way.begin;
  return way;
}

TreeFinder::TreeFinder(const core::Topology& topology, const core::Routing* routing, double threshold)
    : graph_(topology.graph()), routing_(routing), threshold_(threshold), places_(graph_), ways_(graph_, routing) {}

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
  const std::size_t first = seen_.size();
  for (const Blocked& b : view.all_blocked()) {
    if (b.resource == b.on) continue;
    const u32 on = places_.of(b.on);
    seen_.push_back({places_.of(b.resource), on, b.via, looks_, b.why});
    if (b.why == Why::space) waited_for_[on] = 1;
  }
  mark_blocked(std::span(seen_).subspan(first));
  ++looks_;
}

/// Blocked, in one look, is what has nothing to go on with. Who waits for the end of a packet that waits for its port's
/// bandwidth waits for that bandwidth too.
void TreeFinder::mark_blocked(std::span<const Seen> look) {
  ready_.assign(places_.size(), kNone);
  const auto make_ready = [&](u32 place, u32 channel) {
    u32& ready = ready_[place];
    const u32 before = std::exchange(ready, ready == kNone || ready == channel ? channel : kSeveral);
    return before != ready;
  };
  held_.clear();
  for (const Seen& seen : look) {
    if (seen.why == Why::bandwidth) make_ready(seen.waiter, channel_of(seen.on));
    if (seen.why == Why::held) held_.push_back(seen);
  }
  for (bool more = true; more;) {
    more = false;
    for (const Seen& seen : held_) {
      const bool behind = ready_[seen.on] == kSeveral || (ready_[seen.on] == seen.via && seen.via != kNone);
      if (behind) more |= make_ready(seen.waiter, seen.via);
    }
  }
  for (const Seen& seen : look) {
    if (ready_[seen.waiter] == kNone) blocked_[seen.waiter] = 1;
  }
}

/// Who waits for a place, of all looks, side by side; the same one may be there several times.
void TreeFinder::sort_edges() {
  const u32 size = places_.size();
  waits_.assign(size, 0);
  edge_begin_.assign(size + 1, 0);
  std::erase_if(seen_, [&](const Seen& seen) { return seen.why == Why::bandwidth && blocked_[seen.waiter] != 0; });
  for (const Seen& seen : seen_) {
    ++edge_begin_[seen.on + 1];
    waits_[seen.waiter] = 1;
  }
  for (u32 i = 0; i < size; ++i) edge_begin_[i + 1] += edge_begin_[i];
  edges_.resize(edge_begin_[size]);
  std::vector<u32> next(edge_begin_.begin(), edge_begin_.end() - 1);
  for (const Seen& seen : seen_) edges_[next[seen.on]++] = {seen.waiter, seen.look, seen.why};
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
  const auto ask = [&](u32 waiter, u32 look) {
    const Resource r = Resource::of(places_.id(waiter));
    if (r.kind == ResourceKind::source || r.kind == ResourceKind::port) return false;
    congested = congested || is_congested(waiter);
    if (r.kind != ResourceKind::input) {
      own = own || is_congested(waiter);
      return ask_for_feeders(waiter) && is_congested(waiter);
    }
    ask_for(r.index, look);
    return false;
  };
  for (u32 i = edge_begin_[port]; i < edge_begin_[port + 1]; ++i) {
    const auto [waiter, look, why] = edges_[i];
    if (ask(waiter, look)) return true;
    // Who waits for the end of that packet asks for the same port.
    for (u32 k = edge_begin_[waiter]; k < edge_begin_[waiter + 1]; ++k) {
      const Edge& behind = edges_[k];
      if (behind.why != Why::held || behind.look != look || switch_of(behind.waiter) != switch_of(waiter)) continue;
      ask(behind.waiter, look);
    }
  }
  return (congested || own) && brings_too_much(port);
}

void TreeFinder::ask_for(u32 channel, u32 look) {
  const Asking asking{channel, look};
  if (std::find(asking_.begin(), asking_.end(), asking) == asking_.end()) asking_.push_back(asking);
}

/// The channels in `asking_` bring more than the port carries, on the average of the looks.
bool TreeFinder::brings_too_much(u32 port) const {
  const auto bandwidth = [&](u32 channel) { return 1.0 / graph_.channel(channel).link.cycles_per_flit; };
  double demand = 0.0;
  for (const Asking& asking : asking_) {
    const bool always = std::find(asking_.begin(), asking_.end(), Asking{asking.channel, kNone}) != asking_.end();
    if (always && asking.look != kNone) continue;
    demand += (always ? looks_ : 1.0) * bandwidth(asking.channel);
  }
  return demand > looks_ * bandwidth(Resource::of(places_.id(port)).index);
}

/// Asks for the channels that fill a buffer before a port: it stays full when what filled it has ended and one channel
/// goes on bringing as much as the port carries. True where they are not known: a view does not show all contents, or
/// a routing leaves a choice.
bool TreeFinder::ask_for_feeders(u32 buffer) {
  if (view_ == nullptr || !view_->wants_contents() || routing_ == nullptr) return true;
  if (!indexed_) index_contents(*view_);
  const u32 here = switch_of(buffer);
  const u32 packets = content_end_[buffer] - content_begin_[buffer];
  if (here >= graph_.switches() || packets == 0 || packets < used_[buffer]) return true;
  for (u32 i = edge_begin_[buffer]; i < edge_begin_[buffer + 1]; ++i) {
    const u32 channel = channel_of(edges_[i].waiter);
    if (channel == kNone) return true;
    const core::End& to = graph_.channel(channel).to;
    if (!to.terminal && to.node == here) ask_for(channel, kNone);
  }
  u64 last = kNever;
  u32 walks = 0;
  for (u32 i = content_begin_[buffer]; i < content_end_[buffer] && walks < kMostWalks; ++i) {
    const core::Packet& packet = *contents_[i].packet;
    const u64 flow = static_cast<u64>(packet.source) << 32U | packet.destination;
    if (std::exchange(last, flow) == flow) continue;
    ++walks;
    const u32 channel = way_in(packet, here);
    if (channel == kNone) return true;
    ask_for(channel, kNone);
  }
  return false;
}

/// Packets of the view by place. Where a model shows all of one place before those of the next, they stay where they
/// are.
void TreeFinder::index_contents(const BlockedView& view) {
  indexed_ = true;
  content_begin_.assign(places_.size(), 0);
  content_end_.assign(places_.size(), 0);
  contents_ = view.contents();
  u64 last = kNever;
  u32 place = kNone;
  bool grouped = true;
  for (u32 i = 0; i < contents_.size(); ++i) {
    if (std::exchange(last, contents_[i].resource) != contents_[i].resource) {
      place = places_.of(contents_[i].resource);
      if (content_end_[place] != 0) grouped = false;
      content_begin_[place] = i;
    }
    content_end_[place] = i + 1;
  }
  if (grouped) return;
  sorted_.assign(contents_.begin(), contents_.end());
  std::stable_sort(sorted_.begin(), sorted_.end(),
                   [](const Content& a, const Content& b) { return a.resource < b.resource; });
  contents_ = sorted_;
  for (u32 i = 0; i < contents_.size(); ++i) {
    place = places_.of(contents_[i].resource);
    if (i == 0 || contents_[i].resource != contents_[i - 1].resource) content_begin_[place] = i;
    content_end_[place] = i + 1;
  }
}

u32 TreeFinder::way_in(const core::Packet& packet, u32 switch_) {
  u32 channel = graph_.injection(packet.source);
  const Ways::Header header = ways_.header(packet);
  const Ways::Way way = ways_.way_from(channel, 0, header, packet);
  for (u32 hops = 0;; ++hops) {
    const core::End& at = graph_.channel(channel).to;
    if (at.terminal) return kNone;
    if (at.node == switch_) return channel;
    if (hops >= std::min(way.single, way.size)) return kNone;
    channel = ways_.channel(way.begin + hops);
  }
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
  tree.members.reserve(reached.size());  // a record keeps it: no more room than that
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
  ways_.begin();
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
  for (const stats::CongestionTree& tree : trees) {
    for (const stats::CongestionMember& member : tree.members) {
      if (root_of_[member.place] == kNone) root_of_[member.place] = tree.root;
    }
  }
  if (view.wants_contents()) count_contents(view, trees);
  view_ = nullptr;
  seen_.clear();
  looks_ = 0;
  waited_for_.assign(size, 0);
  blocked_.assign(size, 0);
  return trees;
}

void TreeFinder::count_contents(const BlockedView& view, std::vector<stats::CongestionTree>& trees) {
  if (trees.empty()) return;
  if (!indexed_) index_contents(view);
  if (view.route_bits() != 0 && !source_routes_) source_routes_.emplace(graph_);
  // A port is idle when nobody is ready for it and nobody waits for room behind it.
  busy_.assign(graph_.channels().size(), 0);
  for (const Blocked& b : view.all_blocked()) {
    if (b.why == Why::bandwidth || b.why == Why::space) busy_[Resource::of(b.on).index] = 1;
    if (b.via != kNone) busy_[b.via] = 1;
  }
  wanted_.resize(graph_.channels().size());
  root_bit_.resize(graph_.channels().size());
  routed_.resize(contents_.size());
  for (std::size_t first = 0; first < trees.size(); first += kRoots) {
    const std::span<stats::CongestionTree> some =
        std::span(trees).subspan(first, std::min(kRoots, trees.size() - first));
    for (u32 n = 0; n < some.size(); ++n) root_bit_[some[n].root] = u64{1} << n;
    routed_place_.assign(places_.size(), 0);
    for (const stats::CongestionTree& tree : some) {
      for (const stats::CongestionMember& member : tree.members) {
        if (std::exchange(routed_place_[member.place], u8{1}) == 0) find_ways(member.place);
      }
    }
    through_.resize(ways_.flows());
    past_.resize(ways_.flows());
    for (u32 n = 0; n < some.size(); ++n) count_members(some[n], n);
    for (const stats::CongestionTree& tree : some) root_bit_[tree.root] = 0;
  }
}

bool TreeFinder::goes_through(const MarkLog::Entry& marked, std::span<const u32> channels) {
  Ways::Rest rest;
  ways_.behind(marked.channel, marked.vc, ways_.header(marked.packet), marked.packet, rest);
  return std::any_of(channels.begin(), channels.end(),
                     [&](u32 channel) { return channel == marked.channel || ways_.passes(rest, channel); });
}

u32 TreeFinder::starts_on(const Resource& r) const {
  if (r.kind == ResourceKind::output || r.kind == ResourceKind::port) return r.index;
  return r.kind == ResourceKind::source ? graph_.injection(r.index) : kNone;
}

/// Flow, roots and next channel of every packet in a place.
void TreeFinder::find_ways(u32 place) {
  const Resource r = Resource::of(places_.id(place));
  const u32 begin = content_begin_[place];
  const u32 end = content_end_[place];
  const u32 channel = r.kind == ResourceKind::input ? r.index : starts_on(r);
  const u32 vc = r.kind == ResourceKind::input && r.lane != Resource::kWhole ? r.lane : 0;
  const u32 bits = view_->route_bits();
  for (u32 i = begin; i < end; ++i) {
    // Records lie anywhere in a pool that no cache holds.
    if (i + kAhead < contents_.size()) __builtin_prefetch(contents_[i + kAhead].packet);
    const core::Packet& packet = *contents_[i].packet;
    Routed& routed = routed_[i] = {0, ways_.flow_of(packet), kNone};
    if (bits != 0) {
      source_routes_->follow(channel, contents_[i].route, bits, [&](u32 passed) {
        if (routed.next == kNone) routed.next = passed;
        routed.roots |= root_bit_[passed];
      });
      continue;
    }
    const Ways::Header& header = ways_.header(packet);
    Ways::Rest rest;
    if (r.kind == ResourceKind::memory) {
      rest = ways_.from_switch(r.index, header, packet);
    } else {
      ways_.behind(channel, vc, header, packet, rest);
    }
    if (rest.size == kNone) {
      routed.roots = ~u64{0};
      continue;
    }
    if (rest.size != 0) routed.next = ways_.channel(rest.begin);
    for (u32 k = rest.begin; k < rest.begin + rest.size; ++k) routed.roots |= root_bit_[ways_.channel(k)];
  }
}

/// Packets that can go through the root, and victims: by flow, and the ports that the victims want next.
void TreeFinder::count_members(stats::CongestionTree& tree, u32 nth) {
  for (stats::CongestionMember& member : tree.members) {
    const bool all = routing_ == nullptr || starts_on(Resource::of(places_.id(member.place))) == tree.root;
    for (u32 i = content_begin_[member.place]; i < content_end_[member.place]; ++i) {
      const auto& [roots, flow, next] = routed_[i];
      if (all || (roots >> nth & 1U) != 0) {
        ++tree.packets;
        if (through_[flow]++ == 0) flows_through_.push_back(flow);
        continue;
      }
      ++member.victims;
      if (past_[flow]++ == 0) flows_past_.push_back(flow);
      if (next == kNone) continue;
      if (std::exchange(wanted_[next], u8{1}) == 0) wants_.push_back(next);
    }
    tree.victims += member.victims;
  }
  const auto most = [&](std::vector<u32>& flows, std::vector<u32>& packets, std::vector<stats::CongestionFlow>& list) {
    counted_.clear();
    for (const u32 flow : flows) {
      const u64 pair = ways_.flow(flow);
      counted_.push_back({static_cast<u32>(pair >> 32U), static_cast<u32>(pair), std::exchange(packets[flow], 0U)});
    }
    flows.clear();
    list = most_of(counted_);
    return static_cast<u32>(counted_.size());
  };
  tree.flows = most(flows_through_, through_, tree.most_flows);
  tree.victim_flows = most(flows_past_, past_, tree.most_victims);
  for (const u32 channel : wants_) {
    tree.idle_ports += busy_[channel] == 0 ? 1U : 0U;
    wanted_[channel] = 0;
  }
  wants_.clear();
}

}  // namespace banyan::engine
