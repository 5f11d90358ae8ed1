// Are copies of another rank's packets found by both handles, for as long as anything of them is here?
#include "banyan/engine/guests.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "banyan/base/archive.hpp"
#include "banyan/base/error.hpp"

namespace banyan::test::guests_test {
namespace {

using engine::Guests;
using engine::PacketPool;

core::Packet numbered(u32 sequence) {
  core::Packet packet;
  packet.sequence = sequence;
  return packet;
}

TEST(Guests, HandlesAreOfTheSlotsOfTheOtherRank) {
  Guests guests(3, 2, 4);
  guests.pool().keep_values();
  const core::PacketId theirs = 15U << PacketPool::kIndexBits | 1234;  // of shard 3
  const core::PacketId ours = guests.enter(theirs, numbered(7), 42);
  EXPECT_EQ(ours >> PacketPool::kIndexBits, 12U);
  EXPECT_EQ(guests.pool().shard(), 3U);
  EXPECT_EQ(guests.pool()[ours].sequence, 7U);
  EXPECT_EQ(guests.pool().value(ours), 42);
  EXPECT_EQ(guests.theirs(ours), theirs);
  EXPECT_EQ(guests.ours(theirs), ours);
}

TEST(Guests, APacketIsForgottenWhenAsManyTailsLeftAsHeadsCame) {
  Guests guests(1, 1, 1);
  const core::PacketId theirs = 1U << PacketPool::kIndexBits | 5;
  const core::PacketId ours = guests.enter(theirs, numbered(1), 0);
  EXPECT_EQ(guests.enter(theirs, numbered(2), 0), ours);  // it comes by again
  EXPECT_EQ(guests.pool()[ours].sequence, 2U);
  guests.leave(ours);
  EXPECT_EQ(guests.ours(theirs), ours);
  guests.leave(ours);
  EXPECT_THROW(static_cast<void>(guests.ours(theirs)), InvariantError);
  EXPECT_EQ(guests.pool().live(), 0U);
}

TEST(Guests, AFlitWithoutAHeadIsAFault) {
  const Guests guests(1, 1, 1);
  EXPECT_THROW(static_cast<void>(guests.ours(1U << PacketPool::kIndexBits)), InvariantError);
}

RC_GTEST_PROP(Guests, AreThoseOfAMap, ()) {
  Guests guests(1, 1, 1);
  std::map<core::PacketId, std::pair<core::PacketId, u32>> known;  // by their handle: ours, and the record's number
  const u32 steps = 2000;
  for (u32 i = 0; i < steps; ++i) {
    const core::PacketId theirs = 1U << PacketPool::kIndexBits | *rc::gen::inRange<u32>(0, 400);
    const auto found = known.find(theirs);
    if (found == known.end() || *rc::gen::inRange(0, 4) == 0) {
      const core::PacketId ours = guests.enter(theirs, numbered(i), 0);
      if (found != known.end()) RC_ASSERT(found->second.first == ours);
      known[theirs] = {ours, i};
    } else {
      guests.forget(found->second.first);
      known.erase(found);
    }
    if (i == steps / 2) {
      ArchiveToText written;
      guests.archive(written);
      const std::string text = written.take();
      guests.clear();
      RC_ASSERT(guests.pool().live() == 0);
      ArchiveOfText read(text);
      guests.archive(read);
    }
    RC_ASSERT(guests.pool().live() == known.size());
  }
  for (const auto& [theirs, entry] : known) {
    RC_ASSERT(guests.ours(theirs) == entry.first);
    RC_ASSERT(guests.theirs(entry.first) == theirs);
    RC_ASSERT(guests.pool()[entry.first].sequence == entry.second);
  }
}

}  // namespace
}  // namespace banyan::test::guests_test
