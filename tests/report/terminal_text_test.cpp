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

TEST(TerminalText, NamesAndUnitsAreFoldedBehindTheirPartsWhereATableFitsThen) {
  const std::string table =
      "  metric                  mean ± 95 %    unit                  samples\n"
      "  accepted_load           0.20 ± 0.01    flits/cycle/terminal     1000\n"
      "  accepted_load_fairness  0.99           of what is there\n"
      "  hops                    6.3  ± 0.1     switches                 1290\n";
  EXPECT_EQ(fit_to_columns(table, 56),
            "  metric          mean ± 95 %  unit              samples\n"
            "  accepted_load   0.20 ± 0.01  flits/cycle/         1000\n"
            "                               terminal\n"
            "  accepted_load_  0.99         of what is there\n"
            "    fairness\n"
            "  hops            6.3  ± 0.1   switches             1290\n");
  // Numbers are never folded: what does not fit then comes in parts.
  EXPECT_EQ(fit_to_columns(table, 36),
            "  metric          mean ± 95 %\n"
            "  accepted_load   0.20 ± 0.01\n"
            "  accepted_load_  0.99\n"
            "    fairness\n"
            "  hops            6.3  ± 0.1\n"
            "\n"
            "  metric          unit\n"
            "  accepted_load   flits/cycle/\n"
            "                  terminal\n"
            "  accepted_load_  of what is there\n"
            "    fairness\n"
            "  hops            switches\n"
            "\n"
            "  metric          samples\n"
            "  accepted_load      1000\n"
            "  accepted_load_\n"
            "    fairness\n"
            "  hops               1290\n");
}

TEST(TerminalText, KeysAreFoldedWhereTheyLeaveNoRoom) {
  EXPECT_EQ(fit_to_columns("traffic.uniform.load  switch.buffer  first metric  second metric\n"
                           "0.1                   4              1 ± 2         3 ± 4\n",
                           36, 2),
            "traffic.    switch.  first metric\n"
            "  uniform.  buffer\n"
            "  load\n"
            "0.1         4        1 ± 2\n"
            "\n"
            "traffic.    switch.  second metric\n"
            "  uniform.  buffer\n"
            "  load\n"
            "0.1         4        3 ± 4\n");
}

/// Cells one space apart have a name above them; the words of the last column have not.
TEST(TerminalText, ProseInTheLastColumnIsFoldedThere) {
  std::string table = "  part          count   source\n";
  for (const char* part : {"buffer_reads ", "buffer_writes", "link_flits   ", "vc_grants    "})
    table += std::string("  ") + part + " 1234567 the same table as it was then\n";
  const std::string text = fit_to_columns(table, 40);
  EXPECT_EQ(text.substr(0, text.find("  buffer_writes")),
            "  part          count   source\n"
            "  buffer_reads  1234567 the same table\n"
            "                        as it was then\n");
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
