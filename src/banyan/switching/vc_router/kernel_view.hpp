// What an observer asks the fast kernel of vc_router about: digest and conservation.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "banyan/switching/vc_router/kernel.hpp"

namespace banyan::switching::parts {

template <bool OneWord, u32 Shift, bool Fetches>
template <class F>
void VcRouterKernel<OneWord, Shift, Fetches>::for_each_coming(F&& f) const {
  std::vector<u16> coming(kBlock * layout_.size());  // of a block
  for (u32 b = 0; b < blocks_; ++b) {
    std::fill(coming.begin(), coming.end(), u16{0});
    for (std::size_t list = b; list < counts_.size(); list += blocks_) {
      for (u32 k = 0; k < counts_[list].flits; ++k) {
        const u32 it = items_[list * room_ + k];
        const u32 e = b * kBlock + router_of(it);
        const u32 i = vc_of(it);
        const RingState ring = inputs_[base(e) + i].ring;
        f(e, i, flits_.at(e, i, ring, ring.count + u32{coming[base(router_of(it)) + i]++}));
      }
    }
  }
}

template <bool OneWord, u32 Shift, bool Fetches>
std::vector<u64> VcRouterKernel<OneWord, Shift, Fetches>::heads_by_slot(u32 slots) const {
  std::vector<u64> bits(std::size_t{entities()} * slots * words());
  for (std::size_t list = 0; list < counts_.size(); ++list) {
    const std::size_t slot = list / blocks_ & (slots - 1);
    for (u32 k = 0; k < counts_[list].heads; ++k) {
      const u32 it = items_[list * room_ + heads_at_ + k];
      const std::size_t e = list % blocks_ * kBlock + router_of(it);
      set_bit(&bits[(e * slots + slot) * words()], vc_of(it));
    }
  }
  return bits;
}

/// Output ports that somebody waits for.
template <bool OneWord, u32 Shift, bool Fetches>
u64 VcRouterKernel<OneWord, Shift, Fetches>::wanted_ports(u32 e) const noexcept {
  u64 ports = 0;
  for (u32 p = 0; p < layout_.ports(); ++p) {
    ports |= (wanted_[std::size_t{e / kBlock} * layout_.ports() + p] >> (e % kBlock) & 1U) << p;
  }
  return ports;
}

/// Output ports for which some input virtual channel can send.
template <bool OneWord, u32 Shift, bool Fetches>
u64 VcRouterKernel<OneWord, Shift, Fetches>::asked_ports(u32 e) const noexcept {
  u64 ports = 0;
  for (u32 p = 0; p < layout_.ports(); ++p) {
    for (u32 w = 0; w < words(); ++w) {
      const u64 row = owners_[(std::size_t{e} * layout_.ports() + p) * words() + w];
      ports |= u64{(row & set(kFilled, e)[w] & ~set(kStarved, e)[w]) != 0} << p;
    }
  }
  return ports;
}

template <bool OneWord, u32 Shift, bool Fetches>
u64 VcRouterKernel<OneWord, Shift, Fetches>::digest() const {
  u64 sum = 0;
  const u32 slots = std::bit_ceil(setup_.pipeline.routing + 2);
  const std::vector<u64> routing = heads_by_slot(slots);
  const std::size_t rows = std::size_t{layout_.ports()} * words();
  for (u32 e = 0; e < entities(); ++e) {
    Hasher h;
    digest_base(e, h);
    for (u32 p = 0; p < layout_.ports(); ++p) {
      const PortState& a = port_states_[std::size_t{e} * layout_.ports() + p];
      for (const u32 pointer : {u32{a.vc}, u32{a.input}, u32{a.output}}) h.add(pointer);
    }
    for (u32 i = 0; i < layout_.size(); ++i) {
      h.add(outputs_[base(e) + i].head);
      h.add(inputs_[base(e) + i].first);
    }
    // Flits on their way are counted one by one below, credits by what they come to.
    h.add(wanted_ports(e));
    h.add(asked_ports(e));
    for (u32 kind = 0; kind < kHashed; ++kind) {
      for (u32 w = 0; w < words(); ++w) h.add(set(kind, e)[w]);
    }
    for (std::size_t k = 0; k < std::size_t{slots} * words(); ++k) {
      h.add(routing[std::size_t{e} * slots * words() + k]);
    }
    for (std::size_t k = 0; k < rows; ++k) h.add(waiting_[e * rows + k]);
    for (std::size_t k = 0; k < rows; ++k) {
      const u32 w = static_cast<u32>(k % words());
      h.add(owners_[e * rows + k] & set(kFilled, e)[w] & ~set(kStarved, e)[w]);
    }
    sum += h.value();
  }
  for_each_coming([&](u32, u32, const BufferedFlit& flit) {
    sum += engine::flit_digest(this->packet(flit.packet()), flit.unpack(0));
  });
  return sum;
}

/// What is on its way between routers of the shard: flits and credits.
template <bool OneWord, u32 Shift, bool Fetches>
void VcRouterKernel<OneWord, Shift, Fetches>::hold_coming(engine::Holdings& into) const {
  for_each_coming([&](u32 e, u32 i, const BufferedFlit& flit) {
    into.add(flit.unpack(0));
    hold_arrival(e, layout_.port(i), flit.unpack(static_cast<u8>(layout_.vc(i))), into);
  });
  for (std::size_t list = 0; list < counts_.size(); ++list) {
    for (u32 k = 0; k < counts_[list].credits; ++k) {
      const u32 it = items_[list * room_ + credits_at_ + k];
      const u32 e = static_cast<u32>(list % blocks_) * kBlock + router_of(it);
      const u32 o = vc_of(it);
      hold_arrival(e, layout_.port(o), core::Control{engine::kCredit, static_cast<u16>(layout_.vc(o)), 1}, into);
    }
  }
}

/// Conservation, and the bits against what they stand for.
template <bool OneWord, u32 Shift, bool Fetches>
void VcRouterKernel<OneWord, Shift, Fetches>::hold(engine::Holdings& into) const {
  Base::hold(into);
  hold_coming(into);
  const std::vector<u64> routing = heads_by_slot(1);
  // Bits of each output port: of heads that wait for it, and of those that own a virtual channel of it.
  std::vector<std::array<u32, 2>> of_port(layout_.ports());
  for (u32 e = 0; e < entities(); ++e) {
    std::fill(of_port.begin(), of_port.end(), std::array<u32, 2>{});
    const auto row = [&](u32 p) { return (std::size_t{e} * layout_.ports() + p) * words(); };
    const auto summary = [&](const std::vector<u64>& bits, u32 p) {
      return (bits[std::size_t{e / kBlock} * layout_.ports() + p] >> (e % kBlock) & 1U) != 0;
    };
    for (u32 p = 0; p < layout_.ports(); ++p) {
      if (summary(wanted_, p) != any(&waiting_[row(p)]) || summary(owned_, p) != any(&owners_[row(p)])) {
        into.violations.push_back(violation(e, layout_.index(p, 0), "the summary of the port is wrong"));
      }
    }
    for (u32 i = 0; i < layout_.size(); ++i) {
      if (layout_.vc(i) >= layout_.vcs()) continue;
      const InputVc& in = inputs_[base(e) + i];
      const OutputVc& out = outputs_[base(e) + i];
      const auto check = [&](bool bit, bool truth, const char* what) {
        if (bit != truth) into.violations.push_back(violation(e, i, what));
      };
      check(test_bit(set(kCredit, e), i), out.credits != 0, "credit bit and count disagree");
      check(test_bit(set(kHeld, e), i), out.holder != kNobody, "held bit is wrong");
      check(test_bit(set(kAdaptiveHeads, e), i), in.vc == kAdaptive, "adaptive bit is wrong");
      check(test_bit(&routing[std::size_t{e} * words()], i), in.vc == kFresh && in.ring.count != 0,
            "routing bit is wrong");
      const bool holds = in.vc < kMostVcs;
      if (in.vc == kRouted) {
        check(test_bit(&waiting_[row(in.port)], i), true, "waiting bit is wrong");
        ++of_port[in.port][0];
      }
      if (holds) {
        check(test_bit(&owners_[row(in.port)], i), true, "owner's bit is wrong");
        ++of_port[in.port][1];
      }
      check(test_bit(set(kFilled, e), i), in.ring.count != 0, "filled bit is wrong");
      check(test_bit(set(kHolding, e), i), holds, "holding bit is wrong");
      const bool starved = holds && outputs_[base(e) + layout_.index(in.port, in.vc)].credits == 0;
      check(test_bit(set(kStarved, e), i), starved, "starved bit is wrong");
    }
    // All bits that are to be set are: where there are as many, there are no others.
    const auto count = [&](const u64* bits) {
      u32 sum = 0;
      for (u32 w = 0; w < words(); ++w) sum += static_cast<u32>(std::popcount(bits[w]));
      return sum;
    };
    for (u32 p = 0; p < layout_.ports(); ++p) {
      if (count(&waiting_[row(p)]) != of_port[p][0] || count(&owners_[row(p)]) != of_port[p][1]) {
        into.violations.push_back(violation(e, layout_.index(p, 0), "a head waits or owns that does not"));
      }
    }
  }
}

}  // namespace banyan::switching::parts
