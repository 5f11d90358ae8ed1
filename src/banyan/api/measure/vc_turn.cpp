#include "banyan/api/measure/vc_turn.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "banyan/analysis/parts/paths.hpp"
#include "banyan/api/measure/channel_alone.hpp"
#include "banyan/api/measure/short_run.hpp"
#include "banyan/api/measure/steady.hpp"
#include "banyan/api/predictions.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/resolve.hpp"

namespace banyan::api {
namespace {

/// Paths that every run may follow before it starts: some tenths of a second.
constexpr u64 kMostPaths = u64{1} << 18U;
/// Messages per terminal and terminals that the mean length of packets is taken from.
constexpr u64 kMessagesLookedAt = 64;
constexpr u32 kTerminalsLookedAt = 64;

/// For networks that are too large to be tried. Part of what turns with a round trip of credits let through at random:
/// a 4 x 4 mesh with five virtual channels, which need 0.85 of their turns, carries 0.93 of a load, and all of it with
/// six, which need 0.71.
constexpr double kUseful = 0.75;

/// A channel alone carries a load when it carries this share of what it would carry without virtual channels: two
/// virtual channels with packets of four flits, which lose 3 % of a load of 0.95, do not.
constexpr double kCarried = 0.98;
/// A remedy is worse than no other of its kind by more than a twentieth.
constexpr double kAsGood = 0.95;
/// Below this share of the bound for all virtual channels together nothing is measured. The least that was seen to be
/// carried is 0.31 of it: UGAL with wait_for_tail_credit on a 4 x 4 mesh, packets of one flit.
constexpr double kLeastOfBound = 0.25;
/// Several inputs that want one output need more virtual channels than one that has it for itself: six in a network of
/// 64 terminals with switches of radix 4, where one input fills a channel with three.
constexpr double kContended = 2.0;
/// Numbers of virtual channels that are tried before a note gives one.
constexpr u32 kTrials = 12;

/// What a virtual channel of a channel with some latency carries of packets of a length.
struct Turn {
  const core::VcTurn& of;
  double flits;

  [[nodiscard]] double cycles(const core::Channel& channel) const {
    return of.fixed + of.per_flit * flits + of.per_latency * channel.link.latency_cycles;
  }
  /// So many virtual channels always fill the channel, however long packets are.
  [[nodiscard]] double enough(const core::Channel& channel) const {
    return of.in_step * (of.fixed + of.per_flit + of.per_latency * channel.link.latency_cycles);
  }
  /// Flits per cycle.
  [[nodiscard]] double each(const core::Channel& channel) const { return flits / cycles(channel); }
};

/// Flits per cycle on some virtual channels of a channel.
struct Need {
  u32 channel = kNone;
  u32 begin = 0;
  u32 end = 0;
  double load = 0.0;
  bool mean = false;  ///< `load` is that of all channels between switches, in the mean

  [[nodiscard]] u32 vcs() const { return end - begin; }
  /// The load that each virtual channel would have to carry.
  [[nodiscard]] double each() const { return vcs() == 0 ? 0.0 : load / vcs(); }
  /// The same, of what it can.
  [[nodiscard]] double share(const core::Graph& graph, const Turn& turn) const {
    return channel == kNone ? 0.0 : each() / turn.each(graph.channel(channel));
  }
};

/// Traffics that send without end, and what answers them: replies go back where requests came from.
struct Sending {
  Experiment of;                ///< the experiment with these traffics alone, and without replies
  Traffics traffics;            ///< of that one
  std::vector<i64> reply_size;  ///< flits of a reply, one for all or by the length of the request; {0}: none
  double replied = 0.0;         ///< flits of replies per flit of requests
  double packet = 0.0;          ///< mean flits of a packet, replies included; 0: it sends nothing
  std::vector<u32> packets;     ///< flits of those that were looked at

