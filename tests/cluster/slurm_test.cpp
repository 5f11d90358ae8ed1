// Does a sweep over jobs of Slurm end with the table of an undisturbed one, though its workers are killed, its tasks
// are cancelled and Slurm itself is wrong about what runs? A controller and a node of Slurm are started for these
// tests, on 127.0.0.1 alone, with all their files in a temporary folder.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "build_info.hpp"
#include "support/effort.hpp"
#include "support/repository.hpp"

namespace banyan::cluster::slurm_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::Output;
using test::run_shell;

/// A port that nobody listens on.
int free_port() {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(file, generic, size), 0);
  EXPECT_EQ(getsockname(file, generic, &size), 0);
  close(file);
  return ntohs(address.sin_port);
}

std::string first_line(const std::string& command) {
  const std::vector<std::string> lines = test::lines_of(run_shell(command).text);
  return lines.empty() ? "" : lines.front();
}

/// A Slurm of one node, for one user, without authentication, accounting or control groups.
class OwnSlurm {
 public:
  OwnSlurm() {
    for (const char* name : {"state", "spool"}) fs::create_directories(folder_.path() / name);
    const std::string root = folder_.path().string();
    const std::string user = first_line("id -un");
    const std::string host = first_line("hostname -s");
    std::ofstream(configuration()) << "ClusterName=banyan\nSlurmctldHost=localhost(127.0.0.1)\n"
                                   << "SlurmctldPort=" << free_port() << "\nSlurmdPort=" << free_port() << "\n"
                                   << "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n"
                                   << "SlurmUser=" << user << "\nSlurmdUser=" << user << "\n"
                                   << "AuthType=auth/none\nCredType=cred/none\nProctrackType=proctrack/linuxproc\n"
                                   << "TaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n"
                                   << "JobAcctGatherType=jobacct_gather/none\n"
                                   << "AccountingStorageType=accounting_storage/none\n"
                                   << "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n"
                                   << "SlurmdParameters=config_overrides\nReturnToService=2\nMailProg=/bin/true\n"
                                   << "StateSaveLocation=" << root << "/state\nSlurmdSpoolDir=" << root << "/spool\n"
                                   << "SlurmctldPidFile=" << root << "/slurmctld.pid\n"
                                   << "SlurmdPidFile=" << root << "/slurmd.pid\n"
                                   << "NodeName=" << host << " NodeAddr=127.0.0.1 CPUs=4 RealMemory=500\n"
                                   << "PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP\n";
    start("slurmctld -D -f slurm.conf");
    start("slurmd -D -f slurm.conf -N " + host);
  }
  ~OwnSlurm() {
    static_cast<void>(run("scancel --state=RUNNING --state=PENDING -u $(id -un)"));
    for (const int signal : {SIGTERM, SIGKILL}) {
      for (const pid_t process : processes()) kill(process, signal);
      for (int i = 0; i < 30 && !processes().empty(); ++i) std::this_thread::sleep_for(milliseconds(100));
    }
  }
  OwnSlurm(const OwnSlurm&) = delete;
  OwnSlurm& operator=(const OwnSlurm&) = delete;

  [[nodiscard]] std::string configuration() const { return (folder_.path() / "slurm.conf").string(); }
  [[nodiscard]] Output run(const std::string& command) const {
    return run_shell("export SLURM_CONF=" + test::quoted(configuration()) + "; cd " + test::quoted(folder_.path()) +
                     "; " + command);
  }
  /// Waits for the node; "" when it is ready.
  [[nodiscard]] std::string await_node() const {
    for (int i = 0; i < 600; ++i) {
      if (run("sinfo --noheader --format=%T").text.starts_with("idle")) return "";
      std::this_thread::sleep_for(milliseconds(100));
    }
    return run("sinfo; tail -n 20 *.log").text;
  }

 private:
  void start(const std::string& command) const {
    const std::string log = command.substr(0, command.find(' ')) + ".log";
    static_cast<void>(run("export PATH=$PATH:/usr/sbin:/sbin; setsid " + command + " >" + log + " 2>&1 </dev/null &"));
  }
  /// All that Slurm started and that started Slurm: their command or their folder names this folder.
  [[nodiscard]] std::vector<pid_t> processes() const {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::error_code gone;
      const std::string place = fs::read_symlink(entry.path() / "cwd", gone).string();
      if (place.starts_with(folder_.path().string())) found.push_back(std::stoi(name));
    }
    return found;
  }

  test::TemporaryFolder folder_;
};

