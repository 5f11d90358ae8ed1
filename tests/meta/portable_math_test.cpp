// Does whatever generates, routes and switches use only functions that give the same bits on every machine?
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "banyan/base/types.hpp"
#include "support/repository.hpp"

namespace banyan::portable_math_test {
namespace {

using banyan::test::lines_of;
using banyan::test::project_files;
using banyan::test::read_file;
using banyan::test::repository_root;

/// IEEE 754 rounds basic operations and the square root in one way; the last bit of these depends on the library.
TEST(PortableMath, NoLibraryFunctionWhoseLastBitMayDifferDecidesOnARun) {
  static const std::regex call(
      R"(std::(log|log2|log10|log1p|exp|exp2|expm1|pow|cbrt|hypot|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|erf|erfc|lgamma|tgamma)f?\s*\()");
  // Distributions of the standard library are whatever its authors chose.
  static const std::regex distribution(R"(std::[a-z_]+_distribution\b)");
  int files = 0;
  for (const char* room : {"base", "core", "engine", "topology", "routing", "switching", "traffic", "admission"}) {
    for (const std::string& file : project_files(std::string("src/banyan/") + room + "/", {".cpp", ".hpp"})) {
      ++files;
      u64 number = 0;
      for (const std::string& line : lines_of(read_file(repository_root() / file))) {
        ++number;
        if (line.find("//") < line.find("std::")) continue;
        EXPECT_FALSE(std::regex_search(line, call) || std::regex_search(line, distribution))
            << file << ":" << number << ": use banyan/base/math.hpp: " << line;
      }
    }
  }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace banyan::portable_math_test
