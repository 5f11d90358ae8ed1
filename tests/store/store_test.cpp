// Does the store give back what was put in, bit for bit, and refuse what it cannot use with one clear message?
#include "banyan/store/store.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <filesystem>

#include "banyan/base/blob.hpp"
#include "banyan/store/sweep.hpp"
#include "store/stores.hpp"

namespace banyan::store::store_test {
namespace {

namespace fs = std::filesystem;

class Store : public StoreTest {};

void expect_equal(const api::Result& a, const api::Result& b) {
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.compiler, b.compiler);
  EXPECT_EQ(a.state_hash, b.state_hash);
  EXPECT_EQ(a.configuration, b.configuration);
  EXPECT_EQ(a.configuration_hash, b.configuration_hash);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.verdict, b.verdict);
  EXPECT_EQ(a.certain, b.certain);
  EXPECT_EQ(a.explanation, b.explanation);
  EXPECT_EQ(a.warning, b.warning);
  EXPECT_EQ(a.group_cycles, b.group_cycles);
  EXPECT_EQ(a.group_cut, b.group_cut);
  EXPECT_EQ(a.checkpoints, b.checkpoints);
  EXPECT_EQ(a.cpu_seconds, b.cpu_seconds);
  EXPECT_EQ(a.peak_bytes, b.peak_bytes);
  ASSERT_EQ(a.metrics.size(), b.metrics.size());
  for (std::size_t i = 0; i < a.metrics.size(); ++i) {
    EXPECT_EQ(a.metrics[i].name, b.metrics[i].name);
    EXPECT_TRUE(a.metrics[i].mean == b.metrics[i].mean || (a.metrics[i].mean != a.metrics[i].mean));
    EXPECT_EQ(a.metrics[i].mean != a.metrics[i].mean, b.metrics[i].mean != b.metrics[i].mean);
    EXPECT_EQ(a.metrics[i].half_width, b.metrics[i].half_width);
    EXPECT_EQ(a.metrics[i].confidence, b.metrics[i].confidence);
    EXPECT_EQ(a.metrics[i].count, b.metrics[i].count);
    EXPECT_EQ(a.metrics[i].unit, b.metrics[i].unit);
    EXPECT_EQ(a.metrics[i].counter, b.metrics[i].counter);
  }
  ASSERT_EQ(a.series.size(), b.series.size());
  for (std::size_t i = 0; i < a.series.size(); ++i) {
    EXPECT_EQ(a.series[i].name, b.series[i].name);
    EXPECT_EQ(a.series[i].unit, b.series[i].unit);
    EXPECT_EQ(a.series[i].start, b.series[i].start);
    EXPECT_EQ(a.series[i].interval, b.series[i].interval);
    EXPECT_EQ(a.series[i].values, b.series[i].values);
  }
  ASSERT_EQ(a.histograms.size(), b.histograms.size());
  for (std::size_t i = 0; i < a.histograms.size(); ++i) {
    EXPECT_EQ(a.histograms[i].name, b.histograms[i].name);
    ASSERT_EQ(a.histograms[i].buckets.size(), b.histograms[i].buckets.size());
    for (std::size_t k = 0; k < a.histograms[i].buckets.size(); ++k) {
      EXPECT_EQ(a.histograms[i].buckets[k].low, b.histograms[i].buckets[k].low);
      EXPECT_EQ(a.histograms[i].buckets[k].high, b.histograms[i].buckets[k].high);
      EXPECT_EQ(a.histograms[i].buckets[k].count, b.histograms[i].buckets[k].count);
    }
  }
  ASSERT_EQ(a.groups.size(), b.groups.size());
  for (std::size_t i = 0; i < a.groups.size(); ++i) {
    EXPECT_EQ(a.groups[i].metric, b.groups[i].metric);
    EXPECT_EQ(a.groups[i].sums, b.groups[i].sums);
  }
}

TEST_F(Store, GivesBackEveryFieldBitForBit) {
  {
    Writer store(folder());
    store.put(example_result(7));
    expect_equal(store.reader().find(7).value(), example_result(7));
  }
  expect_equal(Reader(folder()).find(7).value(), example_result(7));
  expect_equal(Reader(file()).find(7).value(), example_result(7));
  EXPECT_FALSE(Reader(folder()).find(8).has_value());
}

