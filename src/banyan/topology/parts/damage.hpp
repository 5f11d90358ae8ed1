// Failed links and switches, by list or at random: what is left of a network.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/config/schema.hpp"
#include "banyan/core/graph.hpp"
#include "banyan/core/size.hpp"
#include "banyan/topology/parts/subnetworks.hpp"

namespace banyan::topology::parts {

inline std::vector<config::Parameter> damage_parameters() {
  using config::Parameter;
  return {
      Parameter::texts("failed_links", {})
          .doc("Links between switches that carry nothing in either direction, as \"SWITCH PORT\" of one end."),
      Parameter::integers("failed_switches", {})
          .range(0, 1 << 24)
          .doc("Switches that are gone with their links and terminals; the other terminals are numbered anew."),
      Parameter::integer("random_failed_links", 0).range(0, 1 << 24).doc("Links that fail besides, at random."),
      Parameter::integer("random_failed_switches", 0).range(0, 1 << 24).doc("Switches that fail besides, at random."),
      Parameter::integer("failure_seed", 1)
          .only_with("random_failed_links")
          .only_with("random_failed_switches")
          .range(0, 1e18)
          .doc("Seed of the random failures."),
  };
}

/// Whether the parameters ask for any failure.
inline bool damages(const config::Values& values) {
  return !values.texts("failed_links").empty() || !values.integers("failed_switches").empty() ||
         values.integer("random_failed_links") != 0 || values.integer("random_failed_switches") != 0;
}

/// The size of what parameters describe whose graph is made from a wiring, unless something fails.
inline core::NetworkSize of_wiring(core::NetworkSize size, const config::Values& values) {
  size.listed = damages(values);
  return size;
}

// Parameters that several topologies have.
inline config::Parameter concentration_parameter() {
  return config::Parameter::integer("concentration", 1)
      .unit("terminals")
      .range(1, 1024)
      .doc("Terminals at each switch.");
}
inline config::Parameter cycles_parameter(const char* name, const char* doc) {
  return config::Parameter::integer(name, 1).unit("cycles").range(1, 1 << 20).doc(doc);
}
inline config::Parameter latency_parameter() {
  return cycles_parameter("latency", "Latency of the channels between switches.");
}
inline config::Parameter terminal_latency_parameter() {
  return cycles_parameter("terminal_latency", "Latency of the channels from and to terminals.");
}

/// `parameters`, those of damage, and the number of subnetworks, in one list.
inline std::vector<config::Parameter> with_damage(std::vector<config::Parameter> parameters) {
  for (config::Parameter& p : damage_parameters()) parameters.push_back(std::move(p));
  parameters.push_back(subnetworks_parameter());
  return parameters;
}

/// The channel that leads back from the far end of a channel between switches, or kNone. The two directions of a link
/// use ports of the same numbers.
inline u32 opposite(const core::Graph& graph, u32 channel) {
  const core::Channel& c = graph.channel(channel);
  if (c.to.port >= graph.outputs(c.to.node)) return kNone;
  const u32 back = graph.channel_out_of(c.to.node, c.to.port);
  return back != kNone && graph.channel(back).to == c.from ? back : kNone;
}

/// The same graph without the terminals whose switch is marked; the others keep their order.
inline core::Graph without_terminals_of(const core::Graph& graph, const std::vector<bool>& gone) {
  std::vector<u32> number(graph.terminals(), kNone);
  u32 left = 0;
  for (u32 t = 0; t < graph.terminals(); ++t) {
    if (!gone[graph.channel(graph.injection(t)).to.node]) number[t] = left++;
  }
  core::Graph result(left);
  for (u32 s = 0; s < graph.switches(); ++s) result.add_switch(graph.inputs(s), graph.outputs(s), graph.level(s));
  for (const core::Channel& c : graph.channels()) {
    core::Channel kept = c;
    bool drop = false;
    for (core::End* end : {&kept.from, &kept.to}) {
      if (!end->terminal) continue;
      drop = number[end->node] == kNone;
      end->node = number[end->node];
    }
    if (drop) continue;
    const u32 channel = result.add_channel(kept.from, kept.to, kept.link);
    if (kept.failed) result.fail_channel(channel);
  }
  return result;
}

/// Applies damage_parameters() to a graph. Throws ConfigError.
class Damage {
 public:
  Damage(const config::Values& values, core::Graph& graph) : values_(values), graph_(graph) {
    for (const std::string& text : values.texts("failed_links")) fail_link(link_of(text));
    fail_random_links();
    fail_switches();
  }
  /// True when terminals are gone, so that numbers of terminals no longer tell where they sit.
  [[nodiscard]] bool lost_terminals() const { return lost_terminals_; }

