// Does the comparison of two programs' speed fail when it should, and only then?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/repository.hpp"

namespace banyan::bench_test {
namespace {

namespace fs = std::filesystem;
using banyan::test::Output;
using banyan::test::quoted;
using banyan::test::repository_root;
using banyan::test::run_shell;
using banyan::test::TemporaryFolder;

class Bench : public testing::Test {
 protected:
  Bench() {
    fs::create_directories(path("bin"));
    // Counts what the program says that it costs.
    script("bin/valgrind", "for word; do [ -x \"$word\" ] && exec \"$word\" count; done");
    std::ofstream(path("mesh.toml")) << "# nothing\n";
    std::ofstream(path("changes")) << "+- Something else.\n";
  }

  [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path() / name; }

  void script(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(path(name), fs::perms::owner_all);
  }

  /// A program that takes so long and so many instructions.
  void program(const std::string& name, const std::string& seconds, int instructions,
               const std::string& state = "0a") const {
    script(name, "if [ \"$1\" = count ]; then echo \"==1== Collected : " + std::to_string(instructions) +
                     "\" >&2; exit; fi\nprintf '{\\n  \"state_hash\": \"" + state +
                     "\",\\n  \"cpu_seconds\": " + seconds + "\\n}\\n'");
  }

  [[nodiscard]] Output compare() const {
    return run_shell("cd " + quoted(folder_.path()) + " && PATH=" + quoted(path("bin")) + ":$PATH " +
                     quoted(repository_root() / "bench/compare") + " ./base ./head changes mesh.toml");
  }

 private:
  TemporaryFolder folder_;
};

bool says(const Output& output, const std::string& part) { return output.text.find(part) != std::string::npos; }

TEST_F(Bench, EqualProgramsPass) {
  program("base", "0.5", 1000000);
  program("head", "0.51", 1040000);
  const Output output = compare();
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_TRUE(says(output, "1.0 -> 1.0")) << output.text;
  EXPECT_TRUE(says(output, "1.0400")) << output.text;
  EXPECT_TRUE(says(output, "1.020 (1.020 to 1.020)")) << output.text;
  EXPECT_FALSE(says(output, "not the same work")) << output.text;
}

TEST_F(Bench, MoreInstructionsFail) {
  program("base", "0.5", 1000000);
  program("head", "0.5", 1060000);
  const Output output = compare();
  EXPECT_EQ(output.status, 1) << output.text;
  EXPECT_TRUE(says(output, "mesh is more than 5 % slower, and no line of CHANGELOG.md")) << output.text;
}

TEST_F(Bench, MoreTimeFails) {
  program("base", "5e-1", 1000000);
  program("head", "0.53", 1000000);
  EXPECT_EQ(compare().status, 1);
}

TEST_F(Bench, TimeThatMayBeChanceDoesNotFail) {
  program("base", "0.5", 1000000);
  // Every other run takes a third longer.
  script("head",
         "if [ \"$1\" = count ]; then echo \"==1== Collected : 1000000\" >&2; exit; fi\n"
         "if [ -e odd ]; then rm odd; t=0.6; else touch odd; t=0.45; fi\n"
         "printf '{\\n  \"state_hash\": \"0a\",\\n  \"cpu_seconds\": %s\\n}\\n' $t");
  const Output output = compare();
  EXPECT_EQ(output.status, 0) << output.text;
}

TEST_F(Bench, AnExplanationInTheChangeLogIsEnough) {
  program("base", "0.5", 1000000);
  program("head", "0.5", 2000000, "0b");
  std::ofstream(path("changes")) << "+- The speed of `torus` falls.\n-- The speed of `mesh` falls.\n";
  EXPECT_EQ(compare().status, 1);
  std::ofstream(path("changes")) << "+- The speed of `mesh` falls by half, because it computes twice as much.\n";
  const Output output = compare();
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_TRUE(says(output, "the change log says why")) << output.text;
  EXPECT_TRUE(says(output, "not the same work")) << output.text;
}

TEST_F(Bench, AProgramThatFailsIsNoResult) {
  program("base", "0.5", 1000000);
  script("head", "exit 2");
  EXPECT_EQ(compare().status, 2);
}

}  // namespace
}  // namespace banyan::bench_test
