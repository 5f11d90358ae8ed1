// Does O1TURN halve the traffic between the two orders, minimally and without cycles?
#include <gtest/gtest.h>

#include "routing/spaces.hpp"

namespace banyan::test::o1turn_test {
namespace {

TEST(O1Turn, IsMinimalAndHasNoCycles) {
  for (const auto& t : spaces()) {
    const u32 vcs = 2 * ring_classes(*t);
    const auto r = routing("o1turn", *t, vcs);
    expect_minimal(*t, *r, 4);
    expect_verdict(*t, *r, vcs, core::DependencyVerdict::acyclic);
    expect_verdict(*t, *routing("o1turn", *t, vcs + 1), vcs + 1, core::DependencyVerdict::acyclic);
  }
}

TEST(O1Turn, HalfOfTheHeadersGoAlongEachDimensionFirst) {
  const auto mesh = mesh_of({4, 4});
  const auto r = routing("o1turn", *mesh, 2);
  for (const u32 word : {0U, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
    core::Packet packet;
    packet.destination = 10;
    r->prepare(packet, word);
    core::RouteRequest request;
    request.packet = &packet;
    request.in_port = 4;
    core::Candidates next;
    r->route(request, next);
    ASSERT_EQ(next.size(), 1U);
    EXPECT_EQ(next[0].port, word < 0x80000000U ? mesh->grid()->port_up[0] : mesh->grid()->port_up[1]);
    EXPECT_EQ(next[0].vc_begin, word < 0x80000000U ? 0 : 1);
  }
}

/// Some ports of some switch are occupied.
class Occupied final : public core::Occupancy {
 public:
  explicit Occupied(std::vector<u32> used) : used_(std::move(used)) {}
  [[nodiscard]] u32 used(u32, u32 port) const noexcept override { return used_[port]; }

 private:
  std::vector<u32> used_;
};

TEST(O1Turn, AdaptiveHeadsTakeTheEmptierOfTwoFirstChannels) {
  const auto mesh = mesh_of({4, 4});
  const auto r = routing("o1turn", *mesh, 2, {{"choice", std::string("adaptive")}});
  const u32 x = mesh->grid()->port_up[0];
  const u32 y = mesh->grid()->port_up[1];
  const auto first_port = [&](u32 used_x, u32 used_y, u32 word) {
    std::vector<u32> used(8, 0);
    used[x] = used_x;
    used[y] = used_y;
    const Occupied occupied(used);
    core::Packet packet;
    packet.destination = 10;
    r->prepare(packet, word);
    core::RouteRequest request;
    request.packet = &packet;
    request.in_port = 4;
    request.occupancy = &occupied;
    core::Candidates next;
    r->route(request, next);
    return next[0].port;
  };
  for (const u32 word : {0U, 0xffffffffU}) {
    EXPECT_EQ(first_port(3, 2, word), y);
    EXPECT_EQ(first_port(2, 3, word), x);
  }
  EXPECT_EQ(first_port(2, 2, 0), x);
  EXPECT_EQ(first_port(2, 2, 0xffffffffU), y) << "ties are drawn";
}

TEST(O1Turn, AdaptiveOrdersHaveNoCycleAndAreMinimal) {
  for (const auto& t : spaces()) {
    const u32 vcs = 2 * ring_classes(*t);
    const auto r = routing("o1turn", *t, vcs, {{"choice", std::string("adaptive")}});
    expect_verdict(*t, *r, vcs, core::DependencyVerdict::acyclic);
  }
}

TEST(O1Turn, OneClassForBothOrdersWouldHaveACycle) {
  // Why two virtual channels are required.
  const auto mesh = mesh_of({4, 4});
  EXPECT_EQ(routing("o1turn", *mesh, 2)->required_vcs(), 2U);
  EXPECT_NE(refusal([&] { routing("o1turn", *mesh, 1); }).find("with vcs = 2"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::o1turn_test