  /// Flits of the reply to a request.
  [[nodiscard]] double reply_to(u32 flits) const {
    if (reply_size.size() == 1) return static_cast<double>(reply_size.front());
    const std::vector<i64>& sizes = of.traffics.front().integers("sizes");
    const auto found = std::find(sizes.begin(), sizes.end(), i64{flits});
    return found == sizes.end() ? 0.0
                                : static_cast<double>(reply_size[static_cast<std::size_t>(found - sizes.begin())]);
  }
  /// Flits per cycle of a terminal, in the mean, replies included.
  [[nodiscard]] double load() const {
    double requests = 0.0;
    for (const auto& traffic : traffics) requests += traffic->offered_load();
    return requests * (1.0 + replied);
  }
};

/// Looks at the first messages of a stream.
void sample(Sending& stream, u32 terminals) {
  double loads = 0.0;
  double packets_per_flit = 0.0;
  for (const auto& traffic : stream.traffics) {
    constexpr double kMostPackets = 1000.0;
    traffic->begin(0);
    const auto longest = static_cast<double>(traffic->longest_packet());
    double flits = 0.0;
    double replies = 0.0;
    double packets = 0.0;
    for (u32 t = 0; t < std::min(terminals, kTerminalsLookedAt); ++t) {
      core::Message message;
      Tick previous = kNever;
      for (u64 nth = 0; nth < kMessagesLookedAt && traffic->next(t, nth, previous, message); ++nth) {
        if (message.birth == kNever) break;
        previous = message.birth;
        const double reply = stream.reply_to(message.flits);
        flits += message.flits;
        replies += reply;
        for (const double sent : {static_cast<double>(message.flits), reply}) {
          packets += std::ceil(sent / longest);
          // In a message of very many packets the last one, which is shorter, does not matter.
          for (double rest = std::min(sent, kMostPackets * longest); rest > 0.0; rest -= longest) {
            stream.packets.push_back(static_cast<u32>(std::min(rest, longest)));
          }
        }
      }
    }
    if (flits == 0.0) continue;
    const double load = traffic->offered_load() * (1.0 + replies / flits);
    loads += load;
    packets_per_flit += load * packets / (flits + replies);
    stream.replied = replies / flits;  // of the only one where there are replies
  }
  stream.packet = packets_per_flit > 0.0 ? loads / packets_per_flit : 0.0;
}

/// The traffics of an experiment, those that are answered one by one; none where some of them is no steady stream, or
/// waits for its replies before it goes on.
std::vector<Sending> streams_of(const Experiment& experiment, const Network& network, const Traffics& traffics) {
  bool answers = false;
  for (const auto& traffic : traffics) {
    if (traffic->finite() || traffic->replicates() || traffic->traits().limits_requests) return {};
    answers = answers || traffic->answers();
  }
  if (answers && traffics.size() != experiment.traffics.size()) return {};
  std::vector<Sending> streams;
  for (std::size_t i = 0; i < (answers ? traffics.size() : 1); ++i) {
    Sending& stream = streams.emplace_back(Sending{experiment, {}, {0}, 0.0, 0.0, {}});
    if (answers) stream.of.traffics = {experiment.traffics[i]};
    if (traffics[i]->answers()) {
      if (!experiment.traffics[i].all().contains("reply_size")) return {};  // fetch-and-adds
      stream.reply_size = experiment.traffics[i].integers("reply_size");
      stream.of.traffics.front().set("reply_size", std::vector<i64>{0});
    }
    stream.traffics = build_traffics(stream.of, *network.topology);
    if (std::any_of(stream.traffics.begin(), stream.traffics.end(), [](const auto& t) { return t->answers(); })) {
      return {};
    }
    sample(stream, network.topology->traffic_terminals());
  }
  return streams;
}

/// Mean flits of a packet of all streams; 0: unknown.
double mean_packet(const std::vector<Sending>& streams) {
  double loads = 0.0;
  double packets = 0.0;
  for (const Sending& stream : streams) {
    if (stream.packet == 0.0) continue;
    loads += stream.load();
    packets += stream.load() / stream.packet;
  }
  return packets > 0.0 ? loads / packets : 0.0;
}

/// Flits per cycle by channel and range of virtual channels.
class RangeLoads {
 public:
  RangeLoads(const core::Graph& graph, const Turn& turn) : graph_(graph), turn_(turn) {}

  void add(u32 channel, double load, u32 begin, u32 end) {
    const core::Channel& of = graph_.channel(channel);
    if (of.to.terminal || (of.from.terminal && !turn_.of.from_terminals)) return;  // terminals take packets at once
    auto range =
        std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& r) { return r.begin == begin && r.end == end; });
    if (range == ranges_.end()) {
      ranges_.push_back({begin, end, std::vector<double>(graph_.channels().size(), 0.0)});
      range = ranges_.end() - 1;
    }
    range->load[channel] += load;
  }

