// Does tools/check_site find what a site refers to and does not have?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/repository.hpp"

namespace banyan::check_site_test {
namespace {

using banyan::test::Output;
using banyan::test::quoted;
using banyan::test::repository_root;
using banyan::test::run_shell;
using banyan::test::TemporaryFolder;

/// What is said of a site whose index has this text, beside sub/page.html with the place "how-to".
Output checked(const std::string& index) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "sub");
  std::ofstream(folder.path() / "index.html") << index;
  std::ofstream(folder.path() / "sub/page.html") << "<h2 id=\"how-to\">How</h2><a href=\"../index.html#\">up</a>";
  return run_shell(quoted(repository_root() / "tools/check_site") + " " + quoted(folder.path()));
}

TEST(CheckSite, TakesPlacesThatPagesHave) {
  const Output said =
      checked("<a href=\"sub/page.html#how-to\">a</a><a href=\"#top\">b</a><p id=\"c\"><a href=\"#c\">c</a>");
  EXPECT_EQ(said.status, 0) << said.text;
}

TEST(CheckSite, NamesTheNearestOfAPlaceThatIsMissing) {
  const Output said = checked("<a href=\"sub/page.html#hwo-to\">a</a>");
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.text.find("sub/page.html#hwo-to: that page has no place of this name; did you mean #how-to?"),
            std::string::npos)
      << said.text;
  EXPECT_EQ(checked("<a href=\"#missing\">a</a>").status, 1);
}

TEST(CheckSite, FindsFilesThatAreMissingAndOtherHosts) {
  EXPECT_EQ(checked("<a href=\"sub/other.html#how-to\">a</a>").status, 1);
  EXPECT_EQ(checked("<script src=\"https://example.org/a.js\"></script>").status, 1);
  EXPECT_EQ(checked("<a href=\"https://example.org/#a\">a</a>").status, 0);
}

/// A site may lie in a folder of its host.
TEST(CheckSite, FindsLinksThatBeginAtTheHost) {
  EXPECT_EQ(checked("<a href=\"/sub/page.html\">a</a>").status, 1);
  EXPECT_EQ(checked("<form action=\"//search.html\"></form>").status, 1);
}

}  // namespace
}  // namespace banyan::check_site_test
