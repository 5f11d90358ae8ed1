// Are the allocators' matchings valid, as large as they promise, and fair?
#include "banyan/switching/vc_router/allocator.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/hash.hpp"

namespace banyan::allocator_test {
namespace {

using banyan::Hasher;
using banyan::kNone;
using banyan::u32;
using banyan::u64;
using banyan::switching::parts::Allocator;
using banyan::switching::parts::AllocatorKind;
using banyan::switching::parts::ArbiterKind;
using banyan::switching::parts::Arbiters;

using Requests = std::vector<std::pair<u32, u32>>;
using Matching = Requests;

constexpr banyan::Stream kTestWords{"allocator_test: matchings"};

const std::vector<AllocatorKind> kKinds{
    AllocatorKind::input_first, AllocatorKind::output_first, AllocatorKind::islip,   AllocatorKind::pim,
    AllocatorKind::pim_offset,  AllocatorKind::wavefront,    AllocatorKind::max_size};
const std::vector<ArbiterKind> kArbiters{ArbiterKind::round_robin, ArbiterKind::matrix, ArbiterKind::age};

Matching matched(Allocator& allocator, const Requests& requests, u32 inputs, u32 instance = 0, u64 step = 0) {
  allocator.begin(instance, 0, step);
  for (const auto& [input, output] : requests) allocator.request(input, output, input * 7 + output);
  allocator.allocate();
  Matching result;
  for (u32 i = 0; i < inputs; ++i) {
    if (allocator.of_input(i) == kNone) continue;
    result.emplace_back(i, allocator.of_input(i));
  }
  return result;
}

bool valid(const Matching& matching, const Requests& requests) {
  std::set<u32> inputs;
  std::set<u32> outputs;
  return std::all_of(matching.begin(), matching.end(), [&](const auto& m) {
    return std::find(requests.begin(), requests.end(), m) != requests.end() && inputs.insert(m.first).second &&
           outputs.insert(m.second).second;
  });
}

/// No request whose input and output are both without a partner.
bool maximal(const Matching& matching, const Requests& requests) {
  return std::all_of(requests.begin(), requests.end(), [&](const auto& r) {
    return std::any_of(matching.begin(), matching.end(),
                       [&](const auto& m) { return m.first == r.first || m.second == r.second; });
  });
}

/// Size of the largest matching, by trying everything: the next input takes any free output, or none.
std::size_t largest(const Requests& requests, u32 inputs, u32 input, u32 used) {
  if (input == inputs) return 0;
  std::size_t best = largest(requests, inputs, input + 1, used);
  for (const auto& [i, o] : requests) {
    if (i != input || (used >> o & 1U) != 0) continue;
    best = std::max(best, 1 + largest(requests, inputs, input + 1, used | 1U << o));
  }
  return best;
}

Requests random_requests(u32 inputs, u32 outputs) {
  Requests requests;
  const u32 density = *rc::gen::inRange(1U, 100U);
  for (u32 i = 0; i < inputs; ++i) {
    for (u32 o = 0; o < outputs; ++o) {
      if (*rc::gen::inRange(0U, 100U) < density) requests.emplace_back(i, o);
    }
  }
  return requests;
}

RC_GTEST_PROP(Allocators, MatchAtMostOneRequestPerInputAndOutput, ()) {
  const u32 inputs = *rc::gen::inRange(1U, 9U);
  const u32 outputs = *rc::gen::inRange(1U, 9U);
  const AllocatorKind kind = *rc::gen::elementOf(kKinds);
  const ArbiterKind arbiter = *rc::gen::elementOf(kArbiters);
  Allocator allocator({kind, arbiter, *rc::gen::inRange(1U, 4U), inputs, outputs}, 2);
  for (u32 round = 0; round < 5; ++round) {
    const Requests requests = random_requests(inputs, outputs);
    const Matching matching = matched(allocator, requests, inputs, round % 2);
    RC_ASSERT(valid(matching, requests));
    RC_ASSERT(requests.empty() || !matching.empty());
  }
}

RC_GTEST_PROP(Allocators, AreMaximalWhereTheyPromiseIt, ()) {
  const u32 inputs = *rc::gen::inRange(1U, 8U);
  const u32 outputs = *rc::gen::inRange(1U, 8U);
  const Requests requests = random_requests(inputs, outputs);
  const std::size_t most = largest(requests, inputs, 0, 0);
  for (const AllocatorKind kind : kKinds) {
    const bool separable = kind != AllocatorKind::wavefront && kind != AllocatorKind::max_size;
    // An iteration that changes nothing ends a separable allocator: as many as inputs are enough.
    Allocator allocator({kind, ArbiterKind::round_robin, separable ? inputs : 1, inputs, outputs}, 1);
    for (u32 round = 0; round < 4; ++round) {
      const Matching matching = matched(allocator, requests, inputs);
      RC_ASSERT(maximal(matching, requests));
      RC_ASSERT(2 * matching.size() >= most);
      RC_ASSERT(kind != AllocatorKind::max_size || matching.size() == most);
    }
  }
}

TEST(Allocators, LonelyInputsTakeTheOutputThatFewestWant) {
  Allocator allocator({AllocatorKind::lonely, ArbiterKind::round_robin, 1, 3, 3}, 1);
  // Output 0 is wanted by all, output 1 by the first input only.
  const Requests requests{{0, 0}, {0, 1}, {1, 0}, {2, 0}};
  EXPECT_EQ(matched(allocator, requests, 3), (Matching{{0, 1}, {1, 0}}));
  // Its turn moved on by one place, which is that input's again; then the other's.
  EXPECT_EQ(matched(allocator, requests, 3), (Matching{{0, 1}, {1, 0}}));
  EXPECT_EQ(matched(allocator, requests, 3), (Matching{{0, 1}, {2, 0}}));
}

RC_GTEST_PROP(Allocators, LonelyMatchesAreAmongTheRequests, ()) {
  const Requests requests = random_requests(6, 5);
  Allocator allocator({AllocatorKind::lonely, ArbiterKind::round_robin, 1, 6, 5}, 1);
  for (u32 round = 0; round < 8; ++round) {
    const Matching matching = matched(allocator, requests, 6);
    RC_ASSERT(valid(matching, requests));
    RC_ASSERT(requests.empty() || !matching.empty());
  }
}

RC_GTEST_PROP(Allocators, InstancesDoNotKnowEachOther, ()) {
  const AllocatorKind kind = *rc::gen::elementOf(kKinds);
  const ArbiterKind arbiter = *rc::gen::elementOf(kArbiters);
  Allocator together({kind, arbiter, 2, 5, 5}, 2);
  Allocator alone({kind, arbiter, 2, 5, 5}, 1);
  for (u32 round = 0; round < 10; ++round) {
    const Requests mine = random_requests(5, 5);
    matched(together, random_requests(5, 5), 5, 0);
    RC_ASSERT(matched(together, mine, 5, 1) == matched(alone, mine, 5));
  }
  Hasher a;
  Hasher b;
  together.digest(1, a);
  alone.digest(0, b);
  RC_ASSERT(a.value() == b.value());
}

/// McKeown 1999: under persistent requests every request is served at least once in inputs x outputs slots, and under
/// full load iSLIP becomes a round-robin of permutations.
TEST(Allocators, SeparableOnesServeEveryPersistentRequest) {
  for (const AllocatorKind kind : {AllocatorKind::input_first, AllocatorKind::output_first, AllocatorKind::islip}) {
    for (const ArbiterKind arbiter : {ArbiterKind::round_robin, ArbiterKind::matrix}) {
      constexpr u32 kSize = 6;
      Allocator allocator({kind, arbiter, 1, kSize, kSize}, 1);
      Requests all;
      for (u32 i = 0; i < kSize; ++i) {
        for (u32 o = 0; o < kSize; ++o) all.emplace_back(i, o);
      }
      std::vector<u32> served(kSize * kSize, 0);
      constexpr u32 kSlots = 50 * kSize;
      for (u32 slot = 0; slot < kSlots; ++slot) {
        for (const auto& [i, o] : matched(allocator, all, kSize)) ++served[i * kSize + o];
      }
      const auto [least, most] = std::minmax_element(served.begin(), served.end());
      EXPECT_GE(*least, 40U);
      EXPECT_LE(*most, 50U) << "at full load every pair gets its share";
    }
  }
}

Requests all_requests(u32 size) {
  Requests all;
  for (u32 i = 0; i < size; ++i) {
    for (u32 o = 0; o < size; ++o) all.emplace_back(i, o);
  }
  return all;
}

/// Anderson et al. 1993, section 3.1: each output grants one of its requests at random, and each input accepts one of
/// its grants. Under full load an iteration matches 1 - 1/e of many ports, of four 1 - (3/4)^4 of those that have a
/// grant.
TEST(Allocators, PimServesAllPairsAlikeAndAsManyAsTheory) {
  constexpr u32 kSize = 4;
  Allocator allocator({AllocatorKind::pim, ArbiterKind::round_robin, 1, kSize, kSize}, 1);
  allocator.reset({1, kTestWords, 0, 0});
  std::vector<u32> served(kSize * kSize, 0);
  double matches = 0.0;
  constexpr u32 kSlots = 40000;
  for (u32 slot = 0; slot < kSlots; ++slot) {
    for (const auto& [i, o] : matched(allocator, all_requests(kSize), kSize, 0, slot)) {
      ++served[i * kSize + o];
      matches += 1.0;
    }
  }
  const double share = 1.0 - std::pow(0.75, 4);
  EXPECT_NEAR(matches / kSlots / kSize, share, 0.005);
  for (const u32 count : served) EXPECT_NEAR(count, kSlots * share / kSize, 5.0 * std::sqrt(kSlots * share / kSize));
}

/// The first that asks at or behind a place that is drawn: of the inputs 1 and 2 of port 0 and input 0 of port 1, with
/// three lanes of a port that takes four numbers, the gap before decides.
TEST(Allocators, PimOffsetTakesTheFirstBehindARandomPlace) {
  Allocator allocator({AllocatorKind::pim_offset, ArbiterKind::round_robin, 1, 8, 8, 2, 3}, 1);
  allocator.reset({1, kTestWords, 0, 0});
  const Requests requests{{1, 0}, {2, 0}, {4, 0}};
  std::vector<double> share(8, 0.0);
  constexpr u32 kSlots = 40000;
  for (u32 slot = 0; slot < kSlots; ++slot) {
    const Matching matching = matched(allocator, requests, 8, 0, slot);
    ASSERT_EQ(matching.size(), 1U);
    share[matching.front().first] += 1.0 / kSlots;
  }
  // Places 1, 2 and 3 of six: those behind 3 come round to 1.
  EXPECT_NEAR(share[1], 4.0 / 6, 0.012);
  EXPECT_NEAR(share[2], 1.0 / 6, 0.01);
  EXPECT_NEAR(share[4], 1.0 / 6, 0.01);
}

/// Anderson et al. 1993, section 3.2: three quarters of the open requests, or more, are resolved by an iteration, so
/// that log2 n + 4/3 of them are enough in the mean for a maximal matching.
TEST(Allocators, PimIsMaximalAfterFewIterations) {
  constexpr u32 kSize = 16;
  u32 maximal_after_5 = 0;
  for (u32 slot = 0; slot < 500; ++slot) {
    Allocator allocator({AllocatorKind::pim, ArbiterKind::round_robin, 5, kSize, kSize}, 1);
    allocator.reset({1, kTestWords, 0, 0});
    const Matching matching = matched(allocator, all_requests(kSize), kSize, 0, slot);
    maximal_after_5 += maximal(matching, all_requests(kSize)) ? 1 : 0;
  }
  EXPECT_GE(maximal_after_5, 450U);
}

/// What pim draws depends on its address and on nothing that happened before.
TEST(Allocators, PimHasNoState) {
  for (const AllocatorKind kind : {AllocatorKind::pim, AllocatorKind::pim_offset}) {
    const auto make = [kind](u32 replication) {
      Allocator allocator({kind, ArbiterKind::round_robin, 2, 8, 8}, 1);
      allocator.reset({1, kTestWords, 0, replication});
      return allocator;
    };
    Allocator forwards = make(0);
    Allocator backwards = make(0);
    Allocator other = make(1);
    const Requests requests = all_requests(8);
    std::vector<Matching> there(20);
    for (u32 step = 0; step < 20; ++step) there[step] = matched(forwards, requests, 8, 0, step);
    u32 equal = 0;
    for (u32 step = 20; step-- > 0;) {
      EXPECT_EQ(matched(backwards, requests, 8, 0, step), there[step]);
      equal += matched(other, requests, 8, 0, step) == there[step] ? 1 : 0;
    }
    EXPECT_LE(equal, 1U) << "another replication draws other words";
  }
}

TEST(Allocators, IslipReachesEveryOutputInEverySlotAtFullLoad) {
  constexpr u32 kSize = 8;
  Allocator allocator({AllocatorKind::islip, ArbiterKind::round_robin, 1, kSize, kSize}, 1);
  Requests all;
  for (u32 i = 0; i < kSize; ++i) {
    for (u32 o = 0; o < kSize; ++o) all.emplace_back(i, o);
  }
  for (u32 slot = 0; slot < 20; ++slot) {
    const std::size_t size = matched(allocator, all, kSize).size();
    if (slot == 0) {
      EXPECT_EQ(size, 1U) << "all pointers begin at the same place";
    } else if (slot >= kSize) {
      EXPECT_EQ(size, kSize) << "pointers have moved apart";
    }
  }
}

TEST(Allocators, OutputFirstWithRoundRobinIsIslip) {
  Allocator islip({AllocatorKind::islip, ArbiterKind::round_robin, 1, 7, 4}, 1);
  Allocator output_first({AllocatorKind::output_first, ArbiterKind::round_robin, 1, 7, 4}, 1);
  u64 word = 1;
  for (u32 slot = 0; slot < 200; ++slot) {
    Requests requests;
    for (u32 i = 0; i < 7; ++i) {
      for (u32 o = 0; o < 4; ++o) {
        word = banyan::mix64(word + 1);
        if ((word & 3U) == 0) requests.emplace_back(i, o);
      }
    }
    ASSERT_EQ(matched(islip, requests, 7), matched(output_first, requests, 7));
  }
}

/// The winner over time, of requesters 0 to 2 that all ask always.
std::vector<u32> winners(ArbiterKind kind, const std::vector<u64>& keys, const std::vector<u32>& absent_in) {
  Arbiters arbiters(kind, 1, 3);
  std::vector<u32> order;
  for (u32 slot = 0; slot < 6; ++slot) {
    u32 best = kNone;
    for (u32 r = 0; r < 3; ++r) {
      if (r == 2 && std::find(absent_in.begin(), absent_in.end(), slot) != absent_in.end()) continue;
      if (best == kNone || arbiters.rank(0, r, keys[r]) < arbiters.rank(0, best, keys[best])) best = r;
    }
    arbiters.won(0, best);
    order.push_back(best);
  }
  return order;
}

TEST(Arbiters, RoundRobinGoesOnBehindTheLastWinner) {
  EXPECT_EQ(winners(ArbiterKind::round_robin, {0, 0, 0}, {}), (std::vector<u32>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(winners(ArbiterKind::round_robin, {0, 0, 0}, {2}), (std::vector<u32>{0, 1, 0, 1, 2, 0}));
}

TEST(Arbiters, MatrixChoosesTheLeastRecentlyServed) {
  EXPECT_EQ(winners(ArbiterKind::matrix, {0, 0, 0}, {}), (std::vector<u32>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(winners(ArbiterKind::matrix, {0, 0, 0}, {2}), (std::vector<u32>{0, 1, 0, 2, 1, 0}))
      << "2 comes next, as soon as it asks again";
}

TEST(Arbiters, AgeChoosesTheOldestAndTakesTurnsAmongEquals) {
  EXPECT_EQ(winners(ArbiterKind::age, {5, 3, 9}, {}), (std::vector<u32>{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(winners(ArbiterKind::age, {3, 5, 3}, {}), (std::vector<u32>{0, 2, 0, 2, 0, 2}));
}

TEST(Allocators, WavefrontBeginsWithAnotherDiagonalEveryTime) {
  Allocator allocator({AllocatorKind::wavefront, ArbiterKind::round_robin, 1, 2, 2}, 1);
  const Requests contested{{0, 0}, {1, 0}};
  std::vector<u32> order;
  for (u32 slot = 0; slot < 4; ++slot) order.push_back(matched(allocator, contested, 2).front().first);
  EXPECT_EQ(order, (std::vector<u32>{0, 1, 0, 1}));
}

}  // namespace
}  // namespace banyan::allocator_test