  /// The virtual channels that have to carry most each: of every range, what must stay inside it.
  [[nodiscard]] Need most() const {
    Need most;
    for (u32 c = 0; c < graph_.channels().size(); ++c) {
      for (const Range& outer : ranges_) {
        Need need{c, outer.begin, outer.end, 0.0};
        for (const Range& inner : ranges_) {
          if (inner.begin >= outer.begin && inner.end <= outer.end) need.load += inner.load[c];
        }
        if (need.share(graph_, turn_) > most.share(graph_, turn_)) most = need;
      }
    }
    return most;
  }

 private:
  struct Range {
    u32 begin;
    u32 end;
    std::vector<double> load;  ///< [channel]
  };
  const core::Graph& graph_;
  const Turn& turn_;
  std::vector<Range> ranges_;
};

bool few_paths(const core::Graph& graph, const core::Routing& routing) {
  if (graph.terminals() > analysis::parts::TrafficMatrix::kMostTerminals) return false;
  u64 paths = 0;
  for (u32 s = 0; s < graph.terminals() && paths <= kMostPaths; ++s) {
    for (u32 d = 0; d < graph.terminals(); ++d) paths += routing.headers(s, d);
  }
  return paths <= kMostPaths;
}

/// Who sends how much to whom, replies included: calls visit(source, destination, flits per cycle). Throws ConfigError
/// where that is not known.
template <class Visit>
void each_pair(const std::vector<Sending>& streams, const Network& network, const Visit& visit) {
  const config::ComponentInfo info{"vc_turn", "", "", {}};
  const config::Values values = config::Values::defaults(info);
  for (const Sending& stream : streams) {
    const core::AnalysisContext context = analysis_context(stream.of, network, stream.traffics);
    const analysis::parts::TrafficMatrix matrix(values, context);
    for (u32 s = 0; s < matrix.terminals(); ++s) {
      for (u32 d = 0; d < matrix.terminals(); ++d) {
        const double rate = matrix(s, d) + stream.replied * matrix(d, s);
        if (rate > 0.0) visit(s, d, rate);
      }
    }
  }
}

/// The virtual channels of every channel between switches, in the mean, where packets take the shortest ways: longer
/// ones need more, whatever the routing chooses by its queues.
Need mean_need(const std::vector<Sending>& streams, const Network& network, const Turn& turn, u32 vcs) {
  const core::Graph& graph = network.topology->graph();
  Need need{kNone, 0, vcs, 0.0, true};
  double channels = 0.0;
  for (u32 c = 0; c < graph.channels().size(); ++c) {
    const core::Channel& channel = graph.channel(c);
    if (channel.failed || channel.from.terminal || channel.to.terminal) continue;
    channels += 1.0;
    // The fastest: a bound for all.
    if (need.channel == kNone || turn.each(channel) > turn.each(graph.channel(need.channel))) need.channel = c;
  }
  std::vector<std::vector<u32>> distances(graph.switches());
  each_pair(streams, network, [&](u32 source, u32 destination, double rate) {
    const u32 from = graph.channel(graph.injection(source)).to.node;
    const u32 to = graph.channel(graph.ejection(destination)).from.node;
    if (distances[from].empty()) distances[from] = graph.distances_from(from);
    if (distances[from][to] != kNone) need.load += rate * distances[from][to] / channels;
  });
  return need;
}

/// What the most loaded virtual channels have to carry.
Need needed(const std::vector<Sending>& streams, const Network& network, const Turn& turn, u32 vcs) {
  const core::Graph& graph = network.topology->graph();
  const bool one = network.topology->subnetworks() == 1;
  try {
    if (one && network.routing->sight() == core::Sight::none && few_paths(graph, *network.routing)) {
      const config::ComponentInfo info{"vc_turn", "", "", {}};
      const config::Values values = config::Values::defaults(info);
      const core::AnalysisContext context = analysis_context(streams.front().of, network, streams.front().traffics);
      analysis::parts::Paths paths(values, context);
      RangeLoads loads(graph, turn);
      each_pair(streams, network, [&](u32 s, u32 d, double rate) {
        paths.follow_vcs(
            s, d, [&](u32 channel, double share, u32 begin, u32 end) { loads.add(channel, share * rate, begin, end); });
      });
      return loads.most();
    }
    if (one && !turn.of.from_terminals) return mean_need(streams, network, turn, vcs);
  } catch (const ConfigError&) {}  // no steady stream of messages with one destination
  if (!turn.of.from_terminals) return {};
  double load = 0.0;  // of a terminal, in the mean
  for (const Sending& stream : streams) load += stream.load();
  return {graph.injection(0), 0, vcs, load / network.topology->subnetworks()};
}

