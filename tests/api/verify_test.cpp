// Is a stored result recognized, and the place found where another run parts from it?
#include "banyan/api/verify.hpp"

#include <gtest/gtest.h>

#include "api/runs.hpp"
#include "banyan/api/catalog.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api::verify_test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Pretends that runs of these modes go another way after a tick (of one session).
VerifyOptions going_astray(Tick after, const std::string& mode, u64 session = 0) {
  VerifyOptions options;
  options.disturb = [=](const RunMode& in, u64 of, Tick at, u64 hash) {
    return in.name == mode && (of == session || of == kNever) && at > after ? ~hash : hash;
  };
  return options;
}

/// The same for the stored result.
Result astray(Result result, Tick after) {
  result.state_hash = ~result.state_hash;
  for (Checkpoint& checkpoint : result.checkpoints) {
    if (checkpoint.at > after) checkpoint.hash = ~checkpoint.hash;
  }
  return result;
}

TEST(Verify, AnUntouchedResultIsVerified) {
  for (const std::string& text : {kMesh, kSessions}) {
    const Result result = run_of(text);
    const Verification verification = verify(result);
    EXPECT_TRUE(verification.equal) << verification.statement;
    EXPECT_FALSE(verification.parting.has_value());
  }
}

TEST(Verify, ARunThatStoppedItselfIsVerified) {
  EXPECT_TRUE(verify(run_of(kMesh, {"run.precision=0.3 %"})).equal);
  EXPECT_TRUE(verify(run_of(kSessions, {"run.precision=2 %"})).equal);
}

TEST(Verify, EveryParameterSurvivesTheConfiguration) {
  for (const Overrides& overrides : {Overrides{}, Overrides{"load=1e-3", "audit=full", "seed=9007199254740991"}}) {
    const Experiment experiment = experiment_of(kMesh, overrides);
    EXPECT_EQ(experiment_from(experiment.configuration, catalog()).configuration, experiment.configuration);
  }
  const Experiment sessions = experiment_of(kSessions);
  EXPECT_EQ(experiment_from(sessions.configuration, catalog()).configuration, sessions.configuration);
}

TEST(Verify, AnAlteredCheckpointSaysBetweenWhichTicks) {
  const Verification verification = verify(astray(run_of(kMesh), 2500));
  ASSERT_TRUE(verification.parting.has_value());
  EXPECT_EQ(verification.parting->after, 2048U);
  EXPECT_EQ(verification.parting->before, 3072U);
  EXPECT_FALSE(verification.parting->tick.has_value());
  EXPECT_TRUE(contains(verification.statement, "the runs part between ticks 2048 and 3072")) << verification.statement;
  EXPECT_TRUE(contains(verification.statement, "no mode of running gives the stored state"));
}

TEST(Verify, AStateThatAModeGivesIsTracedToTheTick) {
  for (const Tick tick : {0U, 1U, 700U, 1023U, 1024U, 2500U, 4300U}) {
    const Result stored = astray(run_of(kMesh), tick);
    const Verification verification = verify(stored, going_astray(tick, "step_order = permuted"));
    ASSERT_TRUE(verification.parting && verification.parting->tick) << verification.statement;
    EXPECT_EQ(*verification.parting->tick, tick);
    EXPECT_EQ(verification.parting->reproduced_by, "step_order = permuted");
    EXPECT_TRUE(contains(verification.statement, "tick " + std::to_string(tick) + " is the first that differs"));
  }
}

/// A deadlock of five-flit packets in rings without datelines.
const std::string kRing =
    "topology = { name = \"torus\", size = [8, 8] }\nswitch = { name = \"vc_router\", vcs = 1, buffer = 1 }\n"
    "routing = { name = \"dimension_order\", datelines = false }\n"
    "traffic = { name = \"uniform\", load = 0.9, size = 5 }\nrun = { warmup = 300, measure = 1500 }\n";

const std::string kBarriers =
    "topology = { name = \"bidirectional_min\", hosts = 16, ports = 8 }\nswitch = \"central_buffer\"\n"
    "routing = \"nearest_common_ancestor\"\n"
    "traffic = { name = \"multicast_collective\", operation = \"barrier\", iterations = 4 }\nrun = { sessions = 1 }\n";

TEST(Verify, RunsOfEveryKindAreTracedToTheTick) {
  struct Kind {
    std::string text;
    Overrides overrides;
    Verdict verdict;
  };
  const std::vector<Kind> kinds{{kMesh, {"run.duration=3000"}, Verdict::finished},
                                {kMesh, {"load=1.0"}, Verdict::saturated},
                                {kMesh, {"run.precision=1 %"}, Verdict::steady},
                                {kMesh, {"run.shards=3", "run.step_order=permuted"}, Verdict::steady},
                                {kRing, {}, Verdict::deadlocked},
                                {kBarriers, {}, Verdict::finished},
                                {kSessions, {"run.session_limit=210"}, Verdict::saturated}};
  for (const Kind& kind : kinds) {
    const std::string name = kind.text + (kind.overrides.empty() ? "" : kind.overrides.front());
    const Result stored = run_of(kind.text, kind.overrides);
    EXPECT_EQ(stored.verdict, kind.verdict) << name;
    EXPECT_TRUE(verify(stored).equal) << name;
    const Verification verification = verify(stored, going_astray(77, "plain"));
    ASSERT_TRUE(verification.parting && verification.parting->tick) << name << verification.statement;
    EXPECT_EQ(*verification.parting->tick, 77U) << name;
  }
}