/// 12 points of some 0.2 seconds of CPU time each.
constexpr const char* kSweep =
    "topology = { name = \"mesh\", size = [8, 8] }\n"
    "switch   = { name = \"vc_router\", vcs = 2, buffer = 4 }\n"
    "routing  = \"dimension_order\"\n"
    "traffic  = { name = \"uniform\" }\n"
    "run      = { warmup = 500, measure = 10000 }\n"
    "[sweep]\n"
    "\"switch.buffer\" = [2, 4, 8]\n"
    "\"traffic.uniform.load\" = [0.05, 0.1, 0.15, 0.2]\n";

class Slurm : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (test::kSanitized || missing()) return;
    slurm_ = std::make_unique<OwnSlurm>();
    trouble_ = slurm_->await_node();
  }
  static void TearDownTestSuite() { slurm_.reset(); }
  void SetUp() override {
    if (test::kSanitized) GTEST_SKIP() << "how programs die is the other builds' affair";
    if (missing()) {
      ASSERT_EQ(std::getenv("CI"), nullptr)
          << "the packages of the group \"cluster\" (tools/debian-packages.txt) are missing";
      GTEST_SKIP() << "slurmctld, slurmd and sbatch are not installed (Debian: slurm-wlm)";
    }
    ASSERT_EQ(trouble_, "") << "the node of Slurm does not come up";
    std::ofstream(folder_.path() / "sweep.toml") << kSweep;
  }
  static bool missing() {
    return run_shell("PATH=$PATH:/usr/sbin:/sbin; command -v slurmctld && command -v slurmd && command -v sbatch")
               .status != 0;
  }

  [[nodiscard]] Output here(const std::string& command) const {
    return slurm_->run("cd " + test::quoted(folder_.path()) + "; " + command);
  }
  [[nodiscard]] static std::string program() { return test::quoted(BANYAN_PROGRAM) + " "; }
  [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path() / name; }

  /// Starts `banyan ARGUMENTS`, its words into the file "said".
  void start(const std::string& arguments) const {
    static_cast<void>(
        here("{ " + program() + arguments + " >out.txt 2>said; echo $? >status; } >/dev/null 2>&1 </dev/null &"));
  }
  /// The exit status of what was started; -1 when it does not come.
  [[nodiscard]] int await_end(std::chrono::seconds patience) const {
    for (const auto begin = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - begin < patience;) {
      if (fs::exists(path("status")) && fs::file_size(path("status")) > 0)
        return std::stoi(test::read_file(path("status")));
      std::this_thread::sleep_for(milliseconds(50));
    }
    return -1;
  }
  [[nodiscard]] std::string said() const { return fs::exists(path("said")) ? test::read_file(path("said")) : ""; }

  struct Worker {
    std::string job;
    pid_t process = 0;
  };
  /// Workers that run now, by their signs of life.
  [[nodiscard]] std::vector<Worker> workers() const {
    std::vector<Worker> found;
    std::error_code none;
    for (fs::directory_iterator entry(path("out/parts"), none), end; !none && entry != end; entry.increment(none)) {
      if (entry->path().extension() != ".beat") continue;
      const nlohmann::json beat = nlohmann::json::parse(test::read_file(entry->path()), nullptr, false);
      if (!beat.is_object() || beat.value("state", "") != "running") continue;
      const Worker worker{beat.value("job", ""), beat.value("process", 0)};
      if (fs::exists("/proc/" + std::to_string(worker.process) + "/exe")) found.push_back(worker);
    }
    return found;
  }
  /// Waits for a worker; nobody, when all is done before.
  [[nodiscard]] Worker await_worker() const {
    for (int i = 0; i < 600; ++i) {
      const std::vector<Worker> all = workers();
      if (!all.empty()) return all.front();
      if (fs::exists(path("status"))) return {};
      std::this_thread::sleep_for(milliseconds(50));
    }
    return {};
  }
  static pid_t parent_of(pid_t process) {
    return std::stoi("0" + first_line("ps -o ppid= -p " + std::to_string(process) + " | tr -d ' '"));
  }
  static std::string name_of(pid_t process) { return first_line("ps -o args= -p " + std::to_string(process)); }

  void expect_same_as_whole() const {
    ASSERT_EQ(here(program() + "sweep sweep.toml --out whole --quiet").status, 0);
    const Output whole = here(program() + "export whole --csv");
    const Output out = here(program() + "export out --csv");
    EXPECT_EQ(out.text, whole.text);
    EXPECT_EQ(test::lines_of(out.text).size(), 13U);
  }

  std::minstd_rand random_{[] {
    const auto seed = static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count());
    testing::Test::RecordProperty("seed", std::to_string(seed));
    return seed;
  }()};

 private:
  inline static std::unique_ptr<OwnSlurm> slurm_;
  inline static std::string trouble_;
  test::TemporaryFolder folder_;
};