/// The same channel by itself.
class Alone {
 public:
  /// `capacity`: flits per cycle that the channel carries with any number of virtual channels.
  Alone(const config::Values& switching, const std::vector<Sending>& streams, const Turn& turn,
        const core::Channel& channel, double load, double capacity)
      : switching_(switching), each_(turn.each(channel)), capacity_(capacity) {
    constexpr u32 kMostLatency = 256;  // so that it takes some milliseconds
    load_.load = std::min({load, capacity, 1.0});
    for (const Sending& stream : streams) {
      load_.packets.insert(load_.packets.end(), stream.packets.begin(), stream.packets.end());
    }
    if (turn.of.per_latency > 0.0) load_.latency = std::min(channel.link.latency_cycles, kMostLatency);
    known_ = channel.link.cycles_per_flit == 1 && !load_.packets.empty() &&
             (turn.of.per_latency == 0.0 || channel.link.latency_cycles <= kMostLatency);
  }

  /// What the turns of so many virtual channels let through; flits per cycle.
  [[nodiscard]] double bound(u32 vcs) const { return std::min({vcs * each_, capacity_, 1.0}); }
  /// Flits per cycle of the load on so many virtual channels; what the bound lets through where that cannot be
  /// measured.
  [[nodiscard]] double carried(u32 vcs) const {
    return std::min(load_.load, bound(vcs)) * std::min(1.0, share(vcs, bound(vcs), load_));
  }
  /// Whether so many virtual channels carry what their bound lets through.
  [[nodiscard]] bool reach_bound(u32 vcs) const { return share(vcs, bound(vcs), load_) >= kCarried; }
  /// Whether they carry the load.
  [[nodiscard]] bool carry(u32 vcs) const { return bound(vcs) >= load_.load * (1.0 - 1e-9) && reach_bound(vcs); }
  /// Whether they do with packets of some times the length.
  [[nodiscard]] bool carry_longer(u32 vcs) const {
    constexpr double kNearly = 0.9;  // a few of those packets are under way in the end
    for (const u32 times : {4U, 16U, 64U}) {
      ChannelLoad longer = load_;
      for (u32& flits : longer.packets) flits *= times;
      if (share(vcs, std::min(capacity_, 1.0), longer) >= kNearly) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] double share(u32 vcs, double most, ChannelLoad load) const {
    load.most = most;
    try {
      if (known_) return share_carried_alone(switching_, vcs, load);
    } catch (const ConfigError&) {}  // no such number of virtual channels, or no such lengths
    return 1.0;
  }

  const config::Values& switching_;
  ChannelLoad load_;
  double each_;
  double capacity_;
  bool known_ = false;
};

/// Virtual channels, which help wherever their number may be so large and a channel by itself carries the load then;
/// otherwise longer packets and a lower load. Empty: neither helps, so that the turns are not what is short.
/// `useful`: flits per cycle of a virtual channel.
std::string remedy(const Experiment& experiment, const Need& need, double useful, u32 vcs, double carried,
                   const Alone& alone) {
  if (need.load > carried * (1.0 + 1e-9)) return "; use a lower load: the channel itself carries less";
  u32 wanted = std::max(need.vcs() + 1, static_cast<u32>(std::ceil(need.load / useful - 1e-9)));
  const auto& parameters = switch_row(experiment).info.parameters;
  const auto p = std::find_if(parameters.begin(), parameters.end(), [](const auto& of) { return of.name == "vcs"; });
  for (u32 trial = 0; p != parameters.end() && trial < kTrials; ++trial, ++wanted) {
    // Classes of virtual channels grow with their number.
    const u64 all = u64{wanted} * vcs / need.vcs();
    if (static_cast<double>(all) > p->high) break;
    if (alone.carry(wanted)) return fmt::format("; use switch.vcs = {}", all);
  }
  return alone.carry_longer(need.vcs()) ? "; use longer packets, or a lower load" : "";
}

/// Flits per cycle and terminal that are generated in the cycles that a short run counts, replies included.
double offered(std::vector<Sending>& streams, const core::Topology& topology, ShortRun run) {
  double sum = 0.0;
  for (Sending& stream : streams) {
    u64 flits = 0;
    for (const auto& traffic : stream.traffics) {
      traffic->begin(0);
      for (u32 t = 0; t < topology.graph().terminals(); ++t) {
        core::Message message;
        Tick previous = kNever;
        for (u64 nth = 0; traffic->next(t, nth, previous, message) && message.birth < run.end(); ++nth) {
          if (message.birth >= run.fill() && !message.elsewhere) flits += message.flits;
          previous = message.birth;
        }
      }
    }
    sum += static_cast<double>(flits) * (1.0 + stream.replied);
  }
  return sum / static_cast<double>(run.cycles) / topology.traffic_terminals();
}

/// The whole network for some thousand cycles, as it is and without what makes a turn longer than the packet: the same
/// messages, so that what they differ by is the turns.
class Trial {
 public:
  /// `offered`: flits per cycle and terminal in these cycles.
  Trial(const Experiment& experiment, const core::VcTurn& of, ShortRun run, double offered)
      : experiment_(experiment), run_(run), offered_(offered), as_it_is_(accepted(experiment, {}, run)) {
    if (as_it_is_ >= kCarried * offered_) return;
    const config::Values& switching = experiment.switching;
    for (const auto& [name, value] : of.without) {
      if (switching.all().find(name)->second != value) without_.emplace_back(name, value);
    }
    without_turns_ = accepted(experiment, without_, run);
  }

