// Do switches reduce what terminals contribute: right values everywhere, in the time that their parts take, whoever
// takes part, whatever else is in the network, and without waiting for each other?
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/switching/worms/reduction_tree.hpp"
#include "support/effort.hpp"
#include "switching/worm_rig.hpp"

namespace banyan::reductions_test {
namespace {

using namespace banyan;
using test::Given;
using test::one_of;

constexpr const char* kTree = "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\n";
constexpr const char* kSwitches = "routing = 'nearest_common_ancestor'\nswitch = 'central_buffer'\n";

api::Experiment read(const std::string& text) {
  return api::read_experiments_text(text, "reductions", {}).points.front();
}
std::string collective(const std::string& more) {
  return "[[traffic]]\nname = 'multicast_collective'\nimplementation = 'in_network'\noperation = 'all_reduce'\n" + more;
}
std::string members(const std::vector<u32>& of) { return fmt::format("members = [{}]\n", fmt::join(of, ", ")); }
const char* const kRun = "[run]\nsessions = 1\naudit = 'full'\n";

double completion(const std::vector<u32>& of, u32 size, u32 hosts = 16) {
  const std::string text = fmt::format("topology = {{ name = 'bidirectional_min', hosts = {}, ports = 8 }}\n", hosts) +
                           kSwitches +
                           collective(fmt::format("size = {}\nroot = {}\n", size, of.front()) + members(of)) + kRun;
  const api::Result result = api::run(read(text), {});
  EXPECT_EQ(result.verdict, api::Verdict::finished) << result.explanation;
  EXPECT_EQ(result.at("delivered_packets").mean, of.size());
  return result.at("completion_time").mean;
}
std::vector<u32> every(u32 step, u32 of) {
  std::vector<u32> found;
  for (u32 t = 0; t < of; t += step) found.push_back(t);
  return found;
}

/// Links of one cycle, chunks of 8 flits. A worm alone passes a switch in 6 cycles. `below`: members' branches at the
/// switches of every level below the one where all meet, from the terminals on.
u32 closed_form(const std::vector<u32>& below, u32 top, u32 flits) {
  const u32 first = std::min(flits, 8U);
  u32 cycles = 1;  // to the first switch
  for (const u32 n : below)
    cycles += n == 1 ? 6 : first + n + 4;  // the last of n chunks is added in its turn, then read
  cycles += first + top + 1;               // added where all meet
  cycles += top + 2;                       // read for the last of as many branches
  for (const u32 n : below) cycles += n == 1 ? 6 : first + n + 4;
  return cycles + flits - 1;
}

TEST(Reductions, AnEmptyNetworkTakesTheTimeOfItsParts) {
  for (const u32 flits : {1U, 2U, 7U, 8U, 9U, 16U, 24U}) {
    EXPECT_EQ(completion(every(1, 4), flits), closed_form({}, 4, flits));
    EXPECT_EQ(completion({1, 3}, flits), closed_form({}, 2, flits));
    EXPECT_EQ(completion(every(1, 16), flits), closed_form({4}, 4, flits));
    EXPECT_EQ(completion(every(2, 16), flits), closed_form({2}, 4, flits));
    EXPECT_EQ(completion({0, 4}, flits), closed_form({1}, 2, flits));
    EXPECT_EQ(completion({0, 1, 8, 9}, flits), closed_form({2}, 2, flits));
    EXPECT_EQ(completion(every(4, 64), flits, 64), closed_form({1, 4}, 4, flits));
    EXPECT_EQ(completion(every(8, 64), flits, 64), closed_form({1, 2}, 4, flits));
  }
  EXPECT_EQ(completion(every(1, 64), 1, 64), closed_form({4, 4}, 4, 1));
  // The first chunks of a long result meet the last ones of what it is the result of: a switch writes one per cycle.
  EXPECT_GE(completion(every(4, 64), 256, 64), closed_form({1, 4}, 4, 256));
  EXPECT_LE(completion(every(4, 64), 256, 64), closed_form({1, 4}, 4, 256) + 16);
}

TEST(Reductions, AnyNumberOfMembersGetsTheSumAndNobodyElseAnything) {
  for (u32 size = 2; size <= 16; ++size) {
    std::vector<u32> of = every(1, 16);
    for (u32 i = 0; i + 1 < of.size(); ++i) std::swap(of[i], of[i + mix64(size * 100 + i) % (of.size() - i)]);
    of.resize(size);
    const std::string text = kTree + std::string(kSwitches) +
                             collective(fmt::format("iterations = 7\nsize = 20\nroot = {}\n", of[0]) + members(of)) +
                             kRun;
    const api::Result result = api::run(read(text), {});
    ASSERT_EQ(result.verdict, api::Verdict::finished) << result.explanation;
    EXPECT_EQ(result.at("delivered_packets").mean, 7.0 * size);
    EXPECT_EQ(result.at("reductions").mean, 7.0);
    EXPECT_EQ(result.at("combined_worms").mean, 7.0 * (size - 1));
  }
}

TEST(Reductions, AreFasterThanWhatTerminalsCombine) {
  for (const char* operation : {"barrier", "all_reduce"}) {
    std::vector<double> times;
    for (const char* how : {"in_network", "hardware", "software"}) {
      const std::string text = kTree + std::string(kSwitches) +
                               fmt::format(
                                   "traffic = {{ name = 'multicast_collective', operation = '{}', "
                                   "implementation = '{}', iterations = 10 }}\n",
                                   operation, how) +
                               kRun;
      times.push_back(api::run(read(text), {}).at("completion_time").mean);
    }
    EXPECT_LT(times[0], times[1]);
    EXPECT_LT(times[1], times[2]);
  }
}

// --- values -----------------------------------------------------------------------------------------------------
/// A collective whose members expect another sum than the one they contribute to.
class Wrong final : public core::Traffic {
 public:
  Wrong(core::Traffic& inner, u64 error) : inner_(inner), error_(error) {}
  void begin(u32 replication) override { inner_.begin(replication); }
  bool next(u32, u64, Tick, core::Message&) const noexcept override { return false; }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override { return inner_.traits(); }
  void start(u32 t, core::Outbox& out) noexcept override { inner_.start(t, out); }
  void delivered(const core::Packet& p, u32 t, Tick now, core::Outbox& out) noexcept override {
    inner_.delivered(p, t, now, out);
  }
  core::MulticastGroup multicast_of(const core::Packet& p) const noexcept override { return inner_.multicast_of(p); }
  void members(std::span<u64> bits) const noexcept override { inner_.members(bits); }
  u64 contribution(u32 t, u32 tag) const noexcept override { return inner_.contribution(t, tag); }
  u64 reduced(u32 tag) const noexcept override { return inner_.reduced(tag) + error_; }

