// Is a hot spot that lasts one tree with one life, whatever its worms are waiting for when a sample is taken?
#include <tuple>

#include "banyan/engine/tree_recorder.hpp"
#include "switching/worm_rig.hpp"

namespace banyan::lasting_trees_test {
namespace {

using namespace banyan;
using stats::CongestionEvent;
using stats::CongestionEventKind;
using test::tree;
using test::WormRig;

constexpr u32 kHot = 5;
constexpr u32 kFlits = 64;
constexpr Tick kBegin = 1000;
constexpr Tick kBuiltUp = 12'000;  ///< the excess has filled the buffers on the way
constexpr Tick kEnd = 60'000;

enum class Kind : u8 { unicast, among_multicasts, multicast };

using Case = std::tuple<const char*, u32, Kind>;

/// Six hosts send half as much again to one host as its channel carries: worms for it alone, or for it and two others;
/// among them, where that is asked for, multicasts of all hosts.
void fill(test::Worms& worms, u32 hosts, Kind kind) {
  constexpr u32 kSources = 6;
  const auto other = [&](u64 word, u32 not_this) {
    const u32 host = static_cast<u32>(word % hosts);
    return host == kHot || host == not_this ? (std::max(kHot, not_this) + 1) % hosts : host;
  };
  for (Tick n = 0; kBegin + n * 4 * kFlits < kEnd; ++n) {
    for (u32 s = 0; s < hosts; ++s) {
      const Tick birth = kBegin + n * 4 * kFlits + s;
      const u64 word = mix64(n * hosts + s);
      const bool source = s % (hosts / 8) == 1 && s / (hosts / 8) < kSources && s != kHot;
      std::vector<u32> to{kHot};
      if (kind == Kind::multicast) {
        const u32 first = other(word, s);
        to.push_back(first);
        const u32 second = other(word >> 32U, s);
        if (second != first) to.push_back(second);
      }
      if (source) worms.send(s, to, birth, kFlits);
      if (kind != Kind::among_multicasts || word % 16 != 0) continue;
      const u32 first = other(word >> 20U, s);
      const u32 second = other(word >> 40U, s);
      if (first != second) worms.send(s, {first, second}, birth, kFlits);
    }
  }
}

class LastingTrees : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Switches, LastingTrees,
                         testing::Combine(testing::Values("central_buffer", "input_buffer"), testing::Values(16U, 64U),
                                          testing::Values(Kind::unicast, Kind::among_multicasts, Kind::multicast)));

TEST_P(LastingTrees, AreInEverySampleAndHaveOneLife) {
  const auto& [name, hosts, kind] = GetParam();
  for (const Tick interval : {500U, 1000U}) {
    WormRig rig("bidirectional_min", tree(hosts), name, {});
    fill(*rig.worms, hosts, kind);
    rig.build();
    engine::TreeRecorder recorder(*rig.topology, *rig.routing, {interval, 1.0, kFlits, false});
    while (recorder.next() <= 2 * kEnd) {
      rig.machine->run_until(recorder.next());
      recorder.observe(*rig.machine);
    }
    ASSERT_EQ(rig.machine->next(), kNever) << "all has arrived";
    const u32 root = rig.topology->graph().ejection(kHot);
    const stats::CongestionRecord record = recorder.take();
    u32 samples = 0;
    u32 found = 0;
    for (const stats::CongestionSample& sample : record.samples) {
      if (sample.at < kBuiltUp || sample.at > kEnd) continue;
      ++samples;
      for (const stats::CongestionTree& t : sample.trees) {
        found += t.root == root ? 1U : 0U;
        // A record lasts as long as the run: it has no room for what it left out.
        EXPECT_EQ(t.members.capacity(), t.members.size());
        EXPECT_EQ(t.most_flows.capacity(), t.most_flows.size()) << t.flows << " flows";
        EXPECT_EQ(t.most_victims.capacity(), t.most_victims.size()) << t.victim_flows << " flows";
      }
    }
    EXPECT_GE(100 * found, 99 * samples) << found << " of " << samples;
    std::vector<CongestionEventKind> life;
    for (const CongestionEvent& event : record.events) {
      if (event.root != root && event.old_root != root) continue;
      if (event.kind == CongestionEventKind::grown || event.kind == CongestionEventKind::overlap) continue;
      life.push_back(event.kind);
      EXPECT_TRUE(event.at <= kBuiltUp || event.at > kEnd) << event.at;
    }
    EXPECT_EQ(life, (std::vector{CongestionEventKind::born, CongestionEventKind::died}));
  }
}

}  // namespace
}  // namespace banyan::lasting_trees_test