TEST_F(Store, PuttingARunAgainReplacesIt) {
  Writer store(folder());
  store.put(example_result(7));
  api::Result other = example_result(7);
  other.warning.clear();
  other.metrics.pop_back();
  other.series.clear();
  other.groups.clear();
  other.state_hash = 1;
  store.put(other);
  expect_equal(store.reader().find(7).value(), other);
  EXPECT_EQ(store.reader().runs(), std::vector<u64>{7});
}

TEST_F(Store, TheTableHasTheOrderOfTheSweepAndSaysWhatIsMissing) {
  Writer store(folder());
  for (const u64 hash : {3U, 1U}) store.put(example_result(hash));
  store.plan(example_set(4), kSource);
  const Table table = Reader(folder()).table();
  EXPECT_EQ(table.source.file, kSource.file);
  EXPECT_EQ(table.source.text, kSource.text);
  EXPECT_EQ(table.source.overrides, kSource.overrides);
  EXPECT_EQ(table.set.axis_names, example_set(4).axis_names);
  ASSERT_EQ(table.results.size(), 4U);
  EXPECT_EQ(table.finished(), 2U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(table.set.points[i].axes, example_set(4).points[i].axes);
    EXPECT_EQ(table.set.points[i].labels, example_set(4).points[i].labels);
    EXPECT_FALSE(table.set.points[i].labels.empty());
    EXPECT_EQ(table.results[i].has_value(), i == 0 || i == 2);
  }
  EXPECT_EQ(table.results[2]->configuration, example_set(4).points[2].configuration);
}

TEST_F(Store, AnotherSweepInTheFolderLosesNoRun) {
  Writer store(folder());
  store.plan(example_set(2), kSource);
  store.put(example_result(1));
  api::ExperimentSet other = example_set(1);
  other.points[0].configuration_hash = 99;
  store.plan(other, kSource);
  EXPECT_EQ(store.reader().table().finished(), 0U);
  store.plan(example_set(2), kSource);
  EXPECT_EQ(store.reader().table().finished(), 1U);
}

TEST_F(Store, ARunOfAnotherVersionIsNotTakenForOurs) {
  Writer store(folder());
  api::Result old = example_result(7);
  old.version = "0.0.1";
  store.put(old);
  EXPECT_FALSE(store.has(7));
  EXPECT_TRUE(store.reader().find(7).has_value());
  store.put(example_result(7));
  EXPECT_TRUE(store.has(7));
}

TEST_F(Store, ASecondWriterIsToldWhoWrites) {
  const Writer first(folder());
  expect(refusal([&] { Writer second(folder()); }), "is writing to this result store", "wait until it is done");
  expect(refusal([&] { Writer second(folder()); }), "process " + std::to_string(getpid()), "--out");
}

TEST_F(Store, ALockFileOfAKilledProgramBlocksNobody) {
  std::ofstream(fs::path(folder()) / "results.lock") << "12345";
  Writer store(folder());
  store.put(example_result(7));
  EXPECT_TRUE(fs::exists(fs::path(folder()) / "results.lock"));
}

TEST_F(Store, NothingIsLeftBesideTheStore) {
  { Writer(folder()).put(example_result(7)); }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), {}), 1);
}

TEST_F(Store, AWriterThatWroteNothingLeavesNothing) {
  { Writer unused(folder()); }
  EXPECT_TRUE(fs::is_empty(folder()));
}

TEST_F(Store, CanBeReadWhileItIsWritten) {
  Writer store(folder());
  store.plan(example_set(2), kSource);
  const Reader reader(folder());
  EXPECT_EQ(reader.table().finished(), 0U);
  store.put(example_result(1));
  EXPECT_EQ(reader.table().finished(), 1U);
}

// --- what cannot be used -------------------------------------------------------------------------------------------

TEST_F(Store, AMissingStoreSaysHowToFillOne) {
  expect(refusal([&] { Reader reader(folder()); }), "there is no result store", "banyan sweep FILE --out FOLDER");
}

TEST_F(Store, AnEmptyStoreSaysHowToFillIt) {
  std::ofstream(file()).close();
  expect(refusal([&] { Reader reader(folder()); }), "holds no finished run", "banyan sweep FILE --out FOLDER");
  { Writer(folder()).put(example_result(1)); }
  expect(refusal([&] { static_cast<void>(Reader(folder()).table()); }), "holds no finished run", "banyan sweep");
}

