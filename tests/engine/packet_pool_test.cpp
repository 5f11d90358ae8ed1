// Are packet records stable in memory, and are handles used again?
#include "banyan/engine/packet_pool.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace banyan::packet_pool_test {
namespace {

using banyan::u32;
using banyan::core::Packet;
using banyan::core::PacketId;
using banyan::engine::PacketPool;

TEST(PacketPool, RecordsStayWhereTheyAreWhileThePoolGrows) {
  PacketPool pool;
  std::vector<PacketId> ids;
  std::vector<const Packet*> places;
  for (u32 i = 0; i < 3 * (1U << PacketPool::kChunkBits) + 7; ++i) {
    ids.push_back(pool.allocate());
    pool[ids.back()].source = i;
    places.push_back(&pool[ids.back()]);
  }
  EXPECT_EQ(std::set<PacketId>(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_EQ(pool.live(), ids.size());
  for (u32 i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(&pool[ids[i]], places[i]);
    ASSERT_EQ(pool[ids[i]].source, i);
  }
}

TEST(PacketPool, HandlesCarryTheShard) {
  PacketPool pool(200);
  EXPECT_EQ(pool.allocate() >> PacketPool::kIndexBits, 200U);
}

TEST(PacketPool, HasTheSlotsThatItWasGiven) {
  PacketPool pool(3, 4);
  EXPECT_EQ(pool.shard(), 3U);
  EXPECT_EQ(pool.most(), 4 * PacketPool::kPerSlot);
  const PacketId first = pool.allocate();
  EXPECT_EQ(first >> PacketPool::kIndexBits, 12U);
  pool[first].source = 7;
  EXPECT_EQ(pool[first].source, 7U);
  EXPECT_NO_THROW(pool.require_room(3 * PacketPool::kPerSlot));
}

#ifdef BANYAN_CHECKED
TEST(PacketPoolDeath, OfAnotherShardStopsBuildsForTheDebugger) {
  PacketPool pool(3);
  PacketPool other(4);
  const banyan::core::PacketId id = other.allocate();
  static_cast<void>(pool.allocate());
  EXPECT_DEATH(static_cast<void>(pool[id]), "pool of another shard");
  EXPECT_THROW(pool.release(id), banyan::InvariantError);
}
#endif

TEST(PacketPool, ReleasedRecordsAreTakenFirst) {
  PacketPool pool;
  pool.reserve(1);
  const u32 created = pool.created();
  for (u32 i = 0; i < 10 * created; ++i) {
    const PacketId first = pool.allocate();
    const PacketId second = pool.allocate();
    pool.release(first);
    EXPECT_EQ(pool.allocate(), first);
    pool.release(first);
    pool.release(second);
  }
  EXPECT_EQ(pool.created(), created);
  EXPECT_EQ(pool.live(), 0U);
}

TEST(PacketPool, ClearKeepsTheMemory) {
  PacketPool pool;
  for (u32 i = 0; i < 5000; ++i) static_cast<void>(pool.allocate());
  const u32 created = pool.created();
  pool.clear();
  EXPECT_EQ(pool.live(), 0U);
  std::set<PacketId> ids;
  for (u32 i = 0; i < created; ++i) ids.insert(pool.allocate());
  EXPECT_EQ(ids.size(), created);
  EXPECT_EQ(pool.created(), created);
}

TEST(PacketPool, SaysWhenMoreWouldNotFit) {
  PacketPool pool;
  EXPECT_NO_THROW(pool.require_room(PacketPool::kPerSlot));
  static_cast<void>(pool.allocate());
  EXPECT_NO_THROW(pool.require_room(PacketPool::kPerSlot - 1));
  EXPECT_THROW(pool.require_room(PacketPool::kPerSlot), ConfigError);
}

}  // namespace
}  // namespace banyan::packet_pool_test
