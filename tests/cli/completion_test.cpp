// Do the scripts of banyan completion complete what the parser takes, and nothing else?
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "build_info.hpp"
#include "cli/program.hpp"

namespace banyan::cli::completion_test {
namespace {

class Completion : public testing::Test {
 protected:
  void SetUp() override { fresh_scratch(); }

  static std::string shell(const std::string& command) {
    const std::string out = (scratch() / "said").string();
    const int raw = std::system(("( " + command + " ) >" + shell_word(out) + " 2>&1 </dev/null").c_str());
    EXPECT_EQ(raw, 0) << command << read_text(out);
    return read_text(out);
  }

  /// What bash offers for the last of the words.
  static std::vector<std::string> offered(const std::vector<std::string>& words) {
    std::string script =
        "source <(" + shell_word(BANYAN_PROGRAM) + " completion bash); COMP_WORDS=(" + shell_word(BANYAN_PROGRAM);
    for (const std::string& word : words) script += " " + shell_word(word);
    script += "); COMP_CWORD=" + std::to_string(words.size()) + "; _banyan; echo \"${COMPREPLY[@]}\"";
    std::istringstream said(shell("bash -c " + shell_word(script)));
    std::vector<std::string> all;
    for (std::string word; said >> word;) all.push_back(word);
    return all;
  }
  static bool offers(const std::vector<std::string>& words, const std::string& word) {
    const std::vector<std::string> all = offered(words);
    return std::find(all.begin(), all.end(), word) != all.end();
  }

