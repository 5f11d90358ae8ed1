// Do the destinations of a packet stay readable, and does every copy count once?
#include "banyan/engine/destination_sets.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/engine/packet_pool.hpp"

namespace banyan::test::destination_sets_test {
namespace {

using engine::PacketPool;

std::set<u32> members(const PacketPool& pool, core::PacketId id, u32 terminals) {
  std::set<u32> found;
  for (u32 t = 0; t < terminals; ++t) {
    if ((pool.header(id)[t / 64] >> (t % 64) & 1U) != 0) found.insert(t);
  }
  return found;
}

void open(PacketPool& pool, core::PacketId id, const std::set<u32>& terminals) {
  pool.open_header(id, [&](std::span<u64> bits) {
    for (const u32 t : terminals) bits[t / 64] |= u64{1} << (t % 64);
  });
}

TEST(DestinationSets, TheHeaderStaysWhatItWasWhileCopiesArrive) {
  PacketPool pool(2, 1, 1);
  pool.keep_sets(100);
  const core::PacketId id = pool.allocate();
  open(pool, id, {3, 64, 99});
  EXPECT_TRUE(pool.strike(id, 64));
  EXPECT_FALSE(pool.strike(id, 64)) << "twice at one terminal";
  EXPECT_FALSE(pool.strike(id, 5)) << "not for this terminal";
  EXPECT_EQ(pool.owed(id), 2U);
  EXPECT_EQ(members(pool, id, 100), (std::set<u32>{3, 64, 99}));
  EXPECT_TRUE(pool.strike(id, 3));
  EXPECT_TRUE(pool.strike(id, 99));
  EXPECT_EQ(pool.owed(id), 0U);
  open(pool, id, {7});
  EXPECT_EQ(members(pool, id, 100), std::set<u32>{7});
}

TEST(DestinationSets, RowsKeepTheirAddressesWhenThePoolGrows) {
  PacketPool pool;
  pool.keep_sets(64);
  const core::PacketId first = pool.allocate();
  open(pool, first, {1, 2});
  const u64* const row = pool.header(first);
  pool.reserve(20 << PacketPool::kChunkBits);
  EXPECT_EQ(pool.header(first), row);
  EXPECT_EQ(*row, 6U);
}

RC_GTEST_PROP(DestinationSets, AreThoseOfEveryPacketBeforeAndAfterACheckpoint, ()) {
  const u32 terminals = *rc::gen::inRange<u32>(1, 200);
  PacketPool pool(1, 2, 2);
  pool.keep_sets(terminals);
  std::map<core::PacketId, std::set<u32>> all;
  std::map<core::PacketId, std::set<u32>> owed;
  for (const u32 seed : *rc::gen::container<std::vector<u32>>(rc::gen::arbitrary<u32>())) {
    const core::PacketId id = pool.allocate();
    for (u32 k = 0; k <= seed % 9; ++k) all[id].insert(static_cast<u32>(mix64(seed + k) % terminals));
    open(pool, id, all[id]);
    owed[id] = all[id];
    if (seed % 2 == 0) continue;
    RC_ASSERT(pool.strike(id, *all[id].begin()));
    owed[id].erase(owed[id].begin());
  }
  ArchiveToText written;
  written(pool);
  const std::string text = written.take();
  PacketPool other(1, 2, 2);
  other.keep_sets(terminals);
  ArchiveOfText read(text);
  read(other);
  for (const PacketPool* p : {&pool, &other}) {
    for (const auto& [id, set] : all) {
      RC_ASSERT(members(*p, id, terminals) == set);
      RC_ASSERT(p->owed(id) == owed[id].size());
    }
  }
}

}  // namespace
}  // namespace banyan::test::destination_sets_test