/// Not a hash was touched here: in the stored run a flow ends at tick 1,500, in the one that is run now it goes on.
TEST(Verify, ARunThatNoModeGivesIsBracketedByItsCheckpoints) {
  Result stored = run_of(
      "topology = { name = \"bidirectional_min\", hosts = 16, ports = 8 }\nswitch = \"cioq\"\n"
      "routing = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\nrun = { duration = 6000 }\n"
      "[[traffic]]\nname = \"uniform\"\nload = 0.2\nsize = 64\n"
      "[[traffic]]\nname = \"flows\"\nsources = [0]\ndestinations = [5]\nloads = [0.5]\nends = [1500]\n");
  const std::size_t end = stored.configuration.find("\"ends\":[1500");
  ASSERT_NE(end, std::string::npos) << stored.configuration;
  stored.configuration.replace(end, 12, "\"ends\":[9500");
  const Verification verification = verify(stored);
  ASSERT_TRUE(verification.parting.has_value()) << verification.statement;
  EXPECT_EQ(verification.parting->after, 1024U);
  EXPECT_EQ(verification.parting->before, 2048U);
  EXPECT_FALSE(verification.parting->tick);
}

TEST(Verify, AFaultOfThePlainRunIsTracedToTheTick) {
  VerifyOptions options = going_astray(1500, "plain");
  const Verification verification = verify(run_of(kMesh), options);
  ASSERT_TRUE(verification.parting && verification.parting->tick) << verification.statement;
  EXPECT_EQ(*verification.parting->tick, 1500U);
}

TEST(Verify, SessionsAreToldApartAndTracedToTheTick) {
  for (const Tick tick : {0U, 150U, 260U}) {
    const Verification verification = verify(run_of(kSessions), going_astray(tick, "plain", 5));
    ASSERT_TRUE(verification.parting && verification.parting->tick) << verification.statement;
    EXPECT_EQ(verification.parting->session, 5U);
    EXPECT_EQ(*verification.parting->tick, tick);
  }
}

TEST(Verify, AResultReadFromJsonIsTracedToTheTick) {
  for (const std::string& text : {kMesh, kSessions}) {
    const bool sessions = text == kSessions;
    const Result stored = from_json(to_json(run_of(text)));
    const Verification verification = verify(stored, going_astray(150, "plain", sessions ? 5 : 0));
    ASSERT_TRUE(verification.parting && verification.parting->tick) << verification.statement;
    EXPECT_EQ(*verification.parting->tick, 150U);
    EXPECT_EQ(verification.parting->session.has_value(), sessions);
  }
}

TEST(Verify, AnAlteredSessionIsNamed) {
  Result stored = run_of(kSessions);
  stored.state_hash += 1;
  stored.checkpoints[7].hash += 1;
  const Verification verification = verify(stored);
  EXPECT_EQ(verification.parting->session, 7U);
  EXPECT_TRUE(contains(verification.statement, "session 7 is the first that differs")) << verification.statement;
}

TEST(Verify, AResultOfAnotherVersionIsNamed) {
  Result stored = run_of(kMesh);
  stored.state_hash += 1;
  stored.version = "0.0.1";
  EXPECT_TRUE(contains(verify(stored).statement, "the result is of Banyan 0.0.1, this is "))
      << verify(stored).statement;
}

TEST(Verify, AResultWithoutCheckpointsSaysThatItCannotTell) {
  Result stored = run_of(kMesh);
  stored.checkpoints.clear();
  EXPECT_TRUE(verify(stored).equal);
  stored.state_hash += 1;
  EXPECT_TRUE(contains(verify(stored).statement, "keeps no checkpoints"));
}

TEST(Verify, AConfigurationThatThisProgramDoesNotKnowIsRefused) {
  Result stored = run_of(kMesh);
  stored.configuration.replace(stored.configuration.find("vc_router"), 9, "vc_rooter");
  try {
    static_cast<void>(verify(stored));
    ADD_FAILURE() << "no error was thrown";
  } catch (const ConfigError& error) { EXPECT_TRUE(contains(error.remedy(), "vc_router")) << error.what(); }
}

TEST(Checkpoints, DoNotDependOnShardsThreadsOrOrder) {
  for (const std::string& text : {kMesh, kSessions}) {
    const Result one = run_of(text);
    ASSERT_FALSE(one.checkpoints.empty());
    for (const char* other :
         {"run.shards=1", "run.shards=7", "run.step_order=permuted", "run.wake=all", "run.audit=full"}) {
      EXPECT_EQ(run_of(text, {other}, 2).checkpoints, one.checkpoints) << other;
    }
  }
}

}  // namespace
}  // namespace banyan::api::verify_test