  static bool there_is(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;
  }
};

using Words = std::vector<std::string>;

TEST_F(Completion, OffersCommands) {
  EXPECT_EQ(offered({"sat"}), Words{"saturation"});
  EXPECT_EQ(offered({"study", ""}), (Words{"list", "run", "search", "report"}));
  EXPECT_TRUE(offers({""}, "completion"));
}

TEST_F(Completion, OffersTheOptionsOfTheCommandInUse) {
  EXPECT_EQ(offered({"run", "a.toml", "--th"}), Words{"--threads"});
  EXPECT_EQ(offered({"study", "run", "extra-stage-cube", "--qu"}), (Words{"--quick", "--quiet"}));
  EXPECT_TRUE(offers({"saturation", "--"}, "--width"));
  EXPECT_FALSE(offers({"run", "--"}, "--width"));
  EXPECT_TRUE(offers({"--"}, "--version"));
}

TEST_F(Completion, OffersNamesThatTheProgramKnows) {
  EXPECT_EQ(offered({"describe", "vc_"}), Words{"vc_router"});
  EXPECT_TRUE(offers({"study", "run", ""}, "extra-stage-cube"));
  EXPECT_TRUE(offers({"study", "run", "--out", "somewhere", ""}, "extra-stage-cube"));
  EXPECT_EQ(offered({"completion", ""}), (Words{"bash", "zsh", "fish"}));
}

TEST_F(Completion, OffersTheKeysOfParameters) {
  EXPECT_TRUE(offers({"run", "a.toml", "switch.b"}, "switch.buffer="));
  EXPECT_FALSE(offers({"run", "a.toml", "switch.b"}, "switch.vcs="));
  EXPECT_EQ(offered({"sweep", "a.toml", "run.seed=1", "run.war"}), Words{"run.warmup="});
  EXPECT_TRUE(offers({"study", "run", "extra-stage-cube", "traffic.loa"}, "traffic.load="));
  EXPECT_EQ(offered({"run", "a.toml", "switch.buffer", "=", ""}), Words{}) << "values are not known";
  EXPECT_EQ(offered({"run", "switch.b"}), Words{}) << "the first word is a file";
}

/// Behind a file that is an experiment: only what it can have, and what a key may be.
TEST_F(Completion, OffersTheKeysOfTheExperiment) {
  const std::string file = (scratch() / "e.toml").string();
  std::ofstream(file) << "topology = { name = 'mesh', size = [4] }\nswitch = 'vc_router'\n[[traffic]]\n"
                         "name = 'uniform'\n[[traffic]]\nname = 'hot_spot'\n";
  EXPECT_EQ(offered({"run", file, "switch.buf"}), (Words{"switch.buffer=", "switch.buffer_policy="}));
  EXPECT_EQ(offered({"run", file, "switch.saq"}), Words{}) << "the switch cioq alone has it";
  EXPECT_EQ(offered({"run", file, "traffic.uniform.lo"}), Words{"traffic.uniform.load="});
  EXPECT_EQ(offered({"run", file, "--seed", "2", "traffic.hot_spot.lo"}), Words{"traffic.hot_spot.load="});
  EXPECT_TRUE(offers({"run", file, "rou"}, "routing="));
  EXPECT_EQ(offered({"run", file, "switch.flow", "="}), (Words{"wormhole", "cut_through", "store_and_forward"}));
  EXPECT_EQ(offered({"run", file, "switch.flow", "=", "c"}), Words{"cut_through"});
  EXPECT_EQ(offered({"run", file, "switch.flow=c"}), Words{"switch.flow=cut_through"}) << "as zsh has it";
  EXPECT_EQ(offered({"run", file, "switch.speculative", "=", "t"}), Words{"true"});
  EXPECT_EQ(offered({"sweep", file, "switch", "=", "cio"}), Words{"cioq"});
  EXPECT_EQ(offered({"run", file, "switch.buffer", "=", ""}), Words{});
  // What is listed is a key (some of them: each is a process).
  std::istringstream keys(banyan({"check", "--keys", file}).out);
  unsigned listed = 0;
  for (std::string line; std::getline(keys, line); ++listed) {
    if (listed % 8 != 0) continue;
    const std::string key = line.substr(0, line.find('='));
    const std::string told = banyan({"check", file, key + "=nonsense"}).err;
    EXPECT_EQ(told.find("nothing in this experiment is called"), std::string::npos) << told;
    EXPECT_EQ(told.find("has no parameter"), std::string::npos) << told;
  }
  EXPECT_GT(listed, 50U);
}

TEST_F(Completion, LeavesFilesToTheShell) {
  EXPECT_EQ(offered({"run", ""}), Words{});
  EXPECT_EQ(offered({"run", "a.toml", "--out", ""}), Words{});
  EXPECT_TRUE(offers({"run", "run", ""}, "run.seed=")) << "what follows the file is a key";
}

TEST_F(Completion, EveryCommandThatTheHelpShowsIsOffered) {
  std::istringstream help(banyan({"--help"}).out);
  bool listed = false;
  int found = 0;
  for (std::string line; std::getline(help, line);) {
    if (listed && line.starts_with("  ") && !line.starts_with("   ")) {  // deeper: more about the command above
      const std::string name = line.substr(2, line.find(' ', 2) - 2);
      EXPECT_TRUE(offers({name}, name)) << name;
      ++found;
    }
    listed = listed || line == "Subcommands:";
  }
  EXPECT_GT(found, 10);
}

TEST_F(Completion, OtherShellsTakeTheirScripts) {
  bool tried = false;
  if (there_is("zsh")) {
    tried = true;
    const std::string load = "autoload -U compinit && compinit -D -u; source <(" + shell_word(BANYAN_PROGRAM) +
                             " completion zsh); COMP_WORDS=(banyan sat); COMP_CWORD=1; setopt ksharrays; _banyan; "
                             "echo \"${COMPREPLY[@]}\"";
    EXPECT_TRUE(contains(shell("zsh -f -c " + shell_word(load)), "saturation"));
    // In a folder of functions, as packages install it, it completes at the first call too.
    const std::string typed =
        shell_word(BANYAN_PROGRAM) +
        " completion zsh >_banyan; zmodload zsh/zpty; zpty terminal zsh -f -i; "
        "zpty -w terminal 'fpath=('$PWD' $fpath); autoload -U compinit && compinit -D -u; echo rea\"\"dy'; "
        "zpty -r terminal shown '*ready*'; zpty -w -n terminal $'banyan sat\\t'; "
        "zpty -r terminal shown '*saturation*' && echo completed";
    const std::string told =
        shell("cd " + shell_word(scratch().string()) + " && timeout 20 zsh -f -c " + shell_word(typed));
    EXPECT_TRUE(contains(told, "completed")) << told;
  }
  if (there_is("fish")) {
    tried = true;
    const auto complete = [](const std::string& line) {
      const std::string load = "set -p PATH " +
                               shell_word(std::filesystem::path(BANYAN_PROGRAM).parent_path().string()) +
                               "; banyan completion fish | source; complete -C " + shell_word(line);
      return shell("HOME=" + shell_word(scratch().string()) + " fish -N -c " + shell_word(load));
    };
    EXPECT_TRUE(contains(complete("banyan sat"), "saturation"));
    EXPECT_TRUE(contains(complete("banyan describe vc_"), "vc_router"));
    const std::string options = complete("banyan study run --");
    EXPECT_TRUE(contains(options, "--quick")) << options;
    EXPECT_FALSE(contains(options, "--width")) << options;
    EXPECT_FALSE(contains(complete("banyan run --"), "--quick"));
    const std::string file = (scratch() / "fish.toml").string();
    std::ofstream(file) << "topology = { name = 'mesh', size = [4] }\nswitch = 'vc_router'\ntraffic = 'uniform'\n";
    EXPECT_EQ(complete("banyan run " + file + " switch.buf"), "switch.buffer=\nswitch.buffer_policy=\n");
    EXPECT_EQ(complete("banyan run " + file + " switch.saq"), "") << "the switch cioq alone has it";
    // Beside names of files, which values may be.
    EXPECT_TRUE(contains(complete("banyan run " + file + " switch.flow=c"), "switch.flow=cut_through\n"));
    EXPECT_FALSE(contains(complete("banyan run " + file + " switch.flow=c"), "wormhole"));
    EXPECT_TRUE(contains(complete("banyan run " + file + " switch=cio"), "switch=cioq\n"));
    EXPECT_TRUE(contains(complete("banyan run nothing.toml switch.saq"), "switch.saqs=")) << "of any switch";
  }
  if (!tried) GTEST_SKIP() << "neither zsh nor fish is installed";
}

TEST_F(Completion, AnUnknownShellIsRefused) {
  expect_refusal(banyan({"completion", "tcsh"}), "tcsh", "banyan completion --help");
}

}  // namespace
}  // namespace banyan::cli::completion_test
