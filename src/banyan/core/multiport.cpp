#include "banyan/core/multiport.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace banyan::core {

void MultiportPlan::reserve(u32 destinations, u32 stages) {
  worms.reserve(destinations);
  masks.reserve(std::size_t{destinations} * stages);
  for (std::vector<u32>* const v : {&order, &label, &sorted, &size}) v->reserve(destinations);
}

Multiport::Multiport(const Topology& topology) {
  if (topology.tree() != nullptr) {
    for (const TreeLevel& level : topology.tree()->levels) stages_.push_back({level.port_divide, level.port_modulo});
  } else if (topology.multistage() != nullptr) {
    u32 divide = 1;
    for (u32 d = 0; d < topology.multistage()->digits; ++d, divide *= topology.multistage()->radix) {
      stages_.push_back({divide, topology.multistage()->radix});
    }
  } else {
    throw std::invalid_argument("multiport headers need a fat tree or a multistage network");
  }
  u32 bits = 0;
  for (const Stage& stage : stages_) {
    if (stage.radix > 64) throw std::invalid_argument("multiport headers need switches of at most 64 ports");
    bits += stage.radix;
  }
  header_flits_ = 1 + (bits + 15) / 16;
  std::set<std::vector<u32>> seen;
  for (u32 t = 0; t < topology.graph().terminals(); ++t) {
    std::vector<u32> digits;
    for (u32 l = 0; l < stages(); ++l) digits.push_back(digit(t, l));
    if (!seen.insert(digits).second) throw std::invalid_argument("the ways to two terminals have the same ports");
  }
}

/// Single destinations first; then, stage by stage, sets that differ in the ports of that stage only become one.
void Multiport::plan(u32 source, std::span<const u32> destinations, MultiportPlan& out) const {
  const u32 count = static_cast<u32>(destinations.size());
  const u32 width = stages();
  out.masks.resize(std::size_t{count} * width);
  out.label.resize(count);
  out.sorted.resize(count);
  const auto mask = [&](u32 set, u32 l) -> u64& { return out.masks[std::size_t{set} * width + l]; };
  for (u32 i = 0; i < count; ++i) {
    out.label[i] = i;
    for (u32 l = 0; l < width; ++l) mask(i, l) = u64{1} << digit(destinations[i], l);
  }
  for (u32 merged = 0; merged < width; ++merged) {
    const auto compare = [&](u32 a, u32 b) {
      for (u32 l = 0; l < width; ++l) {
        if (l != merged && mask(a, l) != mask(b, l)) return mask(a, l) < mask(b, l) ? -1 : 1;
      }
      return 0;
    };
    // Sets are known by their first destination, and `sorted` lists those.
    u32 sets = 0;
    for (u32 i = 0; i < count; ++i) {
      if (out.label[i] == i) out.sorted[sets++] = i;
    }
    const auto begin = out.sorted.begin();
    std::sort(begin, begin + sets, [&](u32 a, u32 b) {
      const int order = compare(a, b);
      return order != 0 ? order < 0 : a < b;
    });
    for (u32 i = 1, first = 0; i < sets; ++i) {
      if (compare(out.sorted[first], out.sorted[i]) != 0) {
        first = i;
        continue;
      }
      mask(out.sorted[first], merged) |= mask(out.sorted[i], merged);
      out.label[out.sorted[i]] = out.sorted[first];
    }
    for (u32 i = 0; i < count; ++i) out.label[i] = out.label[out.label[i]];
  }

  out.size.assign(count, 0);
  for (u32 i = 0; i < count; ++i) ++out.size[out.label[i]];
  for (u32 i = 0; i < count; ++i) out.sorted[i] = i;
  std::sort(out.sorted.begin(), out.sorted.end(), [&](u32 a, u32 b) {
    const u32 x = out.label[a];
    const u32 y = out.label[b];
    if (x == y) return a < b;
    return out.size[x] != out.size[y] ? out.size[x] > out.size[y] : x < y;
  });
  out.order.clear();
  out.worms.clear();
  out.phases = 0;
  u32 known = 1;  // terminals that have the message, and have had it when this phase began
  u32 next_sender = 0;
  for (u32 i = 0; i < count; ++i) {
    out.order.push_back(destinations[out.sorted[i]]);
    if (i != 0 && out.label[out.sorted[i]] == out.label[out.sorted[i - 1]]) {
      ++out.worms.back().end;
      continue;
    }
    if (next_sender == known) {
      next_sender = 0;
      known = 1 + i;
      ++out.phases;
    }
    const u32 sender = next_sender == 0 ? source : out.order[next_sender - 1];
    out.worms.push_back({sender, out.phases, i, i + 1});
    ++next_sender;
  }
  if (!out.worms.empty()) ++out.phases;
}

}  // namespace banyan::core
