// Is a value with a unit converted exactly, and refused when its unit does not fit?
#include "banyan/config/units.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace banyan::config::units_test {
namespace {

double converted(const char* text, const char* unit) {
  const auto quantity = parse_quantity(text);
  if (!quantity) return -1.0;
  return convert(*quantity, unit).value_or(-2.0);
}

TEST(Units, PhysicalUnitsConvertExactlyWhereTheyDivideEachOther) {
  EXPECT_EQ(converted("8 Gbps", "Gbps"), 8.0);
  EXPECT_EQ(converted("8 Gbit/s", "Gbps"), 8.0) << "as results print it";
  EXPECT_EQ(converted("8 Gb/s", "Gbps"), 8.0) << "as people write it";
  EXPECT_EQ(converted("8 Gbps", "bytes/ns"), 1.0);
  EXPECT_EQ(converted("1 GB/s", "Gbps"), 8.0);
  EXPECT_EQ(converted("1 bytes/ns", "Mbps"), 8000.0);
  EXPECT_EQ(converted("64 B", "bytes"), 64.0);
  EXPECT_EQ(converted("1.5 KiB", "bytes"), 1536.0);
  EXPECT_EQ(converted("1 KB", "bits"), 8000.0);
  EXPECT_EQ(converted("16 bits", "B"), 2.0);
  EXPECT_EQ(converted("800 us", "ns"), 800000.0);
  EXPECT_EQ(converted("0.1 us", "ns"), 100.0);
  EXPECT_EQ(converted("1 s", "ps"), 1e12);
  EXPECT_EQ(converted("250 ps", "ns"), 0.25);
}

TEST(Units, ABareNumberIsInTheDeclaredUnit) {
  EXPECT_EQ(converted("12", "ns"), 12.0);
  EXPECT_EQ(converted(" -3.5e2 ", ""), -350.0);
  EXPECT_EQ(converted("+7", "cycles"), 7.0);
  EXPECT_EQ(converted("1_000_000", "cycles"), 1e6);
}

TEST(Units, TheSpaceBeforeTheUnitMayBeLeftOut) { EXPECT_EQ(converted("8Gbps", "Mbps"), 8000.0); }

TEST(Units, CountsTakeTheirOwnWordSingularOrPlural) {
  EXPECT_EQ(converted("1 cycle", "cycles"), 1.0);
  EXPECT_EQ(converted("2 cycles", "cycles"), 2.0);
  EXPECT_EQ(converted("3 packets", "packet"), 3.0);
  EXPECT_EQ(converted("3 flits", "packets"), -2.0);
  EXPECT_EQ(converted("3 ns", "cycles"), -2.0);
  EXPECT_EQ(converted("3 cycles", "ns"), -2.0);
}

TEST(Units, APureNumberMayBeWrittenInPercent) {
  EXPECT_EQ(converted("50 %", ""), 0.5);
  EXPECT_EQ(converted("1 %", "%"), 1.0);
  EXPECT_EQ(converted("1 %", "ns"), -2.0);
}

TEST(Units, AnotherDimensionDoesNotFit) {
  EXPECT_EQ(converted("8 Gbps", "bytes"), -2.0);
  EXPECT_EQ(converted("8 B", "Gbps"), -2.0);
  EXPECT_EQ(converted("8 gbps", "Gbps"), -2.0);
  EXPECT_EQ(converted("8 parsec", ""), -2.0);
}

TEST(Units, OnlyNumbersAreQuantities) {
  for (const char* text : {"", " ", "fast", "inf", "nan", "-", "+", ".", "-inf", "_1", "%"}) {
    EXPECT_FALSE(parse_quantity(text)) << text;
  }
}

TEST(Units, IntegersKeepAllTheirBits) {
  const auto quantity = parse_quantity("9223372036854775807 cycles");
  ASSERT_TRUE(quantity && quantity->whole);
  EXPECT_EQ(*quantity->whole, 9223372036854775807LL);
}

TEST(Units, EveryFittingUnitConverts) {
  for (const char* unit : {"ns", "bytes", "Gbps", "%"}) {
    const auto fitting = fitting_units(unit);
    EXPECT_FALSE(fitting.empty());
    for (const std::string& other : fitting) EXPECT_TRUE(convert({1.0, 1, other}, unit)) << other << " to " << unit;
  }
  EXPECT_EQ(fitting_units("cycles"), std::vector<std::string>{"cycles"});
}

RC_GTEST_PROP(Units, ThereAndBackIsTheSameNumber, ()) {
  const auto units = fitting_units("ns");
  const auto from = *rc::gen::elementOf(units);
  const auto to = *rc::gen::elementOf(units);
  const auto number = static_cast<double>(*rc::gen::inRange<i64>(0, 1'000'000'000));
  const double there = *convert({number, std::nullopt, from}, to);
  const double back = *convert({there, std::nullopt, to}, from);
  RC_ASSERT(std::abs(back - number) <= 1e-15 * number);
}

RC_GTEST_PROP(Units, AnyTextIsReadOrRefused, (const std::string& text)) {
  const auto quantity = parse_quantity(text);
  if (quantity) RC_ASSERT(std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

}  // namespace
}  // namespace banyan::config::units_test
