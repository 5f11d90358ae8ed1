// The order in which interchange boxes move their packets: those next to the destinations first, so that a box finds
// the places that became free behind it in the same cycle.
#pragma once

#include <span>
#include <vector>

#include "banyan/core/graph.hpp"
#include "banyan/switching/output_queued/layout.hpp"

namespace banyan::switching::output_queued {

class BoxOrder {
 public:
  /// Inputs of the boxes of one group, in one word of the bits per queue.
  struct InputWord {
    u32 word;
    u64 inputs;
  };
  /// Boxes that do not feed each other, and whose feeders all move after them: their order is free.
  struct Group {
    std::span<const u32> boxes;
    std::span<const InputWord> words;
    bool last;  ///< their outputs lead to terminals
  };

  /// In a network with cycles there is no such order: all boxes are one group.
  BoxOrder(const core::Graph& graph, const Layout& layout);
  BoxOrder(const BoxOrder&) = delete;
  BoxOrder& operator=(const BoxOrder&) = delete;

  [[nodiscard]] std::span<const u32> boxes() const noexcept { return boxes_; }
  [[nodiscard]] std::span<const Group> groups() const noexcept { return groups_; }
  /// Some box leads to terminals and to boxes, so that Group::last does not say where its outputs lead.
  [[nodiscard]] bool mixed() const noexcept { return mixed_; }

 private:
  void add_group(const Layout& layout, std::span<const u32> boxes, bool last);

  // The groups show parts of the first two.
  std::vector<u32> boxes_;
  std::vector<InputWord> words_;
  std::vector<Group> groups_;
  bool mixed_ = false;
};

}  // namespace banyan::switching::output_queued
