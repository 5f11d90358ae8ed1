// Do GOAL's text and its binary files say the same, and does a bad file say where it is bad?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "workload/files.hpp"

namespace banyan::workload::goal_test {
namespace {

constexpr const char* kSmall = R"(// a comment in front
num_ranks 3
rank 0 { /* over
lines */ a: send 8b to 1 tag 3 cpu 1 nic 2
 b: calc 100 cpu 1
 calc 7
 b requires a
 b irequires a
}
rank 1 {
r: recv 8b from -1 tag -1
}

rank 2{
})";

std::vector<u32> after_end(const Program& p, u32 rank, u32 i) {
  std::vector<u32> all;
  p.for_each_after_end(rank, i, [&](u32 d) { all.push_back(d); });
  return all;
}

TEST(GoalText, EveryPartIsRead) {
  const Program p = program_of(kSmall);
  ASSERT_EQ(p.ranks(), 3U);
  EXPECT_EQ(p.operations(), 4U);
  EXPECT_EQ(p.operations(0), 3U);
  EXPECT_EQ(p.cores(), 2U);
  EXPECT_EQ(p.nics(), 3U);
  const Operation send = p.operation(0, 0);
  EXPECT_EQ(send.kind, OperationKind::send);
  EXPECT_EQ(send.amount, 8U);
  EXPECT_EQ(send.peer, 1U);
  EXPECT_EQ(send.tag, 3U);
  EXPECT_EQ(send.cpu, 1U);
  EXPECT_EQ(send.nic, 2U);
  EXPECT_EQ(p.operation(0, 2).amount, 7U);
  EXPECT_EQ(p.waits_for(0, 1), 2U);
  EXPECT_EQ(after_end(p, 0, 0), std::vector<u32>{1});
  u32 started = 0;
  p.for_each_after_start(0, 0, [&](u32 d) { started += d; });
  EXPECT_EQ(started, 1U);
  EXPECT_EQ(p.operation(1, 0).peer, kAnyPeer);
  EXPECT_EQ(p.operation(1, 0).tag, kAnyTag);
}

TEST(GoalText, ALabelMayBeRequiredBeforeItIsDefined) {
  const Program p = program_of("num_ranks 1\nrank 0 {\na: calc 1\na requires b\nb: calc 2\n}");
  EXPECT_EQ(after_end(p, 0, 1), std::vector<u32>{0});
}

TEST(GoalText, ErrorsHaveLineAndColumn) {
  EXPECT_EQ(refusal_of("num_ranks 1\nrank 0 {\n  a: send 8b to 1\n}"), "3:17: rank 1 of 1");
  EXPECT_EQ(refusal_of("num_ranks 1\nrank 0 {\n  a: sent 8b to 0\n}"),
            "3:6: there is \"sent\" where an operation is expected");
  EXPECT_EQ(refusal_of("num_ranks 1\nrank 0 {\n a: calc 1\n a requires c\n}"), "4:13: c is no label of this rank");
  EXPECT_EQ(refusal_of("num_ranks 1\nrank 0 {\n a: calc 1\n a: calc 1\n}"),
            "4:2: the label a stands in line 3 already");
  EXPECT_EQ(refusal_of("num_ranks 1\nrank 0 {\n calc 1 calc 1\n}"),
            "3:9: there is \"calc\" behind the end of a statement");
  EXPECT_EQ(refusal_of("num_ranks 1\nrank 0 {\n send 8 to 0\n}"), "3:9: there is \"to\" where \"b\" is expected");
  EXPECT_EQ(refusal_of("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}"), "4:1: rank 0 a second time");
  EXPECT_EQ(refusal_of("num_ranks 1\nrank 0 {\n calc 99999999999999999999\n}"),
            "3:7: a time in nanoseconds is too large");
  EXPECT_EQ(refusal_of("num_ranks 1\nrank 0 {\n calc 1 cpu 256\n}"), "3:13: the number of a core is 256");
}

TEST(GoalText, AMisspeltWordHasItsRemedy) {
  const auto remedy_of = [](const std::string& line) {
    try {
      static_cast<void>(program_of("num_ranks 1\nrank 0 {\na: calc 1\n" + line + "\n}\n"));
    } catch (const ConfigError& error) { return error.cause() + "; " + error.remedy(); }
    return std::string("read");
  };
  EXPECT_EQ(remedy_of("sned 8b to 0"), "\"sned\" is no operation; did you mean \"send\"?");
  EXPECT_EQ(remedy_of("b: revc 8b from 0"), "there is \"revc\" where an operation is expected; did you mean \"recv\"?");
  EXPECT_EQ(remedy_of("a requres a"), "there is \"requres\" behind the label a; did you mean \"requires\"?");
  EXPECT_EQ(
      remedy_of("a wants a"),
      "there is \"wants\" behind the label a; write LABEL: OPERATION, LABEL requires LABEL or LABEL irequires LABEL");
  EXPECT_EQ(remedy_of("a irequires a"), "read");
}

TEST(GoalText, AFileCutShortSaysWhere) {
  EXPECT_EQ(refusal_of("num_ranks 2\nrank 0 {\n a: calc 1\n"), "4:1: the file ends inside rank 0");
  EXPECT_EQ(refusal_of("num_ranks 2\nrank 0 {\n}\n"), "4:1: the file ends after 1 of 2 ranks, and rank 1 is missing");
  EXPECT_EQ(refusal_of("num_ranks 2 /* no end"), "1:13: a comment that does not end");
}

TEST(GoalText, EveryPrefixIsReadOrRefused) {
  const std::string text = kSmall;
  for (std::size_t size = 0; size < text.size() - 1; ++size)
    EXPECT_NE(refusal_of(text.substr(0, size)), "") << "the first " << size << " characters";
}

TEST(Formats, WhatNobodyKnowsIsRefused) {
  EXPECT_NE(refusal_of("topology = \"mesh\"\n").find("of no workload format"), std::string::npos);
  EXPECT_NE(refusal_of("").find("of no workload format"), std::string::npos);
}

TEST(GoalBinary, TheLayoutIsThatOfLogGOPSim) {
  const Program p = program_of(
      "num_ranks 2\nrank 0 {\na: send 64b to 1 tag 5\nb: calc 9\nb requires a\nb irequires a\n}\n"
      "rank 1 {\nrecv 64b from 0 tag 5\n}");
  std::string bytes;
  const auto put = [&](std::size_t size, u64 value) {
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xffU);
  };
  const auto operation = [&](const std::vector<u64>& fields) {
    const std::vector<std::size_t> sizes{4, 1, 4, 8, 4, 1, 1, 4, 4, 4, 4};
    for (std::size_t i = 0; i < sizes.size(); ++i) put(sizes[i], fields[i]);
  };
  put(8, 4223);
  put(4, 2);
  put(1, 0);
  put(1, 0);
  for (const u64 at : {38U, 136U, 136U, 187U}) put(8, at);
  for (const u64 n : {2U, 1U, 0U}) put(4, n);  // two operations, one of which waits for nothing: number 0
  operation({0, 1, 1, 64, 5, 0, 0, 1, 0, 1, 1});
  operation({2, 3, 0, 9, 0, 0, 0, 0, 2, 0, 2});
  put(4, 1);
  put(4, 1);
  for (const u64 n : {1U, 1U, 0U}) put(4, n);
  operation({0, 2, 0, 64, 5, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(std::string(p.bytes()), bytes);
}

TEST(GoalBinary, EveryPrefixIsRefusedWithItsByte) {
  const std::string bytes(program_of(kSmall).bytes());
  for (std::size_t size = 8; size < bytes.size(); ++size) {
    const std::string said = refusal_of(bytes.substr(0, size));
    EXPECT_NE(said.find("ends at byte " + std::to_string(size)), std::string::npos) << said;
  }
}

TEST(GoalBinary, DamageIsRefusedOrReadsAsSomething) {
  const std::string bytes(program_of(kSmall).bytes());
  std::set<std::string> causes;
  for (std::size_t at = 8; at < bytes.size(); ++at) {
    for (const int flip : {1, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      causes.insert(refusal_of(damaged).substr(0, 30));
    }
  }
  EXPECT_GE(causes.size(), 6U);
}

/// A schedule that may hold anything, described by numbers.
Program made_of(const std::vector<u32>& numbers) {
  ScheduleBuilder builder(3);
  for (const u32 n : numbers) {
    const u32 rank = n % 3;
    const u32 count = builder.operations(rank);
    const u8 cpu = static_cast<u8>(n / 3 % 4);
    switch (n / 16 % 5) {
      case 0:
        builder.send(rank, n, n / 7 % 3, n / 11 % 5, cpu, cpu);
        break;
      case 1:
        builder.receive(rank, n, n % 2 == 0 ? kAnyPeer : n / 7 % 3, n % 5 == 0 ? kAnyTag : n / 11 % 5, cpu);
        break;
      case 2:
        builder.calculate(rank, u64{n} << 20U, cpu);
        break;
      default:
        if (count < 2) break;
        n % 2 == 0 ? builder.after_end(rank, n / 5 % count, n / 9 % count)
                   : builder.after_start(rank, n / 5 % count, n / 9 % count);
    }
  }
  return {builder.build(), "made"};
}

RC_GTEST_PROP(Goal, TextAndBinaryOfOneScheduleAreOne, (const std::vector<u32>& numbers)) {
  const Program made = made_of(numbers);
  const Program text = program_of(to_goal_text(made));
  RC_ASSERT(text.hash() == made.hash());
  RC_ASSERT(text.bytes() == made.bytes());
  const Program binary = program_of(made.bytes());
  RC_ASSERT(binary.hash() == made.hash());
  RC_ASSERT(to_goal_text(binary) == to_goal_text(text));
}

TEST(Goal, TheHashSeesEveryPart) {
  const std::string text = to_goal_text(program_of(kSmall));
  std::set<u64> hashes{program_of(text).hash()};
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return program_of(changed).hash();
  };
  EXPECT_TRUE(hashes.insert(with("send 8b", "send 9b")).second);
  EXPECT_TRUE(hashes.insert(with("tag 3", "tag 4")).second);
  EXPECT_TRUE(hashes.insert(with("to 1", "to 2")).second);
  EXPECT_TRUE(hashes.insert(with("cpu 1", "cpu 0")).second);
  EXPECT_TRUE(hashes.insert(with("nic 2", "nic 1")).second);
  EXPECT_TRUE(hashes.insert(with("irequires", "requires")).second);
  EXPECT_TRUE(hashes.insert(with("calc 7", "calc 8")).second);
}

}  // namespace
}  // namespace banyan::workload::goal_test
