// Are htsim's connection matrices read as schedules: starts, triggers of each kind, and what is wrong with a line?
#include "banyan/workload/connections.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/repository.hpp"
#include "support/schedule_interpreter.hpp"
#include "support/workload_files.hpp"

namespace banyan::workload::connections_test {
namespace {

using test::refusal;
using test::TemporaryFolder;
using test::text_of;
using test::write_bytes;

class Connections : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (folder_.path() / "t.cm").string(); }
  Schedule read(const std::string& text) {
    write_bytes(path(), text);
    return read_connections(path());
  }
  std::string refusal_of(const std::string& text) {
    return refusal([&] { static_cast<void>(read(text)); });
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Connections, StartAtTheirTimes) {
  EXPECT_EQ(
      text_of(read("# a comment\n\nNodes 3\nConnections 4\n0->1 start 0 size 2000000\n"
                   "0->2 id 7 start 3000000 size 10 prio 4\r\n0->1 start 1000000.4 size 20\n2->2 start 5000 size 1\n")),
      "rank 0\n"
      "  0: send 2000000 to 1 tag 0\n"
      "  1: send 10 to 2 tag 1 after 4\n"
      "  2: send 20 to 1 tag 2 after 3\n"
      "  3: calc 1000 core 1\n"
      "  4: calc 2000 core 1 after 3\n"
      "rank 1\n"
      "  0: recv 2000000 from 0 tag 0\n"
      "  1: recv 20 from 0 tag 2\n"
      "rank 2\n"
      "  0: recv 10 from 0 tag 1\n"
      "  1: send 1 to 2 tag 3 after 3\n"
      "  2: recv 1 from 2 tag 3\n"
      "  3: calc 5 core 1\n")
      << "a connection of a node to itself is a message too";
}

/// Whoever is heard of first starts the first connection, also where the hub itself is the one.
TEST_F(Connections, AMultishotTriggerCountsWhatItsHubReceivesAmongTheOthers) {
  const std::string text = text_of(
      read("Nodes 3\n1->0 start 100000000 size 5000 recv_done_trigger 1\n2->0 start 0 size 10 recv_done_trigger 1\n"
           "0->1 trigger 1 size 7\n0->2 trigger 1 size 9\ntrigger id 1 multishot\n"));
  // Both pulls are messages of rank 0 to itself, received from whoever comes first.
  EXPECT_EQ(text,
            "rank 0\n"
            "  0: recv 5000 from 1 tag 0\n"
            "  1: recv 10 from 2 tag 1\n"
            "  2: send 7 to 1 tag 2 after 5\n"
            "  3: send 9 to 2 tag 3 after 7\n"
            "  4: send 0 to 0 tag 4 after 0\n"
            "  5: recv 0 from any tag 4\n"
            "  6: send 0 to 0 tag 4 after 1\n"
            "  7: recv 0 from any tag 4 after 5\n"
            "rank 1\n"
            "  0: send 5000 to 0 tag 0 after 2\n"
            "  1: recv 7 from 0 tag 2\n"
            "  2: calc 100000 core 1\n"
            "rank 2\n"
            "  0: send 10 to 0 tag 1\n"
            "  1: recv 9 from 0 tag 3\n");
}

TEST_F(Connections, NothingIsToldTwice) {
  const std::string line = "0->1 start 0 size 9\n";
  EXPECT_EQ(refusal_of("Nodes 16\n0->13 start 0 size 9\nNodes 13\n"),
            "t.cm:3:1: Nodes is there twice; leave one of them out");
  EXPECT_EQ(refusal_of("Nodes 2\nConnections 1\nConnections 1\n" + line),
            "t.cm:3:1: Connections is there twice; leave one of them out");
  EXPECT_EQ(refusal_of("Nodes 2\nTriggers 0\nTriggers 0\n" + line),
            "t.cm:3:1: Triggers is there twice; leave one of them out");
  EXPECT_EQ(refusal_of("Nodes 2 3\n" + line), "t.cm:1:9: \"3\" stands behind the end of the line; begin a new line");
  EXPECT_EQ(refusal_of("Nodes 2 # two\n0->1 start 0 size 9 # nine\n"), "");
  const std::string both = "Nodes 2\n0->1 start 0 size 9 send_done_trigger 1 recv_done_trigger 1\ntrigger id 1 ";
  EXPECT_EQ(refusal_of(both + "oneshot\n"),
            "t.cm:3:1: trigger 1 is oneshot, and is pulled 2 times; make it a barrier or multishot");
  EXPECT_EQ(refusal_of(both + "barrier count 2\n"), "") << "either end pulls it";
}

TEST_F(Connections, IdsAreOfOneConnectionEach) {
  const std::string head = "Nodes 3\nConnections 3\n0->1 id 5 start 0 size 9\n1->2 id 2 start 0 size 9\n";
  EXPECT_EQ(refusal_of(head + "2->0 id 7 start 0 size 9\n"), "");
  EXPECT_EQ(refusal_of(head + "2->0 id 5 start 0 size 9\n"),
            "t.cm:5:1: the id 5 is that of the connection in line 3 too; give each connection an id of its own");
}

TEST_F(Connections, OneShotsStartWhatWaitsForThem) {
  // A ring: what arrives goes on; and a sender that hears of the arrival.
  EXPECT_EQ(text_of(read("Nodes 3\nConnections 3\nTriggers 2\n0->1 id 1 start 0 size 9 send_done_trigger 1\n"
                         "1->2 id 2 trigger 1 size 9 recv_done_trigger 2\n0->2 id 3 trigger 2 size 5\n"
                         "trigger id 1 oneshot\ntrigger id 2 oneshot\n")),
            "rank 0\n"
            "  0: send 9 to 1 tag 0\n"
            "  1: send 5 to 2 tag 2 after 2\n"
            "  2: recv 0 from 2 tag 5\n"
            "rank 1\n"
            "  0: recv 9 from 0 tag 0\n"
            "  1: send 9 to 2 tag 1 after 0\n"
            "rank 2\n"
            "  0: recv 9 from 1 tag 1\n"
            "  1: recv 5 from 0 tag 2\n"
            "  2: send 0 to 0 tag 5 after 0\n");
}

TEST_F(Connections, BarriersWaitForAll) {
  const Schedule schedule = read(
      "Nodes 4\nConnections 4\nTriggers 1\n0->1 id 1 start 0 size 100 recv_done_trigger 5\n"
      "2->3 id 2 start 0 size 400 recv_done_trigger 5\n0->1 id 3 trigger 5 size 10\n2->3 id 4 trigger 5 size 10\n"
      "trigger id 5 barrier count 2\n");
  // 2->3 arrives at 1400 and tells rank 0, the hub, which starts its own and tells rank 2.
  const auto ends = test::ends_on_ideal_network(schedule, 1000, 1);
  EXPECT_EQ(ends[1], 1400 + 1000 + 1010U);
  EXPECT_EQ(ends[3], 1400 + 2 * 1000 + 10 + 1010U);  // the notice leaves behind the 10 bytes of the hub's own
}

TEST_F(Connections, MultiShotsStartOneEachTimeInTheOrderOfArrivals) {
  // Two at a time from rank 0, the shorter one, which is told last, arrives first.
  const Schedule schedule = read(
      "Nodes 5\nConnections 4\nTriggers 1\n0->1 id 1 start 0 size 500 send_done_trigger 1\n"
      "0->2 id 2 start 0 size 20 send_done_trigger 1\n0->3 id 3 trigger 1 size 7\n0->4 id 4 trigger 1 size 7\n"
      "trigger id 1 multishot\n");
  EXPECT_EQ(text_of(schedule).substr(0, 245),
            "rank 0\n"
            "  0: send 500 to 1 tag 0\n"
            "  1: send 20 to 2 tag 1\n"
            "  2: send 7 to 3 tag 2 after 4\n"
            "  3: send 7 to 4 tag 3 after 5\n"
            "  4: recv 0 from any tag 4\n"
            "  5: recv 0 from any tag 4 after 4\n"
            "rank 1\n"
            "  0: recv 500 from 0 tag 0\n"
            "  1: send 0 to 0 tag 4 after 0\n");
}

TEST_F(Connections, WhatIsWrongIsSaidWithLineAndColumn) {
  const std::string head = "Nodes 4\nConnections 1\n";
  EXPECT_EQ(refusal_of(head + "0->4 start 0 size 9\n"), "t.cm:3:1: node 4 is none of the 4; use nodes below 4");
  EXPECT_EQ(refusal_of(head + "0->x start 0 size 9\n"), "t.cm:3:1: \"x\" is no node; write the connection as FROM->TO");
  EXPECT_EQ(refusal_of(head + "0->1 start 0\n"), "t.cm:3:13: a connection without a size; give its size in bytes");
  EXPECT_EQ(refusal_of(head + "0->1 size 9\n"),
            "t.cm:3:12: a connection without a start; give start (in picoseconds) or trigger");
  EXPECT_EQ(refusal_of(head + "0->1 start 0 size nine\n"),
            "t.cm:3:19: the size is \"nine\"; give a whole number up to 281474976710656");
  EXPECT_EQ(refusal_of(head + "0->1 begin 0 size 9\n"),
            "t.cm:3:6: a connection has no \"begin\"; use id, start, size, trigger, send_done_trigger, "
            "recv_done_trigger and prio");
  EXPECT_EQ(refusal_of(head + "0->1 start 0 sise 9\n"),
            "t.cm:3:14: a connection has no \"sise\"; did you mean \"size\"?");
  EXPECT_EQ(refusal_of(head + "0->1 start 0 size 9\ntriger id 1 oneshot\n"),
            "t.cm:4:1: a line begins with \"triger\"; did you mean \"trigger\"?");
  EXPECT_EQ(refusal_of(head + "0->1 start 0 size 9\n0->2 start 0 size 9\n"),
            "t.cm:4:1: 1 Connections are announced, and 2 are there; write Connections 2");
  EXPECT_EQ(refusal_of(head + "0->1 trigger 3 size 9\n"),
            "t.cm:3:1: trigger 3 is named, and nothing tells its kind; add: trigger id 3 oneshot");
  EXPECT_EQ(refusal_of(head + "0->1 trigger 3 size 9\ntrigger id 3 oneshot\n"),
            "t.cm:4:1: trigger 3 starts 1 connections, and is pulled 0 times; let a connection pull it with "
            "send_done_trigger "
            "or recv_done_trigger");
  EXPECT_EQ(
      refusal_of("Nodes 4\nConnections 2\n0->1 start 0 size 9 send_done_trigger 3\n0->2 trigger 3 size 9\ntrigger id 3 "
                 "barrier count 2\n"),
      "t.cm:5:1: barrier 3 counts to 2, and is pulled 1 times; set its count to 1");
  EXPECT_EQ(refusal_of(head + "Failures 1\n"),
            "t.cm:3:10: failures of links belong to the network; leave them out here, and take the links out of the "
            "topology");
  EXPECT_EQ(refusal_of("Connections 0\n"),
            "t.cm:1:1: the file ends without its number of nodes; begin it with Nodes and a number");
}

TEST_F(Connections, AreToldByTheirFirstWords) {
  EXPECT_TRUE(is_connections("Nodes 16\nConnections 1\n"));
  EXPECT_TRUE(is_connections("# comment\n\n Nodes 16\n"));
  EXPECT_TRUE(is_connections("Nodes\t16\n"));
  EXPECT_TRUE(is_connections("Connections 1\nNodes 16\n"));
  EXPECT_TRUE(is_connections("\xef\xbb\xbfNodes 16\n"));
  EXPECT_FALSE(is_connections("Nodes"));
  EXPECT_FALSE(is_connections("num_ranks 4"));
  EXPECT_FALSE(is_connections("# comment"));
  EXPECT_FALSE(is_connections(""));
}

TEST_F(Connections, DamagedFilesNeverCrash) {
  const std::string text =
      "Nodes 5\nConnections 4\nTriggers 2\n0->1 id 1 start 0 size 500 send_done_trigger 1\n"
      "0->2 id 2 start 20.5 size 20 send_done_trigger 1\n0->3 id 3 trigger 1 size 7 recv_done_trigger 9\n"
      "0->4 id 4 trigger 1 size 7\ntrigger id 1 multishot\ntrigger id 9 barrier count 1\n";
  test::expect_survives_damage(text, path(), [&] { static_cast<void>(read_connections(path())); });
}

}  // namespace
}  // namespace banyan::workload::connections_test
