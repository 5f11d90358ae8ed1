// Multicasts to random sets of terminals, alone or among messages with one destination; replicated by the switches, or
// forwarded by the terminals along a binomial tree.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/core/multiport.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/traffic/parts/injection.hpp"

namespace banyan::traffic {

/// A part of the chain of a multicast that one terminal covers: chain[low] ... chain[high], its own place among them.
struct Segment {
  u32 low = 0;
  u32 high = 0;
  u32 own = 0;
};
/// What it sends first: the node at the boundary of the other half receives, and covers that half.
struct Half {
  u32 target = 0;
  Segment theirs;
  Segment rest;
};
/// Requires low < high.
[[nodiscard]] Half split(const Segment& segment) noexcept;

/// Order of the terminals in the chains of U-Min.
class ChainOrder {
 public:
  /// The order that the parameter `chain` names: by number, or so that the terminals below every switch of a tree stand
  /// together. Then a part of a chain leaves or enters what is below a switch once at a time, and messages of a lone
  /// multicast meet on no link (Xu, Gui, Ni 1994). Numbers do that where the digits of a level are the highest ones of
  /// a number; under the perfect shuffle they are the lowest.
  ChainOrder(const config::Values& values, const core::TrafficContext& context);

  static config::Parameter parameter();

  [[nodiscard]] u32 place(u32 terminal) const noexcept { return places_.empty() ? terminal : places_[terminal]; }
  [[nodiscard]] u32 terminal(u32 place) const noexcept { return places_.empty() ? place : terminals_[place]; }

 private:
  std::vector<u32> places_;     ///< [terminal]; empty: the order of the numbers
  std::vector<u32> terminals_;  ///< [place]
};

class Multicasts : public core::Traffic {
 public:
  static std::vector<config::Parameter> parameters(double share);

  Multicasts(const config::Values& values, const core::TrafficContext& context);

  void begin(u32 replication) override;
  bool next(u32 terminal, u64 nth, Tick previous, core::Message& out) const noexcept override;
  double offered_load() const noexcept override { return load_; }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    return {.answers = forwards(),
            .multicasts = true,
            .replicates = !software_,
            .header_flits = multiport_ ? multiport_->header_flits() : 0,
            .longest_message = size_,
            .shortest_message = size_};
  }

  void destinations(u32 terminal, u64 nth, const core::Message& message, std::span<u64> bits) const noexcept override;
  core::MulticastGroup multicast_of(const core::Packet& packet) const noexcept override;

  void start(u32 terminal, core::Outbox& out) noexcept override;
  void departed(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override;
  void delivered(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override;
  bool unposted(u32 terminal, u64 ahead, core::Message& out) const noexcept override;
  u64 digest(u32 terminal) const noexcept override;
  void archive(Archive& a) override { a(sources_); }

 private:
  /// What is kept of a terminal whose multicasts others forward.
  struct Source {
    u64 generated = 0;
    Tick previous = kNever;
    u32 left = 0;   ///< messages of the latest multicast that have not left
    u32 state = 0;  ///< core::Message::state
  };

  [[nodiscard]] bool is_multicast(u32 terminal, u64 nth) const noexcept;
  /// Calls f(drawn, otherwise) per destination: the first, or the second when the first is taken already. Both count
  /// the other terminals only.
  template <class F>
  void draw(u32 terminal, u64 nth, F&& f) const noexcept;
  void draw_all(u32 origin, u64 nth, std::vector<u32>& into) const noexcept;
  void generate(u32 terminal, core::Outbox& out) noexcept;
  u32 send(u32 terminal, u32 origin, u64 nth, Tick birth, core::Outbox& out) noexcept;
  u32 send_worms(u32 terminal, u32 origin, u64 nth, Tick birth, core::Outbox& out) noexcept;
  /// The `count`th message that the terminal sends of a multicast, its own or one that it forwards.
  [[nodiscard]] core::Message part(u32 terminal, u32 origin, u64 nth, Tick birth, u32 count) const noexcept;
  [[nodiscard]] bool forwards() const noexcept { return software_ || multiport_.has_value(); }
  /// The worms of a multicast; valid until the next call for `by`.
  const core::MultiportPlan& plan(u32 by, u32 origin, u64 nth) const noexcept;
  [[nodiscard]] u32 tag_of(u32 origin, u64 nth) const noexcept { return static_cast<u32>(nth * terminals_ + origin); }

  u32 terminals_;
  u32 degree_;
  u32 size_;
  double load_;
  double share_;
  bool software_;
  Tick startup_;
  u64 seed_;
  u32 index_;
  u64 multicast_below_;  ///< a 32-bit word below this makes a multicast
  Process process_;
  ChainOrder order_;
  Random random_;  ///< when messages are generated, whether they are multicasts, the destination of others
  Random ways_;
  Random sets_;   ///< destinations of multicasts
  Random parts_;  ///< ways of what is forwarded
  std::vector<Source> sources_;
  /// [terminal]: room for a chain (places in its order) or a plan, for calls on behalf of that terminal
  mutable std::vector<std::vector<u32>> chains_;
  mutable std::vector<core::MultiportPlan> plans_;
  std::optional<core::Multiport> multiport_;
};

[[nodiscard]] std::unique_ptr<core::Traffic> make_multicasts(const config::Values& values,
                                                             const core::TrafficContext& context);

}  // namespace banyan::traffic
