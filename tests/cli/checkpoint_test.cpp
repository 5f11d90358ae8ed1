// Does a run that is killed at any moment end, when it is resumed, as the undisturbed one; and is what is no checkpoint
// of this run refused in one sentence?
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cli/program.hpp"
#include "support/effort.hpp"

extern char** environ;

namespace banyan::cli::checkpoint_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

class Checkpoints : public testing::Test {
 protected:
  Checkpoints() { fresh_scratch(); }

  /// A run on each of the switch models: half a second or so.
  static const std::vector<std::pair<std::string, std::string>>& experiments() {
    static const std::string run = "[run]\nwarmup = 500\nextension = 1\n";
    static const std::vector<std::pair<std::string, std::string>> all{
        {"vc_router",
         "topology = { name = \"mesh\", size = [16, 16] }\nswitch = \"vc_router\"\nrouting = \"dimension_order\"\n"
         "traffic = { name = \"uniform\", load = 0.3, size = 5, reply_size = [2] }\n" +
             run + "measure = 5000\nshards = 4\n"},
        {"cioq",
         "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = { name = \"cioq\" }\n"
         "routing = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\ntraffic = { name = \"hot_spot\", load = "
         "0.4, size = 64 }\n" +
             run + "measure = 60000\n"},
        {"packet_node",
         "topology = { name = \"hypercube\", degree = 6 }\nswitch = \"packet_node\"\nrouting = \"ecube\"\n"
         "traffic = { name = \"uniform\", load = 0.02, size = 32 }\n" +
             run + "measure = 1000000\n"},
        {"output_queued",
         "topology = { name = \"extra_stage_cube\", terminals = 64, radix = 4 }\n"
         "switch = { name = \"output_queued\", buffer = 8 }\nrouting = \"isolated_hot_spot\"\n"
         "[[traffic]]\nname = \"synchronization\"\nmean = 200\ndeviation = 10\n"
         "[[traffic]]\nname = \"uniform\"\nload = 0.5\ninclude_self = true\n[run]\nsessions = 200\n"},
        {"circuit",
         "topology = { name = \"torus\", size = [8, 8] }\nswitch = \"circuit\"\nrouting = \"dimension_order\"\n"
         "traffic = { name = \"uniform\", load = 0.1, size = 64 }\n" +
             run + "measure = 100000\ntrees = true\n"},
        {"central_buffer",
         "topology = { name = \"bidirectional_min\", hosts = 64, ports = 8 }\nswitch = \"central_buffer\"\n"
         "routing = \"nearest_common_ancestor\"\ntraffic = { name = \"bimodal\", load = 0.3 }\n" +
             run + "measure = 20000\n"},
        {"input_buffer",
         "topology = { name = \"bidirectional_min\", hosts = 64, ports = 8 }\nswitch = \"input_buffer\"\n"
         "routing = \"nearest_common_ancestor\"\ntraffic = { name = \"bimodal\", load = 0.3 }\n" +
             run + "measure = 20000\n"},
        {"admission",
         "topology = { name = \"mesh\", size = [8, 8] }\nswitch = \"vc_router\"\nrouting = \"dimension_order\"\n"
         "traffic = { name = \"hot_spot\", load = 0.3, size = 5 }\nadmission = \"swift\"\n" +
             run + "measure = 20000\n"},
        {"jobs",
         "topology = { name = \"fat_tree\", arity = 4, levels = 3 }\nswitch = { name = \"vc_router\", vcs = 2, buffer "
         "= 16 }\n"
         "routing = \"up_down\"\ntraffic = { name = \"uniform\", load = 0.05, size = 8 }\nflit = \"32 B\"\n"
         "[[job]]\nname = \"asks\"\nplacement = \"random\"\nhost = { overhead = 7, eager = 1000 }\n"
         "generator = { collective = \"all_to_all\", algorithm = \"pairwise\", bytes = \"32 KiB\", ranks = 16 }\n"
         "[[job]]\nname = \"ring\"\nplacement = \"random\"\nstart = 300\nrepeats = 3\nhost = { overhead = 3 }\n"
         "generator = { collective = \"all_reduce\", algorithm = \"ring\", bytes = \"32 KiB\", ranks = 24 }\n"},
        {"jobs_ideal", ideal_jobs("physical")},
        {"jobs_loggopsim", ideal_jobs("loggopsim")}};
    return all;
  }
  /// Two jobs one after the other, of more than a million operations each.
  static std::string ideal_jobs(const std::string& rules) {
    const std::string host = "\nhost = { overhead = 5, gap = 2, eager = 1000, rules = \"" + rules + "\" }\n";
    return "topology = { name = \"fat_tree\", arity = 8, levels = 2 }\n"
           "switch = { name = \"ideal\", latency = 50, per_byte = 1 }\n"
           "[[job]]\nname = \"a\"\nrepeats = 250" +
           host +
           "generator = { collective = \"all_to_all\", algorithm = \"pairwise\", bytes = \"64 KiB\", ranks = 48 }\n" +
           "[[job]]\nname = \"b\"\nrepeats = 300" + host +
           "generator = { collective = \"all_reduce\", algorithm = \"ring\", bytes = \"32 KiB\", ranks = 40 }\n";
  }