TEST_F(Slurm, SweepsWhoseWorkersDieEndWithTheSameTable) {
  start("sweep sweep.toml --slurm --array 3 --wait --silence 5 --out out --csv");
  // A worker is killed, two tasks lose it at once, and one is cancelled.
  for (int i = 0; i < 2; ++i) {
    const Worker worker = await_worker();
    std::this_thread::sleep_for(milliseconds(random_() % 300));
    if (worker.process != 0) kill(worker.process, SIGKILL);
  }
  if (const Worker worker = await_worker(); worker.process != 0) static_cast<void>(here("scancel " + worker.job));
  // slurmstepd dies with its worker: nobody tells Slurm.
  const Worker worker = await_worker();
  const pid_t keeper = worker.process == 0 ? 0 : parent_of(worker.process);
  if (keeper > 1 && name_of(keeper).find("slurmstepd") != std::string::npos) {
    kill(keeper, SIGKILL);
    kill(worker.process, SIGKILL);
  }
  EXPECT_EQ(await_end(std::chrono::seconds(240)), 0) << said();
  EXPECT_NE(said().find("is submitted again"), std::string::npos) << said();
  expect_same_as_whole();
  EXPECT_EQ(test::lines_of(test::read_file(path("out.txt"))).size(), 13U) << "the table is printed";
}

TEST_F(Slurm, IsNotBelievedThatADeadTaskRuns) {
  start("sweep sweep.toml run.measure=60000 --slurm --array 2 --wait --silence 5 --out out");
  const Worker worker = await_worker();
  ASSERT_NE(worker.process, 0) << said();
  const pid_t keeper = parent_of(worker.process);
  ASSERT_NE(name_of(keeper).find("slurmstepd"), std::string::npos) << name_of(keeper);
  kill(keeper, SIGKILL);
  kill(worker.process, SIGKILL);
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_NE(here("squeue --noheader --array --format='%F_%K %T'").text.find(worker.job + " RUNNING"),
            std::string::npos);
  EXPECT_EQ(await_end(std::chrono::seconds(240)), 0) << said();
  EXPECT_NE(said().find("Slurm calls its task " + worker.job + " running, but the worker has said nothing for"),
            std::string::npos)
      << said();
}

TEST_F(Slurm, JobsAreFollowedByWhoComesLater) {
  const Output first = here(program() + "sweep sweep.toml --slurm --array 2 --out out");
  EXPECT_EQ(first.status, 0) << first.text;
  EXPECT_NE(first.text.find("has 2 of 2 parts"), std::string::npos) << first.text;
  EXPECT_NE(first.text.find("follow it with: banyan sweep sweep.toml --slurm --wait --array=2 --out out"),
            std::string::npos)
      << first.text;
  const Output then = here(program() + "sweep sweep.toml --slurm --array 2 --wait --out out --quiet");
  EXPECT_EQ(then.status, 0) << then.text;
  EXPECT_EQ(then.text.find("submitted again"), std::string::npos) << then.text;
  expect_same_as_whole();
  const Output done = here(program() + "sweep sweep.toml --slurm --array 2 --out out --csv --quiet");
  EXPECT_EQ(done.status, 0) << done.text;
  EXPECT_NE(done.text.find("12 of 12 points are in out already"), std::string::npos) << done.text;
}