 private:
  core::Traffic& inner_;
  u64 error_;
};

std::string audited(u64 error) {
  const auto& shape = test::row_named(core::topology_rows(), "bidirectional_min");
  const auto topology = shape.make(test::values_of(shape.info, test::tree(16)));
  const auto& how = test::row_named(core::routing_rows(), "nearest_common_ancestor");
  const auto routing = how.make(config::Values::defaults(how.info), {topology.get(), {}, 1});
  const auto& kind = test::row_named(core::traffic_rows(), "multicast_collective");
  const auto inner =
      kind.make(test::values_of(kind.info, {{"implementation", std::string("in_network")}, {"iterations", i64{3}}}),
                {topology.get(), 16, 0, 1});
  Wrong wrong(*inner, error);
  core::Traffic* pointer = &wrong;
  engine::Builder builder(*topology, *routing, std::span<core::Traffic* const>(&pointer, 1), {}, {});
  const auto& row = test::row_named(core::switching_rows(), "central_buffer");
  row.install(config::Values::defaults(row.info), builder);
  engine::Machine machine(builder.take_shards(), std::span<core::Traffic* const>(&pointer, 1), builder.window(), 1);
  machine.reset(0);
  machine.set_window({0, kNever - 1});
  machine.run_until(1000);
  try {
    machine.audit();
  } catch (const std::exception& found) { return found.what(); }
  return "";
}
TEST(Reductions, AWrongValueAtATerminalIsAnErrorOfTheAudit) {
  EXPECT_EQ(audited(0), "");
  EXPECT_NE(audited(1).find("48 results of reductions have another value"), std::string::npos) << audited(1);
}

// --- together with others ---------------------------------------------------------------------------------------
/// A random experiment: a tree, one to three collectives of random members, and what they share the switches with. The
/// buffer has as few chunks as are not refused.
std::string random_experiment(u64 salt) {
  u64 word = mix64(salt);
  const u32 kind = static_cast<u32>(one_of(word, {0, 1, 2, 3}));
  const u32 hosts = kind == 2 ? 27 : kind == 3 ? 12 : one_of(word, {16U, 32U});
  const std::string topology =
      kind == 0   ? fmt::format("{{ name = 'bidirectional_min', hosts = {}, ports = 8, wiring = '{}' }}", hosts,
                                one_of(word, {"perfect_shuffle", "k_ary_n_tree"}))
      : kind == 1 ? fmt::format("{{ name = 'bidirectional_min', hosts = {}, ports = 4 }}", hosts)
      : kind == 2 ? "{ name = 'fat_tree', arity = 3, levels = 3 }"
                  : "{ name = 'mesh', size = [3, 4] }";
  const u32 size = one_of(word, {1U, 5U, 16U, 40U});
  std::string traffics;
  const u32 collectives = one_of(word, {1U, 2U, 3U});
  for (u32 c = 0; c < collectives; ++c) {
    std::vector<u32> of = every(1, hosts);
    for (u32 i = 0; i + 1 < of.size(); ++i) std::swap(of[i], of[i + (word = mix64(word)) % (of.size() - i)]);
    of.resize(2 + (word = mix64(word)) % (hosts - 1));
    traffics += collective(fmt::format("iterations = 12\nsize = {}\nroot = {}\n", c == 0 ? size : 1 + size / 2, of[0]) +
                           members(of));
  }
  if (one_of(word, {0, 1, 1}) != 0) traffics += "[[traffic]]\nname = 'uniform'\nload = 1.0\nsize = 12\nbatch = 80\n";
  if (one_of(word, {0, 1}) != 0) {
    traffics += "[[traffic]]\nname = 'multicast_collective'\noperation = 'all_gather'\nsize = 16\niterations = 6\n";
  }
  const bool together = one_of(word, {0, 0, 1}) != 0;
  const std::string settings = fmt::format(
      "chunk = {}, fifo = 64, bypass = '{}', next_packet_ram = '{}', idle_output = '{}', replication = '{}', "
      "arbitration = '{}', replicate_on = '{}'",
      one_of(word, {4, 8}), one_of(word, {"single_output", "unicast", "never"}), one_of(word, {"shared", "per_output"}),
      one_of(word, {"uncontended", "with_room"}), together ? "synchronous" : "asynchronous",
      together ? "all_at_once" : one_of(word, {"in_order", "per_output"}),
      together ? "way_down" : one_of(word, {"way_down", "way_down", "both_ways"}));
  for (u32 chunks = 16;; chunks += 4) {
    const std::string text = fmt::format(
        "topology = {}\nrouting = '{}'\nswitch = {{ name = 'central_buffer', chunks = {}, {} }}\n{}[run]\n"
        "sessions = 1\naudit = 'full'\n",
        topology, kind == 3 ? "up_down" : "nearest_common_ancestor", chunks, settings, traffics);
    try {
      api::check(read(text));
      return text;
    } catch (const ConfigError& error) {
      if (error.remedy().find("way_down") != std::string::npos) return random_experiment(mix64(salt));
      if (error.remedy().find("chunks") == std::string::npos) throw;
    }
  }
}

TEST(Reductions, EndBesideOthersInBuffersThatAreAsSmallAsTheyMayBe) {
  const u64 tries = test::tries(u64{60}, u64{12});
  for (u64 salt = 1; salt <= tries; ++salt) {
    const std::string text = random_experiment(salt);
    const api::Result result = api::run(read(text), {});
    ASSERT_EQ(result.verdict, api::Verdict::finished) << text << result.explanation;
    if (salt % 4 != 0) continue;
    for (const char* more : {"step_order = 'permuted'\n", "wake = 'all'\n", "shards = 3\n"}) {
      api::RunOptions two;
      two.threads = 2;
      EXPECT_EQ(api::run(read(text + more), two).state_hash, result.state_hash) << more << text;
    }
  }
}

// --- trees ------------------------------------------------------------------------------------------------------
TEST(ReductionTrees, UseBothDirectionsOfACableAndMeetAsLowAsTheyCan) {
  const auto& shape = test::row_named(core::topology_rows(), "bidirectional_min");
  const auto topology = shape.make(test::values_of(shape.info, test::tree(64)));
  const auto& how = test::row_named(core::routing_rows(), "nearest_common_ancestor");
  const auto routes = how.make(config::Values::defaults(how.info), {topology.get(), {}, 1})->multicast_routes();
  const core::Graph& graph = topology->graph();
  for (u32 choice = 0; choice < 8; ++choice) {
    for (const u64 members : {~u64{0}, u64{0x5}, u64{0x1001}, u64{1} << 63 | 1U}) {
      const auto tree = switching::reduction_tree(graph, *routes, std::span(&members, 1), choice);
      ASSERT_TRUE(tree.has_value());
      u32 tops = 0;
      for (u32 s = 0; s < graph.switches(); ++s) {
        const auto& place = tree->places[s];
        if (place.children == 0) continue;
        tops += place.top ? 1U : 0U;
        if (place.top) { EXPECT_EQ(place.children, place.outputs); }
        EXPECT_TRUE(place.top || std::has_single_bit(place.outputs));
      }
      EXPECT_EQ(tops, 1U);
      u32 lowest = kNone;
      for (u32 s = 0; s < graph.switches(); ++s) {
        if ((members & ~*routes->below(s)) == 0) lowest = std::min(lowest, graph.level(s));
      }
      for (u32 s = 0; s < graph.switches(); ++s) {
        if (tree->places[s].top) { EXPECT_EQ(graph.level(s), lowest); }
      }
    }
  }
}

// --- what is refused --------------------------------------------------------------------------------------------
std::string refused(const std::string& text) {
  try {
    api::check(read(text));
  } catch (const ConfigError& error) { return error.cause() + ": " + error.remedy(); }
  return "";
}
TEST(Reductions, WhatCannotReduceIsRefusedWithARemedy) {
  const std::string one = collective("");
  EXPECT_EQ(refused(kTree + std::string("routing = 'nearest_common_ancestor'\nswitch = 'vc_router'\n") + one),
            "the switch vc_router does not add up what passes through it: use the switch central_buffer, or "
            "implementation = \"software\"");
  EXPECT_EQ(refused(kTree + std::string("routing = 'nearest_common_ancestor'\nswitch = 'input_buffer'\n") + one),
            "the switch input_buffer does not add up what passes through it: use the switch central_buffer, or "
            "implementation = \"software\"");
  EXPECT_EQ(refused("topology = { name = 'multistage_cube', terminals = 16, radix = 4 }\nrouting = 'destination_tag'\n"
                    "switch = 'central_buffer'\n" +
                    one),
            "no switch is reached by all members of a collective over those by which it reaches them: use a network "
            "whose links lead both ways, as a fat tree, or implementation = \"hardware\"");
  const std::string start = kTree + std::string("routing = 'nearest_common_ancestor'\n");
  EXPECT_EQ(refused(start + "switch = { name = 'central_buffer', chunks = 36 }\n" + one),
            "sums have 15 chunks of their own, so that 39 are needed with what is held back for others, and the switch "
            "has 36: use at least 39 chunks, or shorter messages, such as more segments of a collective");
  EXPECT_EQ(refused(start + "switch = 'central_buffer'\nadmission = 'dctcp'\n" + one),
            "an admission learns from what arrives, and contributions end in switches: use admission = \"none\", or "
            "implementation = \"hardware\"");
  const auto with = [&](const std::string& more) {
    return refused(start + "switch = 'central_buffer'\n[[traffic]]\nname = 'multicast_collective'\n" + more);
  };
  EXPECT_EQ(with("implementation = 'in_network'\noperation = 'reduce'\n"),
            "switches reduce what all members contribute, and give all of them the result: use operation = \"barrier\" "
            "or \"all_reduce\", or implementation = \"hardware\"");
  EXPECT_EQ(with("implementation = 'in_network'\nencoding = 'multiport'\n"),
            "what is reduced in the network carries the number of its collective, and no header of several: remove it, "
            "or use implementation = \"hardware\"");
  EXPECT_EQ(with("members = [1, 16, 2]\nroot = 1\n"), "there is no terminal 16: terminals are 0 to 15");
  EXPECT_EQ(with("members = [1, 3, 1]\nroot = 1\n"), "terminal 1 is named twice: name every member once");
  EXPECT_EQ(with("members = [1, 3]\nroot = 1\n"),
            "a collective has at least 3 members: name more of them, or none for all terminals");
  EXPECT_EQ(with("members = [1, 3, 5]\n"), "terminal 0 is no member: use the number of a member");
}

}  // namespace
}  // namespace banyan::reductions_test
