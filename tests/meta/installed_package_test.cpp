// Do the examples with components of their own find the installed package, and build and run against it alone?
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "build_info.hpp"
#include "support/repository.hpp"

namespace banyan::installed_package_test {
namespace {

using banyan::test::lines_of;
using banyan::test::Output;
using banyan::test::project_files;
using banyan::test::quoted;
using banyan::test::read_file;
using banyan::test::repository_root;
using banyan::test::run_shell;
using banyan::test::TemporaryFolder;

struct Example {
  const char* folder;
  const char* model;
};

const Example kExamples[] = {{"switch-per-switch", "plain_wormhole"}, {"switch-whole-network", "packet_relay"}};

TEST(InstalledPackage, ExamplesAreShortAndIncludeCoreAndOneHeaderOfTheEngine) {
  static const std::regex include(R"re(^#include "banyan/([a-z_]+)/.*")re");
  for (const Example& example : kExamples) {
    const std::string path = std::string("examples/") + example.folder + "/switching/" + example.model + ".cpp";
    int code = 0;
    int engine = 0;
    for (const std::string& line : lines_of(read_file(repository_root() / path))) {
      const std::size_t first = line.find_first_not_of(' ');
      code += first != std::string::npos && line.compare(first, 2, "//") != 0 ? 1 : 0;
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      engine += match[1] == "engine" ? 1 : 0;
      EXPECT_TRUE(match[1] == "engine" || match[1] == "core") << path << ": " << line;
    }
    EXPECT_LE(code, 150) << path << ": lines that are neither empty nor comments";
    EXPECT_EQ(engine, 1) << path;
  }
}

TEST(InstalledPackage, HeadersIncludeOnlyWhatIsInstalledWithThem) {
  static const std::set<std::string> installed{"base", "stats", "config", "core", "workload", "engine", "api"};
  static const std::regex include(R"re(#\s*include\s*"banyan/([a-z_]+)/)re");
  for (const std::string& room : installed) {
    for (const std::string& file : project_files("src/banyan/" + room + "/", {".hpp"})) {
      const std::string text = read_file(repository_root() / file);
      for (std::sregex_iterator it(text.begin(), text.end(), include); it != std::sregex_iterator(); ++it) {
        EXPECT_TRUE(installed.contains((*it)[1])) << file << " includes a header of " << (*it)[1];
      }
    }
  }
}

/// The headers below a folder are those of core and api, the two of the engine that models are written over, the
/// portable mathematics, and what these include.
void expect_needed_headers(const std::filesystem::path& folder) {
  static const std::regex include(R"re(#\s*include\s*"(banyan/[^"]+)")re");
  std::set<std::string> installed;
  std::set<std::string> needed{"banyan/engine/per_switch.hpp", "banyan/engine/whole_network.hpp",
                               "banyan/base/math.hpp"};
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (!file.is_regular_file()) continue;
    const std::string name = std::filesystem::relative(file.path(), folder).string();
    installed.insert(name);
    const std::string text = read_file(file.path());
    for (std::sregex_iterator it(text.begin(), text.end(), include); it != std::sregex_iterator(); ++it)
      needed.insert((*it)[1]);
    if (name.starts_with("banyan/core/") || name.starts_with("banyan/api/")) needed.insert(name);
  }
  EXPECT_EQ(installed, needed);
  for (const char* seam : {"topology", "routing", "switching", "traffic", "admission", "analysis"})
    EXPECT_TRUE(installed.contains(std::string("banyan/core/") + seam + ".hpp")) << seam;
  for (const char* inner : {"banyan/workload/chakra.hpp", "banyan/engine/checkpoints.hpp"})
    EXPECT_FALSE(installed.contains(inner)) << inner << " is nobody's but the library's";
}

TEST(InstalledPackage, ExamplesFindItBuildAndRun) {
  const std::filesystem::path build = std::filesystem::path(BANYAN_PROGRAM).parent_path();
  if (!std::filesystem::exists(build / "generated/share")) GTEST_SKIP() << "a build with sanitizers is not installed";
  const TemporaryFolder scratch;
  const Output installed =
      run_shell("cmake --install " + quoted(build) + " --prefix " + quoted(scratch.path() / "usr"));
  ASSERT_EQ(installed.status, 0) << installed.text;
  expect_needed_headers(scratch.path() / "usr/include");
  for (const Example& example : kExamples) {
    const std::filesystem::path source = repository_root() / "examples" / example.folder;
    const std::filesystem::path target = scratch.path() / example.folder;
    const Output built =
        run_shell("cmake -G Ninja -S " + quoted(source) + " -B " + quoted(target) +
                  " -DCMAKE_CXX_COMPILER=" BANYAN_CXX " -DCMAKE_PREFIX_PATH=" + quoted(scratch.path() / "usr") +
                  " && cmake --build " + quoted(target));
    ASSERT_EQ(built.status, 0) << built.text;
    const std::string program = quoted(target / "my_banyan");
    const Output described = run_shell(program + " describe " + example.model);
    EXPECT_EQ(described.status, 0) << described.text;
    EXPECT_NE(described.text.find(std::string("switch ") + example.model), std::string::npos) << described.text;
    EXPECT_EQ(run_shell(program + " describe vc_router").status, 0) << "the library's own components are missing";
    // Whatever the order of steps, the shards and who is woken, with full audits: the same state.
    std::set<std::string> states;
    for (const char* mode : {"", " run.step_order=permuted", " run.wake=all", " run.shards=3"}) {
      const Output run = run_shell("cd " + quoted(scratch.path()) + " && " + program + " run " +
                                   quoted(source / "experiment.toml") + " --json --quiet run.audit=full" + mode);
      ASSERT_EQ(run.status, 0) << run.text;
      std::smatch state;
      ASSERT_TRUE(std::regex_search(run.text, state, std::regex(R"re("state_hash": "([0-9a-f]+)")re"))) << run.text;
      states.insert(state[1]);
    }
    EXPECT_EQ(states.size(), 1U) << example.folder;
  }
}

/// The bytes of a built plug-in, with another digest of the same length in place of the one that it was built for.
void forge_interface(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::string bytes = read_file(from);
  const std::size_t at = bytes.find("(interface ");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at + 11, 12, "0123456789ab");
  std::ofstream(to, std::ios::binary) << bytes;
}

TEST(InstalledPackage, LoadsPlugInsThatWereBuiltAgainstIt) {
  const std::filesystem::path build = std::filesystem::path(BANYAN_PROGRAM).parent_path();
  if (!std::filesystem::exists(build / "generated/share")) GTEST_SKIP() << "a build with sanitizers is not installed";
  const TemporaryFolder scratch;
  const std::filesystem::path prefix = scratch.path() / "usr";
  const Output installed = run_shell("cmake --install " + quoted(build) + " --prefix " + quoted(prefix));
  ASSERT_EQ(installed.status, 0) << installed.text;
  const std::filesystem::path source = repository_root() / "examples/plug-in";
  const std::filesystem::path target = scratch.path() / "plug-in";
  const Output built = run_shell("cmake -G Ninja -S " + quoted(source) + " -B " + quoted(target) +
                                 " -DCMAKE_CXX_COMPILER=" BANYAN_CXX " -DCMAKE_PREFIX_PATH=" + quoted(prefix) +
                                 " && cmake --build " + quoted(target));
  ASSERT_EQ(built.status, 0) << built.text;
  const std::string program = "cd " + quoted(scratch.path()) + " && " + quoted(prefix / "bin/banyan");
  const std::string plugin = " --plugin " + quoted(target / "my_components.so");
  const std::string experiment = quoted(source / "experiment.toml");

  for (const char* name : {"complete_graph", "relay", "plain_wormhole", "token_bucket"}) {
    const Output described = run_shell(program + " describe " + name + plugin);
    EXPECT_EQ(described.status, 0) << described.text;
    EXPECT_NE(run_shell(program + " describe " + name).status, 0) << name << " is known without the plug-in";
  }
  EXPECT_EQ(run_shell(program + " describe vc_router" + plugin).status, 0);
  EXPECT_EQ(run_shell(program + " check " + experiment + plugin).status, 0);

  // Whatever the order of steps, the shards and who is woken, with full audits: the same state.
  std::set<std::string> states;
  for (const char* mode : {"", " run.step_order=permuted", " run.wake=all", " run.shards=3"}) {
    const Output run = run_shell(program + " run " + experiment + plugin + " --json --quiet run.audit=full" + mode);
    ASSERT_EQ(run.status, 0) << run.text;
    std::smatch state;
    ASSERT_TRUE(std::regex_search(run.text, state, std::regex(R"re("state_hash": "([0-9a-f]+)")re"))) << run.text;
    states.insert(state[1]);
  }
  EXPECT_EQ(states.size(), 1U);
  // Beside built-in components, and one that refuses what it cannot do.
  const std::string relayed = program + " run " + experiment + plugin + " --quiet routing.way=relayed ";
  const Output together = run_shell(relayed + "switch=vc_router switch.vcs=2");
  EXPECT_EQ(together.status, 0) << together.text;
  const Output alone = run_shell(relayed);
  EXPECT_EQ(alone.status, 2) << alone.text;
  EXPECT_NE(alone.text.find("two steps need two virtual channels"), std::string::npos) << alone.text;

  // A bucket that holds one packet, of which 3 go in 40 cycles: none of the rate is lost by the rounding to whole
  // ticks.
  const Output paced =
      run_shell(program + " run " + experiment + plugin +
                " --json --quiet topology.switches=8 admission.rate=0.3 admission.size=4 traffic.name="
                "permutation traffic.pattern=bit_complement traffic.load=0.8 traffic.size=4 run.measure=20000");
  std::smatch accepted;
  ASSERT_TRUE(std::regex_search(paced.text, accepted, std::regex(R"re("accepted_load"[^}]*"mean": ([0-9.e-]+))re")))
      << paced.text;
  EXPECT_NEAR(std::stod(accepted[1]), 0.3, 0.003);

  // Without it, its components are not known; what is said then is what is done above.
  const Output without = run_shell(program + " check " + experiment);
  EXPECT_EQ(without.status, 2);
  EXPECT_NE(without.text.find("one of a plug-in is there with --plugin FILE"), std::string::npos) << without.text;

  forge_interface(target / "my_components.so", scratch.path() / "old.so");
  const Output old = run_shell(program + " check " + experiment + " --plugin old.so");
  EXPECT_EQ(old.status, 2);
  EXPECT_NE(old.text.find("was built for Banyan " BANYAN_VERSION " (interface 0123456789ab), and this is Banyan"),
            std::string::npos)
      << old.text;
  const Output twice = run_shell(program + " check " + experiment + plugin + plugin);
  EXPECT_EQ(twice.status, 2);
  EXPECT_NE(twice.text.find("and there is one of that name"), std::string::npos) << twice.text;
  const Output none = run_shell(program + " check " + experiment + " --plugin none.so");
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.text.find("no such file"), std::string::npos) << none.text;
  const Output other = run_shell(program + " check " + experiment + " --plugin " + quoted(source / "experiment.toml"));
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.text.find("cannot be loaded"), std::string::npos) << other.text;
}