TEST_F(Slurm, SaysWhyItRefuses) {
  const Output said = here(program() + "sweep sweep.toml --slurm --partition nowhere --out out");
  EXPECT_EQ(said.status, 2);
  EXPECT_EQ(test::lines_of(said.text).size(), 2U) << said.text;
  EXPECT_TRUE(said.text.starts_with("banyan: error: command line: --slurm: sbatch refuses the job: ")) << said.text;
  EXPECT_NE(said.text.find("partition"), std::string::npos) << said.text;
  EXPECT_NE(said.text.find("\n  remedy: change --array, --time, --partition"), std::string::npos) << said.text;
  const Output bare = here("SLURM_CONF=/dev/null " + program() + "sweep sweep.toml --slurm --out out");
  EXPECT_EQ(bare.status, 2);
  EXPECT_NE(bare.text.find("\n  remedy: submit where Slurm is set up"), std::string::npos) << bare.text;
}

TEST_F(Slurm, WorkersThatNeverGetFurtherAreGivenUp) {
  // What the jobs find is not what was submitted.
  start("sweep sweep.toml --slurm --array 1 --wait --out out");
  for (int i = 0; i < 400 && !fs::exists(path("out/slurm")); ++i) std::this_thread::sleep_for(milliseconds(5));
  fs::remove(path("sweep.toml"));
  const int status = await_end(std::chrono::seconds(120));
  if (status == 0) GTEST_SKIP() << "the job had read the file before it was gone";
  EXPECT_EQ(status, 2) << said();
  EXPECT_NE(said().find("part 1/1 was submitted 3 times and got no further: sweep.toml:"), std::string::npos) << said();
  EXPECT_NE(
      said().find("mend what it says, then continue with: banyan sweep sweep.toml --slurm --wait --array=1 --out out"),
      std::string::npos)
      << said();
}

TEST_F(Slurm, JobsOfAnotherFolderOrUserAreNotTakenForItsOwn) {
  fs::create_directories(path("bin"));
  std::ofstream(path("bin/squeue")) << "#!/bin/sh\necho \"$@\" >>" << test::quoted(path("asked")) << "\nexec "
                                    << first_line("command -v squeue") << " \"$@\"\n";
  fs::permissions(path("bin/squeue"), fs::perms::owner_all);
  const std::string sweep =
      "PATH=$PWD/bin:$PATH " + program() + "sweep sweep.toml run.measure=60000 --slurm --array 2 --out ";
  for (const char* out : {"one", "two"}) {
    const Output said = here(sweep + out);
    EXPECT_NE(said.text.find("has 2 of 2 parts"), std::string::npos) << said.text;
  }
  fs::create_directory_symlink(path("one"), path("also_one"));
  const Output said = here(sweep + "also_one");
  EXPECT_NE(said.text.find("nothing is missing that is not in the queue already"), std::string::npos) << said.text;
  for (const std::string& line : test::lines_of(test::read_file(path("asked")))) {
    EXPECT_NE(line.find("--user=" + std::to_string(geteuid()) + " "), std::string::npos) << line;
  }
  static_cast<void>(here("scancel --state=RUNNING --state=PENDING -u $(id -un)"));
}

TEST_F(Slurm, WorkersOfAFileThatWasChangedAreGivenUp) {
  start("sweep sweep.toml --slurm --array 1 --wait --out out");
  for (int i = 0; i < 400 && !fs::exists(path("out/slurm")); ++i) std::this_thread::sleep_for(milliseconds(5));
  std::string other = kSweep;
  other.replace(other.find("10000"), 5, "  300");
  std::ofstream(path("sweep.toml")) << other;
  const int status = await_end(std::chrono::seconds(120));
  if (status == 0) GTEST_SKIP() << "the job had read the file before it was another";
  EXPECT_EQ(status, 2) << said();
  EXPECT_NE(said().find("sweep.toml was changed after the jobs were submitted"), std::string::npos) << said();
  EXPECT_NE(said().find("\n  remedy: begin again with another --out, or"), std::string::npos) << said();
}

}  // namespace
}  // namespace banyan::cluster::slurm_test
