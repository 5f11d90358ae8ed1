// Does the digest that checkpoints go with change with every source that may keep state?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "banyan/api/version.hpp"
#include "support/repository.hpp"

namespace banyan::state_digest_test {
namespace {

using banyan::test::quoted;
using banyan::test::repository_root;
using banyan::test::run_shell;
using banyan::test::TemporaryFolder;

/// The digest of a tree of sources.
std::string digest_of(const std::filesystem::path& sources, const std::filesystem::path& folder) {
  EXPECT_EQ(run_shell("cmake -DVERSION=1 -DSOURCES=" + quoted(sources) + " -DFOLDER=" + quoted(folder) + " -P " +
                      quoted(repository_root() / "cmake/Interface.cmake"))
                .status,
            0);
  std::ifstream file(folder / "banyan_state.hpp");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t at = text.find("BANYAN_STATE \"");
  return at == std::string::npos ? "" : text.substr(at + 14, 12);
}

TEST(StateDigest, IsThatOfTheSourcesOfTheSimulator) {
  const TemporaryFolder folder;
  EXPECT_EQ(digest_of(repository_root() / "src/banyan", folder.path()), api::state_digest());
}

TEST(StateDigest, ChangesWithWhatMayKeepState) {
  const TemporaryFolder folder;
  const std::filesystem::path sources = folder.path() / "src";
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((sources / name).parent_path());
    std::ofstream(sources / name) << text;
    return digest_of(sources, folder.path());
  };
  const std::string first = write("switching/vc_router/base.hpp", "one");
  EXPECT_EQ(first.size(), 12U);
  const std::string second = write("switching/vc_router/base.hpp", "two");
  EXPECT_NE(second, first);
  const std::string third = write("engine/flows.cpp", "three");
  EXPECT_NE(third, second);
  EXPECT_EQ(write("cli/run.cpp", "four"), third);  // prints, and keeps nothing
}

}  // namespace
}  // namespace banyan::state_digest_test
