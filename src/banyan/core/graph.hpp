// The network as a graph: switches with numbered input and output ports, terminals, and unidirectional channels.
#pragma once

#include <string>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::core {

/// One end of a channel: a port of a switch, or a terminal.
struct End {
  u32 node = kNone;  ///< switch or terminal
  u16 port = 0;      ///< port of the switch (0 for a terminal)
  bool terminal = false;

  static End of_switch(u32 s, u32 p) { return {s, static_cast<u16>(p), false}; }
  static End of_terminal(u32 t) { return {t, 0, true}; }
  bool operator==(const End&) const = default;
};

/// Physical properties of a channel.
struct Link {
  u32 latency_cycles = 1;   ///< cycles from sending to arrival, at least 1
  u32 cycles_per_flit = 1;  ///< serialization: inverse bandwidth
};

struct Channel {
  End from;
  End to;
  Link link;
  bool failed = false;  ///< kept in the graph for numbering, carries nothing
};

/// Ports are numbered globally: input port p of switch s is input_base(s) + p, likewise outputs. Every port carries at
/// most one channel. The builder functions throw std::logic_error on a port used twice.
class Graph {
 public:
  explicit Graph(u32 terminals = 0);

  /// Returns the new switch's number. `level`: stage or depth, for drawing and for stage statistics.
  u32 add_switch(u32 inputs, u32 outputs, u32 level = 0);
  /// Returns the new channel's number.
  u32 add_channel(End from, End to, Link link = {});
  void fail_channel(u32 channel) { channels_[channel].failed = true; }
  /// True when some channel has failed.
  [[nodiscard]] bool damaged() const;

  [[nodiscard]] u32 terminals() const { return static_cast<u32>(injection_.size()); }
  [[nodiscard]] u32 switches() const { return static_cast<u32>(level_.size()); }
  [[nodiscard]] u32 inputs(u32 s) const { return input_base_[s + 1] - input_base_[s]; }
  [[nodiscard]] u32 outputs(u32 s) const { return output_base_[s + 1] - output_base_[s]; }
  [[nodiscard]] u32 input_base(u32 s) const { return input_base_[s]; }
  [[nodiscard]] u32 output_base(u32 s) const { return output_base_[s]; }
  [[nodiscard]] u32 total_inputs() const { return input_base_.back(); }
  [[nodiscard]] u32 total_outputs() const { return output_base_.back(); }
  [[nodiscard]] u32 level(u32 s) const { return level_[s]; }
  [[nodiscard]] u32 levels() const;

  [[nodiscard]] const std::vector<Channel>& channels() const { return channels_; }
  [[nodiscard]] const Channel& channel(u32 c) const { return channels_[c]; }
  /// Channel at a port, or kNone when nothing is attached.
  [[nodiscard]] u32 channel_into(u32 s, u32 port) const { return into_[input_base_[s] + port]; }
  [[nodiscard]] u32 channel_out_of(u32 s, u32 port) const { return out_of_[output_base_[s] + port]; }
  /// Channel from / to a terminal, or kNone.
  [[nodiscard]] u32 injection(u32 terminal) const { return injection_[terminal]; }
  [[nodiscard]] u32 ejection(u32 terminal) const { return ejection_[terminal]; }

  /// Switches in an order in which every channel between switches leads from an earlier to a later one; empty when
  /// the graph has a cycle.
  [[nodiscard]] std::vector<u32> topological_order() const;
  /// Channels between each switch and `start`, on a shortest way from there over channels that work; kNone where there
  /// is none.
  [[nodiscard]] std::vector<u32> distances_from(u32 start) const;
  /// Ports of the largest switch, of either direction; at least 1.
  [[nodiscard]] u32 most_ports() const;

 private:
  std::vector<Channel> channels_;
  std::vector<u32> level_;
  std::vector<u32> input_base_{0};
  std::vector<u32> output_base_{0};
  std::vector<u32> into_;
  std::vector<u32> out_of_;
  std::vector<u32> injection_;
  std::vector<u32> ejection_;
};

}  // namespace banyan::core