 private:
  void fail_link(u32 channel) {
    graph_.fail_channel(channel);
    const u32 back = opposite(graph_, channel);
    if (back != kNone) graph_.fail_channel(back);
  }

  [[nodiscard]] u32 link_of(const std::string& text) const {
    u32 number[2] = {kNone, kNone};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (u32& n : number) {
      while (at != end && *at == ' ') ++at;
      at = std::from_chars(at, end, n).ptr;
    }
    while (at != end && *at == ' ') ++at;
    if (at != end || number[1] == kNone) {
      values_.fail("failed_links", fmt::format("\"{}\" does not read as a switch and its port", text),
                   "write it as \"SWITCH PORT\", for example \"3 1\"");
    }
    if (number[0] >= graph_.switches() || number[1] >= graph_.outputs(number[0])) {
      values_.fail("failed_links", fmt::format("\"{}\" names a switch or port outside the network", text),
                   fmt::format("switches are 0 to {}", graph_.switches() - 1));
    }
    const u32 channel = graph_.channel_out_of(number[0], number[1]);
    if (channel == kNone || graph_.channel(channel).to.terminal) {
      values_.fail("failed_links", fmt::format("no link to another switch is at \"{}\"", text),
                   "name the port of a link between switches");
    }
    return channel;
  }

  /// `count` of `all`, a uniform choice.
  [[nodiscard]] std::vector<u32> choose(std::vector<u32> all, const char* name, Stream stream) const {
    const u32 count = values_.natural(name);
    if (count > all.size()) {
      values_.fail(name, fmt::format("{} failures, but only {} can fail", count, all.size()),
                   fmt::format("use at most {}", all.size()));
    }
    const Random random(static_cast<u64>(values_.integer("failure_seed")), stream, 0, 0);
    for (u32 i = 0; i < count; ++i) {
      std::swap(all[i], all[i + below(random.at(i, 0)[0], static_cast<u32>(all.size()) - i)]);
    }
    all.resize(count);
    return all;
  }

  void fail_random_links() {
    if (values_.integer("random_failed_links") == 0) return;
    std::vector<u32> links;
    for (u32 c = 0; c < graph_.channels().size(); ++c) {
      const core::Channel& channel = graph_.channel(c);
      if (channel.from.terminal || channel.to.terminal || channel.failed) continue;
      const u32 back = opposite(graph_, c);
      if (back == kNone || c < back) links.push_back(c);
    }
    for (const u32 c : choose(std::move(links), "random_failed_links", kLinkStream)) fail_link(c);
  }

  void fail_switches() {
    if (values_.integers("failed_switches").empty() && values_.integer("random_failed_switches") == 0) return;
    std::vector<bool> gone(graph_.switches(), false);
    for (const i64 s : values_.integers("failed_switches")) {
      if (s >= static_cast<i64>(graph_.switches())) {
        values_.fail("failed_switches", fmt::format("switch {} is outside the network", s),
                     fmt::format("switches are 0 to {}", graph_.switches() - 1));
      }
      gone[static_cast<std::size_t>(s)] = true;
    }
    std::vector<u32> left;
    for (u32 s = 0; s < graph_.switches(); ++s) {
      if (!gone[s]) left.push_back(s);
    }
    for (const u32 s : choose(std::move(left), "random_failed_switches", kSwitchStream)) gone[s] = true;
    if (std::find(gone.begin(), gone.end(), true) == gone.end()) return;
    for (u32 c = 0; c < graph_.channels().size(); ++c) {
      const core::Channel& channel = graph_.channel(c);
      for (const core::End& end : {channel.from, channel.to}) {
        if (!end.terminal && gone[end.node]) graph_.fail_channel(c);
      }
    }
    const u32 before = graph_.terminals();
    graph_ = without_terminals_of(graph_, gone);
    lost_terminals_ = graph_.terminals() != before;
    if (graph_.terminals() < 2) {
      values_.fail("failed_switches", "fewer than 2 terminals are left", "let fewer switches fail");
    }
  }

  static constexpr Stream kLinkStream{"damage: links"};
  static constexpr Stream kSwitchStream{"damage: switches"};
  const config::Values& values_;
  core::Graph& graph_;
  bool lost_terminals_ = false;
};

}  // namespace banyan::topology::parts
