#include "banyan/switching/output_queued/queues.hpp"

namespace banyan::switching::output_queued {

Queues::Queues(const Layout& layout, u32 places)
    : layout_(layout),
      places_(places),
      ports_(~u64{0} >> (64 - layout.stride)),
      ejection_base_(layout.ejection_base),
      row_(std::bit_ceil(layout.queues)),
      wrap_(row_ * std::bit_ceil(places) - 1),
      full_(row_ * places),
      crowded_from_(places >= layout.stride ? row_ * (places - layout.stride + 1) : kNone),
      rings_(layout.queues, Ring{0, 0, layout.boxes, 0}),
      crowded_(layout.boxes + 1),
      closed_((layout.boxes + 1) * layout.stride / 64 + 1),
      entries_(std::size_t{wrap_} + 1),
      far_(entries_.size() * sizeof(Entry) > kFarBytes),
      occupied_(layout.ejection_base / 64),
      arrived_((layout.terminals + 63) / 64) {
  for (u32 i = 0; i < layout.target.size(); ++i) {
    if (layout.target[i] != kNone) rings_[layout.target[i]].box = i / layout.stride;
  }
}

void Queues::reset() {
  for (u32 q = 0; q < rings_.size(); ++q) rings_[q] = {q, 0, rings_[q].box, 0};
  std::fill(crowded_.begin(), crowded_.end(), crowded_from_ == kNone ? 1U : 0U);
  std::fill(closed_.begin(), closed_.end(), crowded_from_ == kNone ? ~u64{0} : u64{0});
  std::fill(occupied_.begin(), occupied_.end(), 0);
  std::fill(arrived_.begin(), arrived_.end(), 0);
}

}  // namespace banyan::switching::output_queued
