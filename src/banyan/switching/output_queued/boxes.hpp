// All interchange boxes of a network: what they hold, and what an observer asks about it (digest, conservation, who
// waits for whom). How they move is in synchronous_boxes.hpp.
#pragma once

#include <memory>
#include <vector>

#include "banyan/engine/builder.hpp"
#include "banyan/engine/population.hpp"
#include "banyan/engine/terminals.hpp"
#include "banyan/switching/output_queued/box_order.hpp"
#include "banyan/switching/output_queued/fetch_adds.hpp"
#include "banyan/switching/output_queued/layout.hpp"
#include "banyan/switching/output_queued/queues.hpp"

namespace banyan::switching::output_queued {

class Boxes : public engine::Population {
 public:
  /// `combining`: nullptr where no packet is a fetch-and-add.
  Boxes(engine::Builder& builder, u32 ports, u32 places, const CombiningParameters* combining);

  void reset(u32 replication) override;
  void archive(Archive& a) override;
  u64 digest() const override;
  void hold(engine::Holdings& into) const override;
  u64 movements() const noexcept override;
  engine::OwnMetrics* own_metrics() noexcept override;
  /// A packet moves over a link, through a box and into the buffer behind it at once; from the last one it leaves.
  bool activity(engine::Activity& into) const override;
  void blocked_on(engine::BlockedView& into) const override;
  void occupancy(std::vector<u64>& levels) const override;
  void full_channels(std::vector<u32>& channels) const override;

 protected:
  /// The message that the terminal showed in this slot is gone.
  void free_slot(u32 q) noexcept {
    const u32 terminal = layout_.terminal_of_slot[q];
    free_slots_[terminal >> 6U] |= u64{1} << (terminal & 63U);
  }

  const core::Graph& graph_;
  engine::Terminals& terminals_;
  engine::PacketPool& pool_;
  const Layout layout_;
  const BoxOrder order_;
  Queues queues_;
  std::vector<u64> free_slots_;  ///< bit per terminal, and one that nobody reads for queues that are no slots
  u64 movements_ = 0;
  u64 left_ = 0;  ///< packets that reached a terminal or its memory, where there are fetch-and-adds
  std::unique_ptr<FetchAdds> fetch_adds_;  ///< nullptr: no packet is one

 private:
  void show_queue(engine::Resource here, u32 q, u32 places, engine::BlockedView& into) const;
};

}  // namespace banyan::switching::output_queued