TEST_F(Store, AStoreOfANewerFormatIsLeftAlone) {
  { Writer(folder()).put(example_result(1)); }
  Database(file(), Database::Mode::write).run("PRAGMA user_version = 99");
  for (int i = 0; i < 2; ++i) {
    const auto open = [&] { i == 0 ? void(Reader(folder())) : void(Writer(folder())); };
    expect(refusal(open), "has format 99, and this Banyan knows formats up to " + std::to_string(kFormat),
           "newer Banyan");
  }
  Database(file(), Database::Mode::write).run("PRAGMA user_version = " + std::to_string(kFormat));
  EXPECT_TRUE(Reader(folder()).find(1).has_value());
}

TEST_F(Store, ADatabaseOfAnotherProgramIsLeftAlone) {
  Database(file(), Database::Mode::write).run("CREATE TABLE precious(x)");
  expect(refusal([&] { Writer store(folder()); }), "a database of another program", "another folder");
  EXPECT_EQ(Database(file(), Database::Mode::read).number("SELECT count(*) FROM precious"), 0U);
}

TEST_F(Store, AFileThatIsNoDatabaseIsLeftAlone) {
  const std::string text(5000, 'x');
  std::ofstream(file()) << text;
  expect(refusal([&] { Writer store(folder()); }), "damaged", "move it away");
  expect(refusal([&] { Reader store(folder()); }), "damaged", "move it away");
  EXPECT_EQ(test::read_file(file()), text);
}

TEST_F(Store, ATruncatedStoreIsDamaged) {
  {
    Writer store(folder());
    for (u64 i = 1; i < 100; ++i) store.put(example_result(i));
  }
  fs::resize_file(file(), fs::file_size(file()) / 2);
  expect(refusal([&] { Reader store(folder()); }), "damaged", "restore it from a copy");
  expect(refusal([&] { Writer store(folder()); }), "damaged", "restore it from a copy");
}

TEST_F(Store, WhereverAStoreIsBrokenItIsReadOrRefusedButNeverCrashes) {
  {
    Writer store(folder());
    store.plan(example_set(30), kSource);
    for (u64 i = 1; i <= 30; ++i) store.put(example_result(i));
  }
  const std::string whole = test::read_file(file());
  rc::check("overwritten bytes", [&](u32 place) {
    std::string broken = whole;
    for (u32 i = 0; i < 64; ++i) broken[(place + i) % broken.size()] = static_cast<char>(0xa5U ^ i);
    std::ofstream(file(), std::ios::binary) << broken;
    try {
      static_cast<void>(Reader(folder()).table());
    } catch (const ConfigError& error) { RC_ASSERT(!error.remedy().empty()); }
  });
}

TEST_F(Store, AFolderThatCannotBeReadSaysSo) {
  if (geteuid() == 0) GTEST_SKIP() << "the superuser may read everything";
  { Writer(folder()).put(example_result(1)); }
  fs::permissions(file(), fs::perms::none);
  expect(refusal([&] { Reader store(folder()); }), "cannot be opened", "permissions");
}

// --- small parts ---------------------------------------------------------------------------------------------------

RC_GTEST_PROP(Blob, NumbersComeBack, (const std::vector<u64>& whole, const std::vector<double>& reals)) {
  BlobWriter writer;
  for (const u64 value : whole) writer.add(value);
  for (const u64 value : whole) writer.add_fixed(value);
  for (const double value : reals) writer.add(value);
  BlobReader reader(writer.bytes());
  for (const u64 value : whole) RC_ASSERT(reader.natural() == value);
  for (const u64 value : whole) RC_ASSERT(reader.fixed() == value);
  for (const double value : reals) RC_ASSERT(std::bit_cast<u64>(reader.real()) == std::bit_cast<u64>(value));
  RC_ASSERT(reader.done());
}

TEST(Blob, WhatEndsTooEarlyIsRefused) {
  EXPECT_THROW(static_cast<void>(BlobReader("\x80").natural()), std::out_of_range);
  EXPECT_THROW(static_cast<void>(BlobReader("1234567").fixed()), std::out_of_range);
  EXPECT_THROW(static_cast<void>(BlobReader(std::string(10, '\x80')).natural()), std::out_of_range);
}

TEST(Continuation, IsQuotedForAShell) {
  EXPECT_EQ(continuation(kSource, "out"), "banyan sweep 'some file.toml' switch.buffer=8 'name=it'\\''s' --out out");
}

}  // namespace
}  // namespace banyan::store::store_test