  [[nodiscard]] bool loses() const { return as_it_is_ < kCarried * without_turns_; }

  /// "0.34 flits per cycle and terminal are accepted, and 0.41 with ...".
  [[nodiscard]] std::string text(u32 vcs, u32 classes) const {
    return fmt::format("{:.3g} are accepted, and {:.3g} {}", as_it_is_, without_turns_, better(vcs, classes));
  }

 private:
  /// What helps: virtual channels where some of them do, otherwise a router without these delays.
  [[nodiscard]] std::string better(u32 vcs, u32 classes) const {
    std::string delays;
    for (const auto& [name, value] : without_) {
      delays += fmt::format("{}switch.{} = {}", delays.empty() ? "" : ", ", name, config::to_text(value));
    }
    const std::string rest =
        fmt::format("with {} (in the first {} cycles, in which queues may still grow)", delays, run_.end());
    std::vector<std::pair<u32, double>> tried;  // virtual channels, and what is accepted with them
    for (const u32 more : {1U, 2U, 3U, 4U, 6U, 8U, 12U}) {
      const u32 wanted = vcs + more * classes;
      try {
        tried.emplace_back(wanted, accepted(experiment_, {{"vcs", i64{wanted}}}, run_));
      } catch (const ConfigError&) { break; }  // so many there are not
      if (tried.back().second >= kCarried * offered_) break;
    }
    // As few as do nearly what more of them do, where that is as much as without the delays at least: virtual channels
    // make up for small buffers too.
    double enough = kCarried * without_turns_;
    for (const auto& [wanted, helped] : tried) enough = std::max(enough, kAsGood * helped);
    for (const auto& [wanted, helped] : tried) {
      if (helped < enough) continue;
      return fmt::format("{}; use switch.vcs = {}: {:.3g} are accepted then", rest, wanted, helped);
    }
    return rest + "; use that, longer packets, or a lower load";
  }

  const Experiment& experiment_;
  ShortRun run_;
  double offered_;
  double as_it_is_;
  SwitchChanges without_;
  double without_turns_ = 0.0;
};

/// Where the need is, in words.
std::string place_of(const Need& need, const core::Topology& topology) {
  const core::End from = topology.graph().channel(need.channel).from;
  if (need.mean) return "the channels between switches, in the mean";
  if (from.terminal) return fmt::format("the channel of terminal {}", from.node);
  return fmt::format("port {} of {}", topology.port_label(from.node, from.port), topology.label(from.node));
}

bool of_one_length(const std::vector<Sending>& streams) {
  const u32 first = streams.front().packets.empty() ? 0 : streams.front().packets.front();
  return std::ranges::all_of(streams, [first](const Sending& stream) {
    return std::ranges::all_of(stream.packets, [first](u32 flits) { return flits == first; });
  });
}

/// For a network that is small enough to be tried.
std::string measured_note(const Experiment& experiment, const Network& network, std::vector<Sending>& streams,
                          const Turn& turn, const Need& need, ShortRun shortly) {
  const bool known = need.channel != kNone;
  double each = 0.0;
  if (known) {
    each = turn.each(network.topology->graph().channel(need.channel));
    if (need.load < kLeastOfBound * std::min(1.0, need.vcs() * each)) return {};
  }
  const Trial trial(experiment, turn.of, shortly, offered(streams, *network.topology, shortly));
  if (!trial.loses()) return {};
  std::string bound;
  if (known && of_one_length(streams) && need.load > need.vcs() * each * (1.0 + 1e-9)) {
    bound = fmt::format(", so that {} of them carr{} {:.3g} flits per cycle at most, and {:.3g} is needed on {}",
                        need.vcs(), need.vcs() == 1 ? "ies" : "y", need.vcs() * each, need.load,
                        place_of(need, *network.topology));
  }
  double load = 0.0;
  for (const Sending& stream : streams) load += stream.load();
  const u32 vcs = switch_row(experiment).vcs(experiment.switching);
  const double cycles =
      turn.of.fixed + turn.of.per_flit * turn.flits +
      (known ? turn.of.per_latency * network.topology->graph().channel(need.channel).link.latency_cycles
             : turn.of.per_latency);
  return fmt::format(
      "a packet of {:.4g} flit{} keeps its virtual channel for {} = {:.4g} cycles{}: of {:.3g} flits per "
      "cycle and terminal {}",
      turn.flits, turn.flits == 1.0 ? "" : "s", turn.of.formula, cycles, bound, load,
      trial.text(vcs, std::max(1U, network.routing->required_vcs())));
}

}  // namespace

