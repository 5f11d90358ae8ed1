// Are texts and tables folded for a terminal so that they can still be read?
#include "banyan/report/terminal_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace banyan::report::terminal_text_test {
namespace {

TEST(TerminalText, WhatFitsStays) {
  const std::string text = "a  b\n1  2\n\n  some words\n";
  EXPECT_EQ(fit_to_columns(text, 40), text);
}

TEST(TerminalText, AWideTableBecomesSeveralWithItsKeys) {
  EXPECT_EQ(fit_to_columns("load  first metric  second metric  third metric\n"
                           "0.1   1 ± 2         3 ± 4          5\n",
                           34),
            "load  first metric  second metric\n"
            "0.1   1 ± 2         3 ± 4\n"
            "\n"
            "load  third metric\n"
            "0.1   5\n");
}

TEST(TerminalText, ExplanationsAreFoldedInTheirColumn) {
  EXPECT_EQ(fit_to_columns("  mesh   Mesh of any number of dimensions, with terminals\n"
                           "  torus  Likewise\n",
                           34),
            "  mesh   Mesh of any number of\n"
            "         dimensions, with\n"
            "         terminals\n"
            "  torus  Likewise\n");
}

TEST(TerminalText, LinesAreFoldedBetweenWordsAndLongWordsWhereTheyMust) {
  EXPECT_EQ(fit_to_columns("one two three four five six\n", 20), "one two three four\n  five six\n");
  EXPECT_EQ(fit_to_columns("abcdefghijklmnopqrstuvwxyz\n", 20), "abcdefghijklmnopqrst\n  uvwxyz\n");
}

/// "<1>" for bold, "<32>" for green, "<0>" for the end.
std::string marks_of(const std::string& text) {
  std::string out = in_colour(text);
  for (std::size_t at = 0; (at = out.find("\x1b[", at)) != std::string::npos;) {
    out.replace(at, 2, "<");
    out[out.find('m', at)] = '>';
  }
  return out;
}

TEST(TerminalText, HeadsOfTablesAndVerdictsAreMarked) {
  EXPECT_EQ(marks_of("load  verdict    latency\n0.1   steady     19\n0.9   saturated  -\n"),
            "<1>load  verdict    latency<0>\n0.1   <32>steady<0>     19\n0.9   <33>saturated<0>  -\n");
  EXPECT_EQ(marks_of("mesh: deadlocked, seed 1\nit was deadlocked, and is\n"),
            "mesh: <31>deadlocked<0>, seed 1\nit was deadlocked, and is\n");
  EXPECT_EQ(marks_of("x: finished, seed 1\n  said above\n  metric  mean ± 95 %\n  hops    -2\n"),
            "x: <32>finished<0>, seed 1\n  said above\n<1>  metric  mean ± 95 %<0>\n  hops    -2\n");
  // Lists of words have no head, prose has no cells.
  const std::string list = "  mesh   Mesh of any number of dimensions\n  torus  Likewise\n\nall is steady here";
  EXPECT_EQ(marks_of(list), list);
  EXPECT_EQ(in_colour(""), "");
}

TEST(TerminalText, UnitsBelowTheHeadAreOfItsTable) {
  EXPECT_EQ(fit_to_columns("queues  load         first metric  second metric of two\n"
                           "        flits/cycle  ns            ns\n"
                           "1q      0.1          1             3\n",
                           46, 2),
            "queues  load         first metric\n"
            "        flits/cycle  ns\n"
            "1q      0.1          1\n"
            "\n"
            "queues  load         second metric of two\n"
            "        flits/cycle  ns\n"
            "1q      0.1          3\n");
}

TEST(TerminalText, LongNamesAreFoldedBehindTheirParts) {
  EXPECT_EQ(fit_to_columns("recn_enhanced_packet_latency\n", 20), "recn_enhanced_\n  packet_latency\n");
}

}  // namespace
}  // namespace banyan::report::terminal_text_test
