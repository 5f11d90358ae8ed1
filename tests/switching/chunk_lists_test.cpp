// Do the pointers of a central buffer stand as in the paper's Figures 6 to 8, field by field?
#include "banyan/switching/worms/chunk_lists.hpp"

#include <gtest/gtest.h>

namespace banyan::chunk_lists_test {
namespace {

using namespace banyan;
using switching::ChunkLists;

constexpr u16 kNil = ChunkLists::kNil;

ChunkLists::Slot chunk(u32 packet, u16 part) {
  ChunkLists::Slot slot;
  slot.packet = packet;
  slot.part = part;
  slot.flits = 8;
  return slot;
}

/// Two packets in the queue of output 2, each with three chunks: packet 10 from input 0, packet 11 from input 1.
struct Queue {
  Queue() : lists(1, 4, 16, false) {
    a[0] = lists.write_header(0, 0, 1U << 2U, 1U << 2U, chunk(10, 0));
    b[0] = lists.write_header(0, 1, 1U << 2U, 1U << 2U, chunk(11, 0));
    for (u16 part = 1; part < 3; ++part) {
      a[part] = lists.write_body(0, 0, chunk(10, part));
      b[part] = lists.write_body(0, 1, chunk(11, part));
    }
  }
  ChunkLists lists;
  u16 a[3];
  u16 b[3];
};

TEST(ChunkLists, Figure6AQueueOfTwoPackets) {
  Queue q;
  const ChunkLists::Output& out = q.lists.output(0, 2);
  EXPECT_EQ(out.first_p, q.a[0]);
  EXPECT_EQ(out.last_p, q.b[0]);
  EXPECT_EQ(out.first_c, kNil);
  EXPECT_EQ(q.lists.np(0, q.a[0], 2), q.b[0]);
  EXPECT_EQ(q.lists.np(0, q.b[0], 2), kNil);
  EXPECT_EQ(q.lists.slot(0, q.a[0]).nc, q.a[1]);
  EXPECT_EQ(q.lists.slot(0, q.a[1]).nc, q.a[2]);
  EXPECT_EQ(q.lists.slot(0, q.a[2]).nc, kNil);
  EXPECT_EQ(q.lists.slot(0, q.b[0]).nc, q.b[1]);
  EXPECT_EQ(q.lists.slot(0, q.b[1]).nc, q.b[2]);
  EXPECT_EQ(q.lists.input(0, 0).last_c, q.a[2]);
  EXPECT_EQ(q.lists.input(0, 1).last_c, q.b[2]);
  EXPECT_EQ(q.lists.free(0), 16U - 6U);
}

TEST(ChunkLists, Figure7AfterTwoChunkReads) {
  Queue q;
  EXPECT_TRUE(q.lists.read(0, 2, false));
  EXPECT_TRUE(q.lists.read(0, 2, false));
  const ChunkLists::Output& out = q.lists.output(0, 2);
  EXPECT_EQ(out.first_p, q.b[0]) << "the next packet's header";
  EXPECT_EQ(out.last_p, q.b[0]);
  EXPECT_EQ(out.first_c, q.a[2]) << "now valid: the third chunk of the first packet";
  EXPECT_EQ(q.lists.next(0, 2), q.a[2]);
  EXPECT_EQ(q.lists.free(0), 16U - 4U);
}

TEST(ChunkLists, Figure8CopiesOfTheHeaderPointToTheSameSecondChunkAndQueuesStayApart) {
  ChunkLists lists(1, 4, 16, false);
  // Output 1 has packet 20 first; then packet 21 enters outputs 1 and 3; then packet 22 enters output 3.
  const u16 other = lists.write_header(0, 0, 1U << 1U, 1U << 1U, chunk(20, 0));
  const u64 both = 1U << 1U | 1U << 3U;
  const u16 x = lists.write_header(0, 1, 1U << 1U, both, chunk(21, 0));
  const u16 y = lists.write_header(0, 1, 1U << 3U, both, chunk(21, 0));
  const u16 later = lists.write_header(0, 2, 1U << 3U, 1U << 3U, chunk(22, 0));
  const u16 second = lists.write_body(0, 1, chunk(21, 1));
  EXPECT_EQ(lists.slot(0, x).nc, second);
  EXPECT_EQ(lists.slot(0, y).nc, second);
  EXPECT_EQ(lists.slot(0, x).count, 1U);
  EXPECT_EQ(lists.slot(0, y).count, 1U);
  EXPECT_EQ(lists.slot(0, second).count, 2U);
  EXPECT_EQ(lists.np(0, other, 1), x);
  EXPECT_EQ(lists.np(0, x, 1), kNil);
  EXPECT_EQ(lists.np(0, y, 3), later);
  EXPECT_EQ(lists.output(0, 1).first_p, other);
  EXPECT_EQ(lists.output(0, 3).first_p, y);
  // The shared chunk is free when both have read it.
  EXPECT_TRUE(lists.read(0, 3, false));
  EXPECT_FALSE(lists.read(0, 3, true));
  EXPECT_EQ(lists.slot(0, second).count, 1U);
}

TEST(ChunkLists, OneHeaderChunkIsEnoughWithANextPacketRamPerOutput) {
  ChunkLists lists(1, 4, 16, true);
  const u64 both = 1U << 1U | 1U << 3U;
  const u16 first = lists.write_header(0, 0, 1U << 1U, 1U << 1U, chunk(20, 0));
  const u16 header = lists.write_header(0, 1, both, both, chunk(21, 0));
  const u16 later = lists.write_header(0, 2, 1U << 3U, 1U << 3U, chunk(22, 0));
  EXPECT_EQ(lists.slot(0, header).count, 2U);
  EXPECT_EQ(lists.np(0, first, 1), header);
  EXPECT_EQ(lists.np(0, header, 1), kNil);
  EXPECT_EQ(lists.np(0, header, 3), later);
}

TEST(ChunkLists, AnOutputThatStarvesGetsTheNextChunkDirectly) {
  ChunkLists lists(1, 4, 16, false);
  lists.write_header(0, 0, 1U, 1U, chunk(30, 0));
  EXPECT_TRUE(lists.read(0, 0, false));
  EXPECT_EQ(lists.output(0, 0).first_c, kNil);
  EXPECT_EQ(lists.input(0, 0).starving, 1U);
  EXPECT_EQ(lists.input(0, 0).last_c, kNil) << "its chunk is free, and may be somebody else's soon";
  const u16 next = lists.write_body(0, 0, chunk(30, 1));
  EXPECT_EQ(lists.output(0, 0).first_c, next);
  EXPECT_EQ(lists.input(0, 0).starving, 0U);
}

TEST(ChunkLists, OnlyTheOutputThatReadItsHeaderStarves) {
  ChunkLists lists(1, 4, 16, false);
  const u64 both = 1U | 2U;
  lists.write_header(0, 0, 1U, both, chunk(31, 0));
  const u16 y = lists.write_header(0, 0, 2U, both, chunk(31, 0));
  EXPECT_TRUE(lists.read(0, 0, false));
  const u16 second = lists.write_body(0, 0, chunk(31, 1));
  EXPECT_EQ(lists.output(0, 0).first_c, second);
  EXPECT_EQ(lists.slot(0, y).nc, second);
}

}  // namespace
}  // namespace banyan::chunk_lists_test
