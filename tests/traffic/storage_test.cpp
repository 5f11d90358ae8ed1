// Do traces of all formats become requests and responses, and is synthetic I/O self-similar?
#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "banyan/base/error.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/traffic/parts/io_trace.hpp"
#include "component_rows.hpp"
#include "support/rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::storage_test {
namespace {

/// Hurst parameter of counts per interval, by the variances of aggregated series.
double hurst(const std::vector<u64>& counts) {
  // The variance of means over m intervals falls as m^(2H-2): the slope of its logarithm.
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t m = 1; counts.size() / m >= 16; m *= 2) {
    double sum = 0.0;
    double squares = 0.0;
    const std::size_t groups = counts.size() / m;
    for (std::size_t g = 0; g < groups; ++g) {
      double mean = 0.0;
      for (std::size_t i = 0; i < m; ++i) mean += static_cast<double>(counts[g * m + i]);
      mean /= static_cast<double>(m);
      sum += mean;
      squares += mean * mean;
    }
    const auto n = static_cast<double>(groups);
    x.push_back(std::log(static_cast<double>(m)));
    y.push_back(std::log(std::max(squares / n - sum / n * sum / n, 1e-300)));
  }
  double mx = 0.0;
  double my = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mx += x[i] / static_cast<double>(x.size());
    my += y[i] / static_cast<double>(x.size());
  }
  double above = 0.0;
  double under = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    above += (x[i] - mx) * (y[i] - my);
    under += (x[i] - mx) * (x[i] - mx);
  }
  return 1.0 + above / under / 2.0;
}

TEST(IoTrace, ReadsSpc) {
  const auto accesses = read_io_trace("0,20941264,8192,W,0.551706,extra\n1,100,4096,r,0.554041\n", IoFormat::spc, "t");
  ASSERT_EQ(accesses.size(), 2U);
  EXPECT_TRUE(accesses[0].write);
  EXPECT_EQ(accesses[0].bytes, 8192U);
  EXPECT_DOUBLE_EQ(accesses[0].at, 0.0);
  EXPECT_NEAR(accesses[1].at, 0.002335, 1e-9);
  EXPECT_EQ(accesses[1].disk, 1U);
  EXPECT_FALSE(accesses[1].write);
  EXPECT_LT(accesses[1].service, 0.0);
}

TEST(IoTrace, ReadsMsrAndSortsByTime) {
  const auto accesses = read_io_trace(
      "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
      "128166372003061629,usr,0,Read,7014609920,24576,41286\n128166372002869395,src,1,Write,1317441536,8192,1963\n",
      IoFormat::msr, "t");
  ASSERT_EQ(accesses.size(), 2U);
  EXPECT_TRUE(accesses[0].write) << "the earlier one";
  EXPECT_NEAR(accesses[0].service, 1963e-7, 1e-12);
  EXPECT_EQ(accesses[1].bytes, 24576U);
  EXPECT_NE(accesses[0].host, accesses[1].host);
}