  /// `banyan ARGUMENTS` in the test's folder, with standard output in `out`.
  static pid_t start(const Words& arguments, const std::string& out) {
    Words words{BANYAN_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, (scratch() / out).c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, (scratch() / ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
    posix_spawn_file_actions_addchdir_np(&files, scratch().c_str());
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, BANYAN_PROGRAM, &files, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
    return child;
  }
  /// Exit status; -1: killed.
  static int wait_for(pid_t child) {
    int raw = 0;
    waitpid(child, &raw, 0);
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  }

  /// What a run says, but for what it cost.
  static json result_of(const std::string& text) {
    json result = json::parse(text, nullptr, false);
    EXPECT_FALSE(result.is_discarded()) << text;
    for (const char* cost : {"cpu_seconds", "peak_bytes"}) result.erase(cost);
    return result;
  }

  /// Kills the run as often at random moments, each a part of `whole`, and lets it end then.
  json killed(const std::string& file, const Words& more, milliseconds whole, int times) {
    Words from{file + ".toml"};
    for (int i = 0; i <= times; ++i) {
      Words words{"run"};
      words.insert(words.end(), from.begin(), from.end());
      words.insert(words.end(), {"--json", "--quiet", "--checkpoint", file + ".state", "--checkpoint-every", "0.01s"});
      words.insert(words.end(), more.begin(), more.end());
      const pid_t child = start(words, ".out");
      if (i < times) {
        std::this_thread::sleep_for(milliseconds(random_() % static_cast<unsigned long>(whole.count() + 1)));
        kill(child, SIGKILL);
      }
      const int status = wait_for(child);
      if (status >= 0) {
        EXPECT_EQ(status, 0) << read_text(scratch() / ".err");
        break;
      }
      ++kills_;
      if (fs::exists(scratch() / (file + ".state"))) from = {"--resume", file + ".state"};
    }
    return result_of(read_text(scratch() / ".out"));
  }

  void expect_survival(const Words& more, int times) {
    if (test::kSanitized) GTEST_SKIP() << "how programs die is the other builds' affair";
    for (const auto& [name, text] : experiments()) {
      write_text(name + ".toml", text);
      Words words{"run", name + ".toml", "--json", "--quiet"};
      words.insert(words.end(), more.begin(), more.end());
      const auto begin = Clock::now();
      const Said whole = banyan(words);
      ASSERT_EQ(whole.status, 0) << name << ": " << whole.err;
      const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
      EXPECT_EQ(killed(name, more, took, times), result_of(whole.out)) << name;
      for (const auto& entry : fs::directory_iterator(scratch())) {
        if (entry.path().extension() == ".tmp") fs::remove(entry.path());
      }
    }
    EXPECT_GT(kills_, static_cast<int>(experiments().size()) / 2) << "runs end before they are killed";
  }

  std::minstd_rand random_{[] {
    const auto seed = static_cast<unsigned>(Clock::now().time_since_epoch().count());
    testing::Test::RecordProperty("seed", std::to_string(seed));
    return seed;
  }()};
  int kills_ = 0;
};

using SlowCheckpoints = Checkpoints;

TEST_F(Checkpoints, ARunThatIsKilledEndsAsTheUndisturbedOne) { expect_survival({}, 2); }
TEST_F(Checkpoints, WithThreads) { expect_survival({"--threads", "2"}, 1); }
TEST_F(SlowCheckpoints, KilledTenTimes) { expect_survival({"--threads", "2"}, 10); }

/// Large enough for two threads, which cut it otherwise.
TEST_F(Checkpoints, AnotherNumberOfThreadsGoesOn) {
  write_text("a.toml",
             "topology = { name = \"mesh\", size = [16, 16] }\nswitch = \"vc_router\"\nrouting = \"dimension_order\"\n"
             "traffic = { name = \"uniform\", load = 0.3 }\nrun = { duration = 1500 }\n");
  const Said whole = banyan({"run", "a.toml", "--json", "--quiet"});
  for (const auto& [before, after] : {std::pair{"2", "1"}, {"1", "2"}}) {
    const Said written = banyan({"run", "a.toml", "--json", "--quiet", "--threads", before, "--checkpoint", "a.state",
                                 "--checkpoint-every", "0.001s"});
    EXPECT_EQ(result_of(written.out), result_of(whole.out));
    const Said resumed = banyan({"run", "--resume", "a.state", "--json", "--quiet", "--threads", after});
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(result_of(resumed.out), result_of(whole.out));
  }
}

/// A checkpoint of kSteady, at its end.
std::string steady_checkpoint() {
  write_text("a.toml", kSteady);
  const Said said = banyan({"run", "a.toml", "--quiet", "--checkpoint", "a.state"});
  EXPECT_EQ(said.status, 0) << said.err;
  return read_text(scratch() / "a.state");
}

TEST_F(Checkpoints, TheFileIsEnoughToGoOn) {
  static_cast<void>(steady_checkpoint());
  const Said whole = banyan({"run", "a.toml", "--json", "--quiet"});
  const Said resumed = banyan({"run", "--resume", "a.state", "--json", "--quiet"});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(result_of(resumed.out), result_of(whole.out));
}

TEST_F(Checkpoints, ThoseOfOthersAreRefusedByName) {
  const std::string state = steady_checkpoint();
  expect_refusal(banyan({"run", "a.toml", "run.seed=9", "--resume", "a.state"}), "run.seed is 1 there and 9 here",
                 "run it from its start");
  // Of components that differ their names are told, not the parameters that only one of them has.
  expect_refusal(banyan({"run", "a.toml", "admission=window", "--resume", "a.state"}),
                 R"(admission.name is "window" here and not there)", "run it from its start");
  for (const Words& with :
       {Words{"run", "run.seed=9", "--resume", "a.state"}, Words{"run", "--resume", "a.state", "run.seed=9"},
        Words{"run", "--resume", "a.state", "--seed", "9"}})
    expect_refusal(banyan(with), "the experiment of a checkpoint cannot be changed", "leave out key=value and --seed");
  expect_refusal(banyan({"run", "a.toml", "--resume", "a.state", "--watch", "terminal=1"}), "another --watch",
                 "as they were");
  expect_refusal(banyan({"run", "a.toml", "--resume", "a.state", "--log", "log.csv"}), "a log of packets", "--log");
  expect_refusal(banyan({"run", "a.toml", "--resume", "none.state"}), "none.state: cannot be read",
                 "name a file that --checkpoint wrote");
  expect_refusal(banyan({"run", "a.toml", "--resume", "a.toml"}), "is no checkpoint", "that --checkpoint wrote");
  std::string other = state;
  other.replace(other.find("format ") + 7, 1, "9");
  write_text("other.state", other);
  expect_refusal(banyan({"run", "a.toml", "--resume", "other.state"}), "checkpoints have another format",
                 "the program that wrote it");
}

TEST_F(Checkpoints, OfAnotherScheduleAreRefused) {
  const std::string goal = "num_ranks 2\nrank 0 {\nsend 64b to 1\n}\nrank 1 {\nrecv 64b from 0\n}\n";
  for (const std::string network :
       {"switch = { name = \"ideal\", latency = 5, per_byte = 1 }\n", "switch = \"vc_router\"\n"}) {
    write_text("a.goal", goal);
    write_text("a.toml", "topology = { name = \"mesh\", size = [2, 2] }\nrouting = \"dimension_order\"\n" + network +
                             "[[job]]\nfile = \"a.goal\"\n");
    const Said whole = banyan({"run", "a.toml", "--json", "--quiet", "--checkpoint", "a.state"});
    ASSERT_EQ(whole.status, 0) << whole.err;
    const Said resumed = banyan({"run", "--resume", "a.state", "--json", "--quiet"});
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(result_of(resumed.out), result_of(whole.out));
    write_text("a.goal", "num_ranks 2\nrank 0 {\nsend 65b to 1\n}\nrank 1 {\nrecv 65b from 0\n}\n");
    expect_refusal(banyan({"run", "--resume", "a.state"}), "has changed since it was read for this run",
                   "give the run the file that it was made with");
  }
}

TEST_F(Checkpoints, DamagedAndCutOnesAreRefused) {
  const std::string state = steady_checkpoint();
  for (const std::size_t length : {state.size() - 1, state.size() / 2, std::size_t{40}}) {
    write_text("cut.state", state.substr(0, length));
    expect_refusal(banyan({"run", "a.toml", "--resume", "cut.state"}), "is damaged or was cut", "an earlier copy");
  }
  std::minstd_rand random(1);
  for (int i = 0; i < 20; ++i) {
    std::string damaged = state;
    char& byte = damaged[40 + random() % (damaged.size() - 40)];
    byte = static_cast<char>(byte ^ (1 << random() % 8));
    write_text("damaged.state", damaged);
    expect_refusal(banyan({"run", "a.toml", "--resume", "damaged.state"}), "is damaged or was cut", "an earlier copy");
  }
}

TEST_F(Checkpoints, OptionsThatDoNotFitAreRefused) {
  write_text("a.toml", kSteady);
  expect_refusal(banyan({"run", "a.toml", "--checkpoint-every", "10min"}), "not where", "add --checkpoint FILE");
  expect_refusal(banyan({"run", "a.toml", "--checkpoint", "x", "--checkpoint-every", "soon"}),
                 "soon is no length of time", "banyan run --help");
  expect_refusal(banyan({"run", "a.toml", "--checkpoint", "/nowhere/x"}), "there is no folder /nowhere",
                 "make the folder first");
  expect_refusal(banyan({"run"}), "FILE is required", "banyan run --help");
}

/// A run that is killed while it writes a checkpoint leaves a part of it.
TEST_F(Checkpoints, RemoveWhatAKilledRunHasLeft) {
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  const std::string dead = std::to_string(gone);
  const std::string living = std::to_string(getpid());
  const Words kept{".a.state." + living + ".tmp", ".b.state." + dead + ".tmp", ".a.state.x." + dead + ".tmp",
                   ".a.state.tmp"};
  const std::string left = ".a.state." + dead + ".tmp";
  for (const std::string& name : kept) write_text(name, "half");
  write_text(left, "half");
  static_cast<void>(steady_checkpoint());
  EXPECT_FALSE(fs::exists(scratch() / left));
  for (const std::string& name : kept) EXPECT_TRUE(fs::exists(scratch() / name)) << name;
}

TEST_F(Checkpoints, ControlCLeavesOne) {
  write_text("a.toml", kSteady);
  const Said stopped = interrupted({"run", "a.toml", "run.measure=2000000000", "--quiet", "--checkpoint", "a.state"});
  EXPECT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_TRUE(contains(stopped.err, "--resume a.state")) << stopped.err;
  EXPECT_TRUE(fs::exists(scratch() / "a.state"));
}

}  // namespace
}  // namespace banyan::cli::checkpoint_test