std::string vc_turn_note(const Experiment& experiment, const Network& network, const Traffics& traffics) {
  const core::SwitchRow& row = switch_row(experiment);
  if (row.vc_turn == nullptr) return {};
  // Traffics that keep to virtual channels of their own have packets and loads of their own there.
  const bool apart = network.routing->classes() != 1;
  std::vector<Sending> streams;
  try {
    streams = streams_of(experiment, network, traffics);
  } catch (const ConfigError&) { return {}; }  // replies with settings of their own
  const double flits = mean_packet(streams);
  if (flits == 0.0) return {};
  const core::VcTurn of_switch = row.vc_turn(experiment.switching);
  const Turn turn{of_switch, flits};
  const core::Graph& graph = network.topology->graph();
  double slowest = 1.0;  // flits per cycle on one virtual channel
  double enough = 0.0;
  for (const core::Channel& channel : graph.channels()) {
    if (channel.failed) continue;
    slowest = std::min(slowest, turn.each(channel));
    enough = std::max(enough, turn.enough(channel));
  }
  const u32 vcs = row.vcs(experiment.switching);
  const u32 classes = std::max(1U, network.routing->required_vcs());
  const u32 of_class = vcs / classes;  // that a class has at the least
  if (!apart && of_class * slowest >= 1.0 && of_class >= kContended * enough) return {};
  const Need need = apart ? Need{} : needed(streams, network, turn, vcs);
  const ShortRun shortly = ShortRun::of(network.topology->traffic_terminals(), planned_end(experiment.run));
  try {
    if (shortly.cycles > 0) return measured_note(experiment, network, streams, turn, need, shortly);
  } catch (const ConfigError&) {}  // such a router there is not
  if (need.channel == kNone || of_class >= enough) return {};
  const core::Channel& channel = graph.channel(need.channel);
  const double each = turn.each(channel);
  const core::Capacity most = row.capacity == nullptr ? core::Capacity{} : row.capacity(experiment.switching);
  const double capacity = (channel.from.terminal ? most.injection : most.channel) / channel.link.cycles_per_flit;
  const Alone alone(experiment.switching, streams, turn, channel, need.load, capacity);
  const bool fits = need.share(graph, turn) <= 1.0 + 1e-9;
  if (fits && need.load < kLeastOfBound * alone.bound(need.vcs())) return {};
  const bool in_step = !alone.reach_bound(need.vcs());
  if (fits && !in_step) return {};
  const std::string help =
      remedy(experiment, need, each * (of_switch.per_latency > 0.0 ? kUseful : 1.0), vcs, capacity, alone);
  if (fits && help.empty()) return {};  // something else is short
  const std::string measured =
      in_step ? fmt::format(", about {:.2g} where they fall into step at a port (measured on two switches)",
                            alone.carried(need.vcs()))
              : "";
  const std::string where = place_of(need, *network.topology);
  return fmt::format(
      "a packet of {:.4g} flit{} keeps its virtual channel for {} = {:.4g} cycles, so that {} of them carr{} {:.3g} "
      "flits per cycle at most{}, and this load needs {:.3g} on {}{}",
      flits, flits == 1.0 ? "" : "s", of_switch.formula, turn.cycles(channel), need.vcs(),
      need.vcs() == 1 ? "ies" : "y", std::min(1.0, need.vcs() * each), measured, need.load, where,
      help.empty() ? "; use a lower load" : help);
}

}  // namespace banyan::api
