// Does multicast_phases say how long headers are and how many phases each encoding takes?
#include <gtest/gtest.h>

#include <map>

#include "support/rows.hpp"

namespace banyan::test::multicast_phases_test {
namespace {

std::map<std::string, double> predicted(i64 hosts, i64 degree) {
  const auto tree = topology("bidirectional_min", {{"hosts", hosts}, {"ports", i64{8}}});
  const core::AnalysisRow& row = row_named(core::analysis_rows(), "multicast_phases");
  core::AnalysisContext context;
  context.topology = tree.get();
  std::map<std::string, double> values;
  for (const core::Prediction& p : row.make(settings(row.info, {{"degree", degree}}), context)->predict()) {
    values[p.metric] = p.value;
  }
  return values;
}

TEST(MulticastPhases, BitStringsNeedOnePhaseAndLongHeadersMultiportTheReverse) {
  auto of = predicted(1024, 16);
  EXPECT_EQ(of["header_bit_string"], 65);
  EXPECT_EQ(of["header_multiport"], 3);
  EXPECT_EQ(of["phases_bit_string"], 1);
  EXPECT_EQ(of["phases_software"], 5);
  EXPECT_GT(of["phases_multiport"], 1);
  EXPECT_LE(of["phases_multiport"], 5);
}

TEST(MulticastPhases, ABroadcastIsAlmostOneSet) {
  auto of = predicted(64, 63);
  EXPECT_EQ(of["worms_multiport"], 3) << "all but the own node: three stages of others";
  EXPECT_EQ(of["phases_multiport"], 2);
}

TEST(MulticastPhases, NeedsADegree) {
  EXPECT_NE(refusal([] { predicted(16, 0); }).find("use the traffic bimodal or multicast, or a degree of 1 to "),
            std::string::npos);
  EXPECT_NE(refusal([] { predicted(16, 16); }), "");
}

}  // namespace
}  // namespace banyan::test::multicast_phases_test