TEST(DebianPackage, InstallsAndRuns) {
  const std::filesystem::path build = std::filesystem::path(BANYAN_PROGRAM).parent_path();
  if (!std::filesystem::exists(build / "generated/share")) GTEST_SKIP() << "a build with sanitizers is not packed";
  if (run_shell("command -v dpkg-deb dpkg-shlibdeps").status != 0) GTEST_SKIP() << "not a Debian system";
  const TemporaryFolder scratch;
  const std::string here = "cd " + quoted(scratch.path()) + " && ";
  const Output packed = run_shell(here + "cpack -G DEB --config " + quoted(build / "CPackConfig.cmake") + " -B .");
  ASSERT_EQ(packed.status, 0) << packed.text;
  const Output fields = run_shell(here + "dpkg-deb -f banyan_*.deb Package Depends Maintainer Version");
  ASSERT_EQ(fields.status, 0) << fields.text;
  for (const char* needed : {"Package: banyan", "libc6", "libstdc++6", "libfmt9", "libsqlite3-0", "zlib1g"}) {
    EXPECT_NE(fields.text.find(needed), std::string::npos) << needed << " in " << fields.text;
  }
  // The program runs without MPI, and so does its package; what loads MPI is a package beside it.
  EXPECT_EQ(fields.text.find("mpi"), std::string::npos) << fields.text;
  EXPECT_NE(run_shell(here + "dpkg-deb -f banyan_*.deb Suggests").text.find("banyan-mpi"), std::string::npos);
  EXPECT_EQ(run_shell(here + "dpkg-deb -c banyan_*.deb").text.find("banyan_mpi.so"), std::string::npos);
  if (std::filesystem::exists(build / "banyan_mpi.so")) {
    const std::string depends = run_shell(here + "dpkg-deb -f banyan-mpi_*.deb Depends").text;
    EXPECT_NE(depends.find("banyan (= " BANYAN_VERSION), std::string::npos) << depends;
    EXPECT_NE(depends.find("libopenmpi"), std::string::npos) << depends;
    EXPECT_EQ(run_shell(here + "dpkg-deb -c banyan-mpi_*.deb | grep doc/banyan-mpi/copyright").status, 0);
  }
  // What the headers include comes with the package that has them.
  ASSERT_EQ(run_shell(here + "dpkg-deb -x banyan-dev_*.deb dev").status, 0);
  const std::string needs = run_shell(here + "dpkg-deb -f banyan-dev_*.deb Depends").text;
  const Output foreign =
      run_shell(here +
                "grep -rhoE '#include <[^>]+/[^>]+>' dev/usr/include/banyan | sed 's/.*<//; s/>.*//' | "
                "grep -v ^sys/ | sort -u | while read -r f; do dpkg -S \"/usr/include/$f\"; done");
  EXPECT_EQ(foreign.status, 0) << foreign.text;
  std::istringstream lines(foreign.text);
  int packages = 0;
  for (std::string line; std::getline(lines, line); ++packages) {
    EXPECT_NE(needs.find(line.substr(0, line.find(':'))), std::string::npos) << line << " is not in " << needs;
  }
  EXPECT_GE(packages, 3) << foreign.text;
  // What Debian asks of every package.
  EXPECT_EQ(run_shell(here + "dpkg-deb -x banyan_*.deb own && ! readelf -S own/usr/bin/banyan | grep -q symtab && "
                             "zcat own/usr/share/man/man1/banyan.1.gz | head -3 | grep -q '^.TH' && "
                             "zcat own/usr/share/doc/banyan/changelog.gz | head -1 | grep -q '^banyan (" BANYAN_VERSION
                             ")' && "
                             "test $(dpkg-deb -f banyan_*.deb Description | wc -l) -gt 2")
                .status,
            0);
  // A root of its own, with dpkg's own records; what it depends on is this system's.
  const Output installed =
      run_shell(here +
                "mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates root/var/lib/dpkg/triggers && touch "
                "root/var/lib/dpkg/status && dpkg --root=root --log=/dev/null --force-not-root --force-depends "
                "--force-script-chrootless -i banyan_*.deb banyan-dev_*.deb");
  ASSERT_EQ(installed.status, 0) << installed.text;
  const Output listed = run_shell(here + "dpkg --root=root -L banyan banyan-dev");
  for (const char* file :
       {"/usr/bin/banyan", "/usr/share/man/man1/banyan.1", "/usr/include/banyan/core/topology.hpp",
        "BanyanConfig.cmake", "bash-completion/completions/banyan", "/usr/share/zsh/vendor-completions/_banyan",
        "/usr/share/doc/banyan/copyright", "/usr/share/doc/banyan-dev/copyright",
        "/usr/share/doc/banyan/docs/tutorial.md", "/usr/share/doc/banyan/examples/mesh-vc-router.toml"}) {
    EXPECT_NE(listed.text.find(file), std::string::npos) << file << " in " << listed.text;
  }
  const Output run = run_shell(here +
                               "dpkg-deb -x banyan_*.deb unpacked && root/usr/bin/banyan run "
                               "unpacked/usr/share/doc/banyan/examples/congestion-tree-mesh.toml"
                               " run.measure=1000 --quiet --json");
  EXPECT_EQ(run.status, 0) << run.text;
}

}  // namespace
}  // namespace banyan::installed_package_test
