// Is every text that a terminal or an editor would obey found, and is everything else left as it is?
#include "banyan/base/printable.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace banyan::printable_test {
namespace {

TEST(Printable, NamesOfAllScriptsAreLeftAlone) {
  for (const char* name : {"", "fat tree", "σ = 10 Â", "三角", "😀", "a\u00a0b"}) {
    EXPECT_FALSE(text_fault(name).has_value()) << name;
    EXPECT_EQ(with_faults_shown(name), name);
    EXPECT_EQ(without_controls(name), name);
  }
}

TEST(Printable, WhatATerminalObeysIsNamedWithItsPlace) {
  struct Case {
    std::string text;
    std::string what;
    std::string shown;
  };
  const Case cases[] = {
      {"ab\x1b[31m", "the control character U+001B", "ab\\x1b[31m"},
      {std::string("ab\0", 3), "the control character U+0000", "ab\\x00"},
      {"ab\x7f", "the control character U+007F", "ab\\x7f"},
      {"ab\xc2\x9b", "the control character U+009B", "ab\\x9b"},
      {"ab\xe2\x80\xae", "the mark U+202E, which turns the direction of the text", "ab\\u{202e}"},
      {"ab\xe2\x81\xa6", "the mark U+2066, which turns the direction of the text", "ab\\u{2066}"},
      {"ab\xff", "the byte 0xff, which is no UTF-8", "ab\\xff"},
      {"ab\xc0\xaf", "the byte 0xc0, which is no UTF-8", "ab\\xc0\\xaf"},
      {"ab\xed\xa0\x80", "the byte 0xed, which is no UTF-8", "ab\\xed\\xa0\\x80"},
      {"ab\xf4\x90\x80\x80", "the byte 0xf4, which is no UTF-8", "ab\\xf4\\x90\\x80\\x80"},
      {"ab\xe2\x82", "the byte 0xe2, which is no UTF-8", "ab\\xe2\\x82"},
  };
  for (const Case& c : cases) {
    ASSERT_TRUE(text_fault(c.text).has_value()) << c.shown;
    EXPECT_EQ(text_fault(c.text)->at, 2U) << c.shown;
    EXPECT_EQ(text_fault(c.text)->what, c.what);
    EXPECT_EQ(with_faults_shown(c.text), c.shown);
  }
}

RC_GTEST_PROP(Printable, WhatIsShownHasNoFaults, (const std::string& text)) {
  std::string shown = with_faults_shown(text);
  std::erase(shown, '\n');
  RC_ASSERT(!text_fault(shown).has_value());
  RC_ASSERT(!text_fault(without_controls(text)).has_value());
}

}  // namespace
}  // namespace banyan::printable_test
