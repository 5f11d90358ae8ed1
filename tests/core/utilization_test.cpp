// Is a utilization in 16 bits as close as it says, and does a meter find the load of its link and what waits for it?
#include "banyan/core/utilization.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace banyan::core::utilization_test {
namespace {

TEST(Utilization, IsRoundedByAtMostAPartIn4096) {
  double worst = 0.0;
  for (double u = 0x1.001p-16; u < 65'000.0; u *= 1.0003) {
    const double error = std::abs(decode_utilization(encode_utilization(u)) - u) / u;
    worst = std::max(worst, error);
  }
  EXPECT_LE(worst, 0x1p-12);
  EXPECT_GT(worst, 0x1p-13);  // all of the bits are of use
}

TEST(Utilization, CodesAreOrderedAsWhatTheyStandFor) {
  u16 last = 0;
  for (double u = 0x1p-17; u < 100'000.0; u *= 1.001) {
    const u16 code = encode_utilization(u);
    EXPECT_GE(code, last) << u;
    last = code;
  }
  EXPECT_EQ(last, 65'535U);
  for (u32 code = 1; code < 65'536; code += 7) {
    EXPECT_EQ(encode_utilization(decode_utilization(static_cast<u16>(code))), code);
  }
}

TEST(Utilization, EndsAreKept) {
  EXPECT_EQ(encode_utilization(0.0), 0U);
  EXPECT_EQ(encode_utilization(-1.0), 0U);
  EXPECT_EQ(encode_utilization(std::nan("")), 0U);
  EXPECT_EQ(encode_utilization(0x1p-17), 0U);
  EXPECT_EQ(decode_utilization(0), 0.0);
  EXPECT_EQ(encode_utilization(1e30), 65'535U);
  EXPECT_NEAR(decode_utilization(65'535), 0x1p16, 32.0);
}

/// Packets of 10 ticks every 10 / load ticks: the load, and what waits over what the link carries in the period.
TEST(LinkMeter, FindsTheLoadAndTheQueue) {
  for (const double load : {0.1, 0.5, 0.95, 1.0}) {
    for (const double waiting : {0.0, 30.0, 500.0}) {
      LinkMeter meter;
      for (u32 packet = 1; packet <= 400; ++packet) meter.sample(packet * 10.0 / load, waiting, 10.0, 200.0);
      EXPECT_NEAR(meter.utilization(), load + waiting / 200.0, 0.001) << load << " " << waiting;
    }
  }
}

/// A change is seen within a period: e^-1 of it is left after that.
TEST(LinkMeter, ForgetsInAPeriod) {
  LinkMeter meter;
  double now = 0.0;
  for (; now < 2000.0; now += 2.0) meter.sample(now + 2.0, 0.0, 2.0, 200.0);
  for (const double end = now + 200.0; now < end; now += 2.0) meter.sample(now + 2.0, 0.0, 0.0, 200.0);
  EXPECT_NEAR(meter.utilization(), std::exp(-1.0), 0.01);
  meter.sample(now + 1000.0, 0.0, 2.0, 200.0);
  EXPECT_NEAR(meter.utilization(), 0.002, 1e-9);  // nothing is left of what was longer ago
}

}  // namespace
}  // namespace banyan::core::utilization_test
