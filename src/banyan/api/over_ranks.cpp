#include "banyan/api/over_ranks.hpp"

#include "banyan/base/error.hpp"

namespace banyan::api {
namespace {

constexpr const char* kAlone = "run it without mpirun";

[[noreturn]] void refuse_option(const char* option, const char* cause) {
  throw ConfigError({"command line", 0, 0, option}, cause, std::string("leave it out, or ") + kAlone);
}

}  // namespace

void require_shareable(const Experiment& experiment, const RunOptions& options) {
  if (!options.checkpoint.file.empty() || !options.checkpoint.resume.empty())
    refuse_option(options.checkpoint.resume.empty() ? "--checkpoint" : "--resume",
                  "a run over several ranks has no checkpoints yet");
  if (!options.packet_log.empty()) refuse_option("--log", "packets of several ranks are not logged yet");
  if (!options.watches.empty()) refuse_option("--watch", "packets and ports of several ranks are not watched yet");
  if (options.trace != nullptr) refuse_option("--record-trace", "messages of several ranks are not recorded yet");
  if (experiment.fork.warm != nullptr) {
    throw ConfigError({"", 0, 0, "fork"}, "a warm-up is not forked over several ranks yet",
                      std::string("leave it out, or ") + kAlone);
  }
  const config::Values& run = experiment.run;
  if (!experiment.jobs.empty()) experiment.jobs.front().fail("name", "jobs do not run over several ranks yet", kAlone);
  if (run.text("tables") != "none") {
    run.fail("tables", "tables of channels and flows are not made over several ranks yet",
             std::string("give run.tables = \"none\", or ") + kAlone);
  }
  if (run.flag("trees")) {
    run.fail("trees", "congestion trees are not sampled over several ranks yet",
             std::string("give run.trees = false, or ") + kAlone);
  }
}

void require_shareable(const Experiment& experiment, const Traffics& traffics, bool sessions) {
  if (sessions) {
    experiment.run.fail("duration", "sessions of a finite traffic do not run over several ranks yet",
                        std::string("give the run a fixed length, or ") + kAlone);
  }
  for (std::size_t i = 0; i < traffics.size(); ++i) {
    const core::TrafficTraits traits = traffics[i]->traits();
    const char* const cause = traits.answers                           ? "its terminals answer messages"
                              : traits.multicasts || traits.replicates ? "its messages have several destinations"
                              : traits.fetch_adds                      ? "its messages are fetch-and-adds"
                                                                       : nullptr;
    if (cause == nullptr) continue;
    experiment.traffics[i].fail("name", std::string(cause) + ", which does not work over several ranks yet", kAlone);
  }
}

}  // namespace banyan::api
