// The network as a graph: switches with numbered input and output ports, terminals, and unidirectional channels.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
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

/// How a regular network is wired, as functions of its numbers: nobody has to list its channels. Input and output ports
/// of a switch carry the same numbers, and the two directions of a link join ports of the same numbers.
class Wiring {
 public:
  /// Switches with consecutive numbers that are alike.
  struct Block {
    u32 switches = 0;
    u32 ports = 0;  ///< inputs, and as many outputs
    u32 level = 0;
  };
  /// Where a channel leads; no node (kNone): there is no channel.
  struct Way {
    End to;
    Link link;
  };

  virtual ~Wiring() = default;

  [[nodiscard]] virtual u32 terminals() const = 0;
  [[nodiscard]] virtual u32 channels() const = 0;
  /// All switches in their order.
  [[nodiscard]] virtual std::vector<Block> blocks() const = 0;
  [[nodiscard]] virtual Way way(const End& from) const = 0;
  /// The number of the channel that begins at an end, where there is one.
  [[nodiscard]] virtual u32 number(const End& from) const = 0;
  /// Where a channel begins.
  [[nodiscard]] virtual End begin_of(u32 channel) const = 0;
};

/// Ports are numbered globally: input port p of switch s is input_base(s) + p, likewise outputs. Every port carries at
/// most one channel. A graph is a list of switches and channels, or, where it is made from the wiring of a network with
/// more than kMostListed channels, computes what it is asked: a million terminals take no memory then.
/// The builder functions throw std::logic_error on a port used twice.
class Graph {
 public:
  static constexpr u64 kMost = u64{1} << 31U;  ///< channels, which topologies see to
  /// A list of so many channels takes some 50 MB, and answers faster.
  static constexpr u32 kMostListed = u32{1} << 20U;

  /// All channels of a graph, each by value.
  class Channels {
   public:
    class Iterator {
     public:
      using iterator_category = std::input_iterator_tag;  // NOLINT(readability-identifier-naming): the library's names
      using value_type = Channel;                         // NOLINT(readability-identifier-naming)
      using difference_type = std::ptrdiff_t;             // NOLINT(readability-identifier-naming)
      using pointer = const Channel*;                     // NOLINT(readability-identifier-naming)
      using reference = Channel;                          // NOLINT(readability-identifier-naming)

      Iterator(const Graph* graph, u32 at) : graph_(graph), at_(at) {}
      Channel operator*() const { return graph_->channel(at_); }
      Iterator& operator++() {
        ++at_;
        return *this;
      }
      Iterator operator++(int) { return {graph_, at_++}; }
      bool operator==(const Iterator&) const = default;

     private:
      const Graph* graph_;
      u32 at_;
    };

    explicit Channels(const Graph& graph) : graph_(&graph) {}
    [[nodiscard]] std::size_t size() const { return graph_->count_; }
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] Channel operator[](std::size_t c) const { return graph_->channel(static_cast<u32>(c)); }
    [[nodiscard]] Iterator begin() const { return {graph_, 0}; }
    [[nodiscard]] Iterator end() const { return {graph_, graph_->count_}; }

   private:
    const Graph* graph_;
  };

  explicit Graph(u32 terminals = 0);
  explicit Graph(std::shared_ptr<const Wiring> wiring, u32 most_listed = kMostListed);

  /// Returns the new switch's number. `level`: stage or depth, for drawing and for stage statistics. Not for a graph
  /// that computes.
  u32 add_switch(u32 inputs, u32 outputs, u32 level = 0);
  /// Returns the new channel's number. Not for a graph that computes.
  u32 add_channel(End from, End to, Link link = {});
  /// A graph that computes becomes a list.
  void fail_channel(u32 channel);
  /// True when some channel has failed.
  [[nodiscard]] bool damaged() const;
  /// True when nothing is listed.
  [[nodiscard]] bool computes() const { return !listed_; }
  /// What the graph is made from; nullptr: from what was added, or something has failed since.
  [[nodiscard]] const std::shared_ptr<const Wiring>& wiring() const { return wiring_; }

  [[nodiscard]] u32 terminals() const { return terminals_; }
  [[nodiscard]] u32 switches() const { return switches_; }
  [[nodiscard]] u32 inputs(u32 s) const { return listed_ ? input_base_[s + 1] - input_base_[s] : block_of(s).ports; }
  [[nodiscard]] u32 outputs(u32 s) const { return listed_ ? output_base_[s + 1] - output_base_[s] : block_of(s).ports; }
  [[nodiscard]] u32 input_base(u32 s) const { return listed_ ? input_base_[s] : block_of(s).base_of(s); }
  [[nodiscard]] u32 output_base(u32 s) const { return listed_ ? output_base_[s] : block_of(s).base_of(s); }
  [[nodiscard]] u32 total_inputs() const { return listed_ ? input_base_.back() : total_ports_; }
  [[nodiscard]] u32 total_outputs() const { return listed_ ? output_base_.back() : total_ports_; }
  [[nodiscard]] u32 level(u32 s) const { return listed_ ? level_[s] : block_of(s).level; }
  [[nodiscard]] u32 levels() const;

  [[nodiscard]] Channels channels() const { return Channels(*this); }
  [[nodiscard]] Channel channel(u32 c) const { return listed_ ? channels_[c] : compute(c); }
  /// Channel at a port, or kNone when nothing is attached.
  [[nodiscard]] u32 channel_into(u32 s, u32 port) const {
    return listed_ ? into_[input_base_[s] + port] : compute_into(End::of_switch(s, port));
  }
  [[nodiscard]] u32 channel_out_of(u32 s, u32 port) const {
    return listed_ ? out_of_[output_base_[s] + port] : compute_out_of(End::of_switch(s, port));
  }
  /// Channel from / to a terminal, or kNone.
  [[nodiscard]] u32 injection(u32 terminal) const {
    return listed_ ? injection_[terminal] : compute_out_of(End::of_terminal(terminal));
  }
  [[nodiscard]] u32 ejection(u32 terminal) const {
    return listed_ ? ejection_[terminal] : compute_into(End::of_terminal(terminal));
  }

  /// Switches in an order in which every channel between switches leads from an earlier to a later one; empty when
  /// the graph has a cycle.
  [[nodiscard]] std::vector<u32> topological_order() const;
  /// Channels between each switch and `start`, on a shortest way from there over channels that work; kNone where there
  /// is none.
  [[nodiscard]] std::vector<u32> distances_from(u32 start) const;
  /// Ports of the largest switch, of either direction; at least 1.
  [[nodiscard]] u32 most_ports() const;

 private:
  /// Wiring::Block with where it begins.
  struct Block {
    u32 first = 0;  ///< switch
    u32 base = 0;   ///< its first port
    u32 ports = 0;  ///< of each switch
    u32 level = 0;
    [[nodiscard]] u32 base_of(u32 s) const { return base + (s - first) * ports; }
  };

  void list();
  [[nodiscard]] const Block& block_of(u32 s) const {
    std::size_t i = blocks_.size() - 1;
    while (blocks_[i].first > s) --i;
    return blocks_[i];
  }
  [[nodiscard]] Channel compute(u32 c) const;
  [[nodiscard]] u32 compute_into(const End& to) const;
  [[nodiscard]] u32 compute_out_of(const End& from) const;

  u32 terminals_ = 0;
  u32 switches_ = 0;
  u32 count_ = 0;  ///< channels
  bool listed_ = true;
  std::shared_ptr<const Wiring> wiring_;
  std::vector<Block> blocks_;  ///< of a graph that computes
  u32 total_ports_ = 0;        ///< likewise
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
