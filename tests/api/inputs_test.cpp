// Is what is in a file that an experiment reads a part of its identity, wherever the file lies?
#include "banyan/api/inputs.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "banyan/api/catalog.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/api/verify.hpp"
#include "banyan/base/error.hpp"
#include "banyan/store/store.hpp"
#include "support/repository.hpp"

namespace banyan::inputs_test {
namespace {

namespace fs = std::filesystem;

const std::string kUniform = "traffic = { name = \"uniform\", load = 0.1 }\n";
const std::string kMesh = "topology = { name = \"mesh\", size = [2, 2] }\nswitch = \"vc_router\"\n";
const std::string kRouted = kMesh + "routing = \"dimension_order\"\n";
const std::string kShort = "run = { warmup = 50, measure = 200 }\n";
const std::string kJob = "topology = { name = \"mesh\", size = [2, 2] }\nswitch = \"ideal\"\n[[job]]\n";

struct Case {
  std::string key;
  std::string file;     ///< name
  std::string content;  ///< and another one
  std::string other;
  std::string experiment;
};

std::vector<Case> cases() {
  const std::string square =
      "switch a\nswitch b\nswitch c\nswitch d\nterminal 0 a\nterminal 1 b\nterminal 2 c\nterminal 3 d\n"
      "link a b\nlink b c\nlink c d\nlink d a\n";
  const std::string goal =
      "num_ranks 2\nrank 0 {\nl1: send 64b to 1 tag 0\n}\nrank 1 {\nl1: recv 64b from 0 tag 0\n}\n";
  const std::string costs = "unit = \"pJ\"\n[events]\nbuffer_reads = { cost = 1, source = \"me\" }\n";
  return {
      {"topology.file", "net.graph", square, square + "link a c\n",
       "topology = { name = \"graph_file\", file = \"net.graph\" }\nswitch = \"vc_router\"\nrouting = \"up_down\"\n" +
           kUniform + kShort},
      {"routing.file", "routes", "0 1 0\n", "0 1 1\n",
       kMesh + "routing = { name = \"table\", file = \"routes\" }\n" + kUniform + kShort},
      {"traffic.0.file", "t.trace", "0 0 0 1 4\n", "0 0 0 1 5\n",
       kRouted + "traffic = { name = \"trace\", file = \"t.trace\" }\n"},
      {"traffic.1.file", "io.spc", "0,1,4096,r,0.1\n", "0,1,8192,r,0.1\n",
       kRouted +
           "traffic = [{ name = \"uniform\", load = 0.1 }, { name = \"storage\", disks = 1, file = \"io.spc\" }]\n"},
      {"job.0.file", "two.goal", goal, goal + "\n", kJob + "file = \"two.goal\"\n"},
      {"job.0.placement", "places", "0 1\n", "1 0\n",
       kJob + "generator = { collective = \"barrier\", ranks = 2 }\nplacement = \"places\"\n"},
      {"job.0.groups", "groups.json", "{\"1\": [0, 1]}", "{\"1\": [0]}",
       kJob + "file = \"none.et\"\ngroups = \"groups.json\"\n"},
      {"run.energy", "costs.toml", costs, costs + "buffer_writes = { cost = 1, source = \"me\" }\n",
       kRouted + kUniform + "run = { energy = \"costs.toml\" }\n"},
  };
}

class Inputs : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  [[nodiscard]] api::Experiment read(const std::string& name) const {
    return api::read_experiments(path(name), {}).points.front();
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(Inputs, TheirContentIsIdentityAndTheirPlaceIsNot) {
  for (const Case& one : cases()) {
    for (const std::string folder : {"here/", "there/"}) write(folder + "none.et", "");
    write("here/x.toml", one.experiment);
    write("here/" + one.file, one.content);
    const api::Experiment first = read("here/x.toml");
    const nlohmann::json inputs = nlohmann::json::parse(first.configuration).value("inputs", nlohmann::json::object());
    EXPECT_TRUE(inputs.contains(one.key)) << one.key << inputs;
    EXPECT_EQ(inputs.size(), one.key == "job.0.groups" ? 2U : 1U) << one.key;  // and the trace
    write("there/x.toml", one.experiment);
    write("there/" + one.file, one.content);
    EXPECT_EQ(read("there/x.toml").configuration_hash, first.configuration_hash) << one.key;
    write("here/" + one.file, one.other);
    EXPECT_NE(read("here/x.toml").configuration_hash, first.configuration_hash) << one.key;
    // What was recorded stands, whatever is there now.
    const api::Experiment recorded = api::experiment_from(first.configuration, api::catalog());
    EXPECT_EQ(recorded.configuration, first.configuration) << one.key;
    EXPECT_EQ(recorded.configuration_hash, first.configuration_hash) << one.key;
    EXPECT_THROW(api::require_unchanged(recorded), ConfigError) << one.key;
    EXPECT_THROW(api::require_unchanged(first), ConfigError) << one.key;
    EXPECT_NO_THROW(api::require_unchanged(read("here/x.toml"))) << one.key;
  }
}

/// A parameter that is a path and does not say so would be found in another folder, and keep old results.
TEST_F(Inputs, EveryParameterThatNamesAFileSaysSo) {
  std::vector<std::string> keys;
  const api::Catalog& all = api::catalog();
  for (const api::Kind* kind : {&all.topology, &all.switching, &all.routing, &all.traffic, &all.admission,
                                &all.analysis, &all.run, &all.job, &all.messages}) {
    for (const config::ComponentInfo* info : kind->components) {
      for (const config::Parameter& parameter : info->parameters) {
        if (parameter.type != config::Type::text) continue;
        const bool path = parameter.name == "file" ||
                          parameter.summary.find("folder of the experiment") != std::string::npos ||
                          parameter.summary.find("file of") != std::string::npos ||
                          parameter.summary.find("a file") != std::string::npos;
        EXPECT_EQ(parameter.names_file, path) << info->name << "." << parameter.name << ": " << parameter.summary;
        if (parameter.names_file) keys.push_back(kind->section + "." + parameter.name);
      }
    }
  }
  EXPECT_EQ(keys.size(), cases().size()) << "a file that the cases above do not try";
}

TEST_F(Inputs, AnExperimentThatIsReadAgainFindsItsFiles) {
  const Case graph = cases().front();
  write("here/x.toml", graph.experiment);
  write("here/" + graph.file, graph.content);
  const api::Experiment first = read("here/x.toml");
  const api::Result result = api::run(first);
  // As verify, compare and the page of a run do, from whatever folder the run was started.
  EXPECT_TRUE(api::verify(result, {}).equal);
  api::VerifyOptions options;
  options.axes = {{"topology.file", graph.file}};  // as a sweep wrote it, from the folder of the experiment
  EXPECT_TRUE(api::verify(result, options).equal);
}

TEST_F(Inputs, ARunOfAFileThatChangedSinceIsRefused) {
  const Case graph = cases().front();
  write("here/x.toml", graph.experiment);
  write("here/" + graph.file, graph.content);
  const api::Experiment first = read("here/x.toml");
  write("here/" + graph.file, graph.other);
  try {
    static_cast<void>(api::run(first));
    FAIL() << "it ran";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("net.graph"), std::string::npos) << error.what();
    EXPECT_NE(error.cause().find("has changed since"), std::string::npos) << error.what();
  }
  const api::Experiment second = read("here/x.toml");
  const api::Result result = api::run(second);
  write("here/" + graph.file, graph.content);
  const api::Verification verification = api::verify(result, {});
  EXPECT_FALSE(verification.equal);
  EXPECT_NE(verification.statement.find("not run again: "), std::string::npos) << verification.statement;
  write("here/" + graph.file, graph.content);  // another time, the same content
  EXPECT_NO_THROW(static_cast<void>(api::run(first)));
}

/// The file of one rank names them all.
TEST_F(Inputs, ATraceOfSeveralFilesIsAllOfThem) {
  write("x.toml", kJob + "file = \"t.0.et\"\n");
  write("t.0.et", "a");
  write("t.1.et", "b");
  const u64 first = read("x.toml").configuration_hash;
  write("t.1.et", "c");
  const u64 second = read("x.toml").configuration_hash;
  write("t.2.et", "");
  EXPECT_NE(first, second);
  EXPECT_NE(second, read("x.toml").configuration_hash);
}

TEST_F(Inputs, APipeIsReadButNotKept) {
  const Case graph = cases().front();
  write("x.toml", graph.experiment);
  ASSERT_EQ(mkfifo(path(graph.file).c_str(), 0600), 0);
  const api::ExperimentSet set = api::read_experiments(path("x.toml"), {});  // does not wait for a writer
  EXPECT_FALSE(set.points.front().inputs.front().digest.has_value());
  try {
    static_cast<void>(store::plan_of(set, {"run", "x.toml", "", {}, {}}));
    FAIL() << "it was planned";
  } catch (const ConfigError& error) { EXPECT_NE(error.cause().find("a pipe"), std::string::npos) << error.what(); }
}

}  // namespace
}  // namespace banyan::inputs_test