/// Timestamps of a real trace are so large that a double of their seconds knows no microseconds.
TEST(IoTrace, KnowsTimesThatAreFarFromItsZeroToTheUnit) {
  const auto gaps = [](const std::vector<IoAccess>& accesses) {
    std::vector<double> list;
    for (const IoAccess& access : accesses) list.push_back(access.at);
    return list;
  };
  std::string msr;
  for (const int later : {0, 10, 20, 40, 10'000})
    msr += std::to_string(128'166'372'003'061'629 + later) + ",usr,0,Read,0,512,1\n";
  const std::vector<double> of_msr = gaps(read_io_trace(msr, IoFormat::msr, "t"));
  ASSERT_EQ(of_msr.size(), 5U);
  EXPECT_NEAR(of_msr[1], 1e-6, 1e-12);
  EXPECT_NEAR(of_msr[2], 2e-6, 1e-12);
  EXPECT_NEAR(of_msr[3], 4e-6, 1e-12);
  EXPECT_NEAR(of_msr[4], 1e-3, 1e-12);
  const std::vector<double> of_srt =
      gaps(read_io_trace("1199145600.000000100 a 0 512 R\n1199145600.000000200 a 0 512 R\n", IoFormat::srt, "t"));
  ASSERT_EQ(of_srt.size(), 2U);
  EXPECT_NEAR(of_srt[1], 1e-7, 1e-9);
  const std::vector<double> of_spc =
      gaps(read_io_trace("0,0,512,R,1199145600.000000100\n0,0,512,R,1199145600.000000200\n", IoFormat::spc, "t"));
  ASSERT_EQ(of_spc.size(), 2U);
  EXPECT_NEAR(of_spc[1], 1e-7, 1e-9);
}

TEST(IoTrace, ReadsSrtText) {
  const auto accesses =
      read_io_trace("# cello\n10.5 1f0a 1048576 8192 R 0.004\n10.6 1f0b 0 512 W\n", IoFormat::srt, "t");
  ASSERT_EQ(accesses.size(), 2U);
  EXPECT_NEAR(accesses[0].service, 0.004, 1e-12);
  EXPECT_LT(accesses[1].service, 0.0);
  EXPECT_NE(accesses[0].disk, accesses[1].disk);
}

TEST(IoTrace, GuessesFormats) {
  EXPECT_EQ(guess_io_format("0,20941264,8192,W,0.551706\n", "t"), IoFormat::spc);
  EXPECT_EQ(guess_io_format("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n", "t"), IoFormat::msr);
  EXPECT_EQ(guess_io_format("1000,0,0,Read,0,24576,41286\n", "t"), IoFormat::msr) << "a host may be a number";
  EXPECT_EQ(guess_io_format("0,20941264,8192,W,0.551706,1,2\n", "t"), IoFormat::spc) << "further fields";
  EXPECT_EQ(guess_io_format("# x\n1 2 3 4 R\n", "t"), IoFormat::srt);
  EXPECT_THROW(guess_io_format("hello\n", "t"), ConfigError);
}

TEST(IoTrace, SaysWhichFieldDoesNotParse) {
  try {
    static_cast<void>(read_io_trace("0,1,512,R,0.5\n0,1,many,R,0.6\n", IoFormat::spc, "disk.spc"));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.where().file, "disk.spc");
    EXPECT_EQ(error.where().line, 2);
    EXPECT_NE(error.cause().find("field 3, the size, is \"many\""), std::string::npos) << error.cause();
  }
  EXPECT_THROW(static_cast<void>(read_io_trace("0,1,512,X,0.5\n", IoFormat::spc, "t")), ConfigError);
  EXPECT_THROW(static_cast<void>(read_io_trace("0,1,512\n", IoFormat::spc, "t")), ConfigError);
  EXPECT_THROW(static_cast<void>(read_io_trace("-1 a 0 512 R\n", IoFormat::srt, "t")), ConfigError);
}

TEST(IoTrace, UnitsBlocksAndDisksAreWholeNumbers) {
  const auto cause = [](const char* text, IoFormat format) -> std::string {
    try {
      static_cast<void>(read_io_trace(text, format, "disk"));
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.where().file, "disk");
      EXPECT_EQ(error.where().line, 2);
      return error.cause();
    }
    return "";
  };
  EXPECT_EQ(cause("0,1,512,R,0.5\nASU,1,512,R,0.6\n", IoFormat::spc), "field 1, the ASU, is \"ASU\"");
  EXPECT_EQ(cause("0,1,512,R,0.5\n1.5,1,512,R,0.6\n", IoFormat::spc), "field 1, the ASU, is \"1.5\"");
  EXPECT_EQ(cause("0,1,512,R,0.5\n0,1.5,512,R,0.6\n", IoFormat::spc), "field 2, the LBA, is \"1.5\"");
  EXPECT_EQ(cause("1,usr,0,Read,0,512,1\n1,usr,C:,Read,0,512,1\n", IoFormat::msr),
            "field 3, the disk number, is \"C:\"");
}

TEST(SyntheticIo, HasItsRateAndIsSelfSimilar) {
  SyntheticIo plan;
  plan.hosts = 48;
  plan.disks = 16;
  plan.seconds = 20.0;
  plan.accesses_per_second = 5000;
  const std::vector<IoAccess> accesses = synthesize_io(plan);
  EXPECT_NEAR(static_cast<double>(accesses.size()) / plan.seconds, 5000, 1500) << "heavy tails converge slowly";
  std::vector<u64> counts(8192);
  std::vector<u64> disks(plan.disks);
  for (const IoAccess& access : accesses) {
    ++counts[static_cast<std::size_t>(access.at / plan.seconds * 8192)];
    ++disks[access.disk];
  }
  // Expected 0.8; a Poisson process has 0.5.
  EXPECT_GT(hurst(counts), 0.65);
  EXPECT_LT(hurst(counts), 0.98);
  EXPECT_GT(disks[0], disks[15]);
  std::vector<u64> even(8192);
  const Random random(1, Stream{"test"}, 2, 3);
  for (u64 n = 0; n < 100'000; ++n) ++even[random.at(n, 0)[0] % 8192];
  EXPECT_NEAR(hurst(even), 0.5, 0.1);
}

/// However few accesses there are in a burst: what comes after its end belongs to no pause.
TEST(SyntheticIo, HasItsRateWhereBurstsAreShort) {
  for (const double in_a_burst : {0.5, 4.0, 20.0}) {
    SyntheticIo plan;
    plan.hosts = 100;
    plan.disks = 4;
    plan.tail = 1.95;  // its means converge
    plan.burst_seconds = 0.01;
    plan.seconds = 20.0;
    plan.accesses_per_second = in_a_burst / plan.burst_seconds * plan.on * plan.hosts;
    const auto accesses = static_cast<double>(synthesize_io(plan).size());
    EXPECT_NEAR(accesses / plan.seconds / plan.accesses_per_second, 1.0, 0.05) << in_a_burst << " accesses in a burst";
  }
}

/// From the first moment on, and at each: a process that began with bursts, or with pauses, would be told by short
/// runs.
TEST(SyntheticIo, HasItsRateAtEveryMoment) {
  for (const auto& [on, tail] :
       {std::pair{0.25, 1.4}, std::pair{0.05, 1.4}, std::pair{0.9, 1.1}, std::pair{0.5, 1.95}}) {
    constexpr u32 kWindows = 5;
    constexpr u32 kDraws = 400;
    std::vector<std::vector<double>> counts(kWindows, std::vector<double>(kDraws));
    SyntheticIo plan;
    plan.hosts = 100;
    plan.disks = 4;
    plan.on = on;
    plan.tail = tail;
    plan.burst_seconds = 0.01;
    plan.seconds = 0.05;
    plan.accesses_per_second = 20'000;
    for (u32 draw = 0; draw < kDraws; ++draw) {
      plan.replication = draw;
      for (const IoAccess& access : synthesize_io(plan))
        ++counts[static_cast<std::size_t>(access.at / plan.seconds * kWindows)][draw];
    }
    for (u32 w = 0; w < kWindows; ++w) {
      const double mean = std::accumulate(counts[w].begin(), counts[w].end(), 0.0) / kDraws;
      double square = 0.0;
      for (const double count : counts[w]) square += (count - mean) * (count - mean);
      const double error = std::sqrt(square / (kDraws - 1) / kDraws);
      const double expected = plan.accesses_per_second * plan.seconds / kWindows;
      EXPECT_NEAR(mean, expected, 4.5 * error) << "on " << on << ", tail " << tail << ", window " << w;
      EXPECT_LT(error, 0.02 * expected) << "the test sees an excess of a tenth";
    }
  }
}

std::unique_ptr<core::Traffic> make_storage(const test::Settings& given, u32 terminals) {
  config::Values values = config::Values::defaults(traffic::storage::row_storage.info);
  for (const auto& [name, value] : given) values.set(name, value);
  core::TrafficContext context;
  context.terminals = terminals;
  context.cycle_ns = 1.0;
  auto traffic = traffic::storage::row_storage.make(values, context);
  traffic->begin(0);
  return traffic;
}

/// A switch without nanoseconds, or with too many cycles in them, is refused by what the file says, not by the accesses
/// that a replication happens to draw: the first one may have none.
TEST(Storage, TimesAreRefusedWhateverIsDrawn) {
  const auto cause = [](double cycle_ns, double length, double rate) -> std::string {
    config::Values values = config::Values::defaults(traffic::storage::row_storage.info);
    values.set("disks", i64{1});
    values.set("length", length);
    values.set("rate", rate);
    core::TrafficContext context;
    context.terminals = 3;
    context.cycle_ns = cycle_ns;
    try {
      static_cast<void>(traffic::storage::row_storage.make(values, context));
    } catch (const ConfigError& error) { return error.cause(); }
    return "";
  };
  for (const double rate : {1e-9, 2e6}) {
    EXPECT_EQ(cause(0.0, 1000.0, rate), "the times of storage are nanoseconds, and the switch has only cycles") << rate;
  }
  EXPECT_EQ(cause(1e-9, 1e15, 1e-9), "1000000000000000 ns are more cycles than can be counted");
  EXPECT_EQ(cause(1.0, 1000.0, 1e-9), "");
}

TEST(Storage, AReadIsAShortRequestAndALongAnswer) {
  const std::string file = ::testing::TempDir() + "/two.spc";
  std::ofstream(file) << "0,0,4096,R,1.0\n0,0,512,W,1.001\n";
  const auto traffic =
      make_storage({{"file", file}, {"disks", i64{1}}, {"compression", 1000.0}, {"service", 300.0}}, 3);
  core::Message message;
  ASSERT_TRUE(traffic->next(0, 0, kNever, message));  // host 0 asks disk 2
  EXPECT_EQ(message.destination, 2U);
  EXPECT_EQ(message.flits, 64U);
  EXPECT_EQ(message.birth, 0U);
  ASSERT_TRUE(traffic->next(0, 1, 0, message));
  EXPECT_EQ(message.flits, 64U + 512U);
  EXPECT_EQ(message.birth, 1000U) << "a millisecond, compressed";
  ASSERT_TRUE(traffic->next(2, 0, kNever, message));  // the disk answers
  EXPECT_EQ(message.destination, 0U);
  EXPECT_EQ(message.flits, 64U + 4096U);
  EXPECT_EQ(message.birth, 300U);
  EXPECT_FALSE(traffic->next(1, 0, kNever, message));
}

/// What is drawn before the first cycle is bounded. Before, bursts of next to no length, or one that began an age ago,
/// were drawn for ever.
TEST(Storage, WhatCannotBeDrawnIsRefused) {
  const auto refusal = [](test::Settings given) -> std::string {
    given.insert(given.begin(), {"disks", i64{4}});
    try {
      static_cast<void>(make_storage(given, 16));
    } catch (const ConfigError& error) { return error.cause(); }
    return "";
  };
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({{"burst", 1e300}}), "") << "in bursts for ever, or in pauses";
  EXPECT_EQ(refusal({{"burst", 1e-100}}), "3e+106 bursts of all hosts are too many")
      << "12 hosts, a quarter of the time";
  EXPECT_EQ(refusal({{"length", 1e15}, {"rate", 1.0}, {"burst", 20.0}}), "1.5e+14 bursts of all hosts are too many");
  EXPECT_EQ(refusal({{"rate", 1e300}}), "1e+297 accesses are too many");
  EXPECT_EQ(refusal({{"rate", 4e10}, {"on", 0.01}}), "up to 4e+09 accesses, in bursts without a pause, are too many");
  EXPECT_EQ(refusal({{"compression", 1e300}}), "2e+303 accesses are too many");
  EXPECT_EQ(refusal({{"length", 1e6}, {"burst", 1e9}}), "") << "a burst that is longer than the run";
}

TEST(Storage, RefusesAsManyDisksAsTerminals) { EXPECT_THROW(make_storage({{"disks", i64{16}}}, 16), ConfigError); }

}  // namespace
}  // namespace banyan::traffic::storage_test
