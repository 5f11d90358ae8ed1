// Are netrace files read as schedules in which a packet leaves at its cycle and after what it waits for?
#include "banyan/workload/netrace.hpp"

#include <bzlib.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "banyan/workload/bzip2_blocks.hpp"
#include "banyan/workload/compressed.hpp"
#include "support/repository.hpp"
#include "support/schedule_interpreter.hpp"
#include "support/workload_files.hpp"

namespace banyan::workload::netrace_test {
namespace {

using test::refusal;
using test::TemporaryFolder;
using test::text_of;
using test::write_bytes;

template <typename T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Packet {
  u64 cycle;
  u32 number;
  u8 type;
  u8 from;
  u8 to;
  std::vector<u32> cleared;  ///< packets that wait for it
};

std::string trace(u8 nodes, const std::vector<Packet>& packets, u32 regions = 0, const std::string& notes = "") {
  std::string bytes = raw(u32{0x484A5455}) + raw(1.0F) + "a test" + std::string(24, '\0') + raw(nodes) + raw(u8{0}) +
                      raw(u64{1000}) + raw(u64{packets.size()}) + raw(static_cast<u32>(notes.size())) + raw(regions) +
                      std::string(8, '\0') + notes + std::string(24 * regions, '\1');
  for (const Packet& p : packets) {
    bytes += raw(p.cycle) + raw(p.number) + raw(u32{0xabc}) + raw(p.type) + raw(p.from) + raw(p.to) + raw(u8{0}) +
             raw(static_cast<u8>(p.cleared.size()));
    for (const u32 number : p.cleared) bytes += raw(number);
  }
  return bytes;
}

std::string bzip2(const std::string& bytes) {
  std::string out(bytes.size() * 2 + 1000, '\0');
  unsigned length = static_cast<unsigned>(out.size());
  BZ2_bzBuffToBuffCompress(out.data(), &length, const_cast<char*>(bytes.data()), static_cast<unsigned>(bytes.size()), 9,
                           0, 0);
  out.resize(length);
  return out;
}

class Netrace : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (folder_.path() / "t.bz2").string(); }
  Schedule read(const std::string& bytes, NetraceNotes* notes = nullptr) {
    write_bytes(path(), bytes);
    return read_netrace(path(), notes);
  }
  std::string refusal_of(const std::string& bytes) {
    return refusal([&] { static_cast<void>(read(bytes)); });
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Netrace, APacketLeavesAtItsCycleAndAfterWhatItWaitsFor) {
  // A request, its answer, and a request of the same node later on.
  NetraceNotes notes;
  const Schedule schedule =
      read(bzip2(trace(3, {{5, 10, 1, 0, 2, {11}}, {5, 12, 1, 0, 1, {}}, {9, 11, 2, 2, 0, {}}, {30, 13, 13, 0, 1, {}}},
                       2, "some notes")),
           &notes);
  EXPECT_EQ(text_of(schedule),
            "rank 0\n"
            "  0: calc 5 core 1\n"
            "  1: send 8 to 2 tag 0 after 0\n"
            "  2: send 8 to 1 tag 1 after 0\n"
            "  3: recv 72 from 2 tag 2\n"
            "  4: calc 25 core 1 after 0\n"
            "  5: send 8 to 1 tag 3 after 4\n"
            "rank 1\n"
            "  0: recv 8 from 0 tag 1\n"
            "  1: recv 8 from 0 tag 3\n"
            "rank 2\n"
            "  0: recv 8 from 0 tag 0\n"
            "  1: calc 9 core 1\n"
            "  2: send 72 to 0 tag 2 after 0 1\n");
  EXPECT_EQ(notes.benchmark, "a test");
  EXPECT_EQ(notes.packets, 4U);
  // The answer waits for the request, which takes longer than the trace's network did.
  EXPECT_EQ(test::ends_on_ideal_network(schedule, 100, 0)[0], 5 + 2 * 100U);
  EXPECT_EQ(test::ends_on_ideal_network(schedule, 1, 0)[0], 30U);
}

TEST_F(Netrace, PacketsWithinANodeTakeNoMessageAndOtherNodesAreTold) {
  NetraceNotes notes;
  // Packet 2 stays in node 1 and waits for 1; packet 3 of node 0 waits for packet 2, which arrives at node 1.
  EXPECT_EQ(text_of(read(trace(2, {{0, 1, 1, 0, 1, {2}}, {3, 2, 29, 1, 1, {3}}, {3, 3, 6, 0, 1, {}}}), &notes)),
            "rank 0\n"
            "  0: send 8 to 1 tag 0\n"
            "  1: calc 3 core 1\n"
            "  2: send 72 to 1 tag 2 after 1 3\n"
            "  3: recv 0 from 1 tag 3\n"
            "rank 1\n"
            "  0: recv 8 from 0 tag 0\n"
            "  1: calc 3 core 1\n"
            "  2: calc 0 core 0 after 0 1\n"
            "  3: recv 72 from 0 tag 2\n"
            "  4: send 0 to 0 tag 3 after 2\n");
  EXPECT_EQ(notes.local, 1U);
  EXPECT_EQ(notes.notices, 1U);
}

TEST_F(Netrace, IsToldByItsFirstBytes) {
  const std::string bytes = trace(2, {});
  EXPECT_TRUE(is_netrace(bytes));
  EXPECT_TRUE(is_bzip2(bzip2(bytes)));
  EXPECT_TRUE(is_netrace(uncompressed_start(bzip2(bytes))));
  EXPECT_FALSE(is_netrace("UTJ"));
  EXPECT_FALSE(is_netrace("BZh9 no bzip2"));
}

TEST_F(Netrace, ABrokenTraceSaysWhere) {
  const std::string remedy = "; give the whole file, as the tracer wrote it";
  const std::string good = trace(2, {{0, 1, 1, 0, 1, {2}}, {3, 2, 2, 1, 0, {}}});
  EXPECT_EQ(refusal_of(good), "");
  EXPECT_EQ(refusal_of(good.substr(0, 50)), "t.bz2: byte 0: the file is cut short in its header" + remedy);
  EXPECT_EQ(refusal_of(good.substr(0, 80)), "t.bz2: byte 72: the file is cut short in a packet" + remedy);
  EXPECT_EQ(refusal_of(good.substr(0, 94)),
            "t.bz2: byte 93: the file is cut short in the packets that wait for one" + remedy);
  EXPECT_EQ(refusal_of(good.substr(0, 97)), "t.bz2: byte 97: 2 packets are announced, and 1 are there" + remedy);
  EXPECT_EQ(refusal_of(trace(2, {{0, 1, 1, 0, 1, {7}}})),
            "t.bz2: byte 72: packet 7 waits for this one, and is not there" + remedy);
  EXPECT_EQ(refusal_of(trace(2, {{0, 1, 1, 0, 2, {}}})),
            "t.bz2: byte 72: packet 1 goes from node 0 to 2, and there are 2" + remedy);
  EXPECT_EQ(refusal_of(trace(2, {{0, 1, 7, 0, 1, {}}})), "t.bz2: byte 72: packet 1 is of the unknown type 7" + remedy);
  EXPECT_EQ(refusal_of(trace(2, {{4, 1, 1, 0, 1, {}}, {3, 2, 1, 0, 1, {}}})),
            "t.bz2: byte 93: packet 2 is of cycle 3, behind one of 4" + remedy);
  const std::string packed = bzip2(good);
  EXPECT_EQ(refusal_of(packed.substr(0, packed.size() - 10)),
            fmt::format(
                "t.bz2: the bzip2 file is cut short: it ends at byte {}, after 118 uncompressed bytes; give the whole "
                "file",
                packed.size() - 10));
  std::string changed = packed;
  changed[packed.size() / 2] = static_cast<char>(changed[packed.size() / 2] ^ 4);
  EXPECT_NE(refusal_of(changed).find("the bzip2 file is damaged after"), std::string::npos);
}

/// A trace of several blocks of 900,000 bytes, whose packets wait for the one before.
std::string long_trace() {
  std::vector<Packet> packets;
  for (u32 i = 0; i < 150'000; ++i) {
    packets.push_back({i * 7 % 3 + i * 10, i, 1, static_cast<u8>(i * 13 % 64), static_cast<u8>(i * 29 % 64),
                       i < 149'999 ? std::vector<u32>{i + 1} : std::vector<u32>{}});
  }
  return trace(64, packets);
}

TEST_F(Netrace, BlocksAndStreamsAreWhatTheyAreFromTheBeginning) {
  const std::string bytes = long_trace();
  ASSERT_GT(bytes.size(), 3'600'000U) << "four blocks";
  write_bytes(path(), bzip2(bytes));
  EXPECT_EQ(read_uncompressed(path()), bytes);
  const auto sequential = [](std::string_view packed, std::string& out) {
    out.resize(2'000'000);
    unsigned length = static_cast<unsigned>(out.size());
    const bool sound = BZ2_bzBuffToBuffDecompress(out.data(), &length, const_cast<char*>(packed.data()),
                                                  static_cast<unsigned>(packed.size()), 0, 0) == BZ_OK;
    out.resize(length);
    return sound;
  };
  // Streams behind each other, one of which holds nothing.
  const std::string streams = bzip2(bytes.substr(0, 1'000'001)) + bzip2("") + bzip2(bytes.substr(1'000'001));
  for (const u32 threads : {1U, 2U, 5U}) {
    std::string out = "before ";
    EXPECT_TRUE(decompress_blocks(streams, threads, bytes.size(), sequential, out));
    EXPECT_EQ(out, "before " + bytes);
  }
  std::string out;
  EXPECT_FALSE(decompress_blocks(streams, 2, bytes.size() - 1, sequential, out)) << "longer than it may be";
  EXPECT_FALSE(decompress_blocks(streams + "BZh9", 2, bytes.size(), sequential, out));
  EXPECT_FALSE(decompress_blocks(streams.substr(0, streams.size() - 1), 2, bytes.size(), sequential, out));
  std::string changed = bzip2(bytes);
  changed[changed.size() - 3] = static_cast<char>(changed[changed.size() - 3] ^ 1);
  EXPECT_FALSE(decompress_blocks(changed, 2, bytes.size(), sequential, out)) << "the checksum of all blocks";
  EXPECT_EQ(out, "");
}

TEST_F(Netrace, EveryDamageOfAFileOfSeveralBlocksIsFound) {
  const std::string bytes = long_trace();
  const std::string packed = bzip2(bytes);
  for (std::size_t at = 10; at < packed.size(); at += packed.size() / 8) {
    std::string changed = packed;
    changed[at] = static_cast<char>(changed[at] ^ 16);
    EXPECT_NE(refusal_of(changed).find("the bzip2 file is damaged after"), std::string::npos) << "byte " << at;
  }
  for (const std::size_t length : {packed.size() / 2, packed.size() - 1}) {
    EXPECT_NE(refusal_of(packed.substr(0, length)).find(fmt::format("cut short: it ends at byte {}, after", length)),
              std::string::npos);
  }
}

TEST_F(Netrace, DamagedFilesNeverCrash) {
  std::vector<Packet> packets;
  for (u32 i = 0; i < 30; ++i)
    packets.push_back({i, i, 1, static_cast<u8>(i % 4), static_cast<u8>((i + 1) % 4),
                       i < 29 ? std::vector<u32>{i + 1} : std::vector<u32>{}});
  const std::string bytes = trace(4, packets, 1, "notes");
  test::expect_survives_damage(bytes, path(), [&] { static_cast<void>(read_netrace(path())); });
  test::expect_survives_damage(
      bzip2(bytes), path(), [&] { static_cast<void>(read_netrace(path())); }, 100);
}

}  // namespace
}  // namespace banyan::workload::netrace_test
