#include "banyan/api/over_ranks.hpp"

#include "banyan/base/error.hpp"

namespace banyan::api {
namespace {

constexpr const char* kAlone = "run it without mpirun";

}  // namespace

void require_shareable(const Experiment& experiment) {
  if (experiment.jobs.empty() || !switch_row(experiment).without_contention) return;
  experiment.jobs.front().fail("name", "the events of jobs without contention are one queue, which ranks cannot share",
                               kAlone);
}

void require_shareable(const Experiment& experiment, const Traffics& traffics) {
  for (std::size_t i = 0; i < traffics.size(); ++i) {
    const core::TrafficTraits traits = traffics[i]->traits();
    const bool held_back = experiment.admission.component() != "none";
    const char* const cause = traits.fetch_adds                ? "its messages are fetch-and-adds"
                              : traits.replicates && held_back ? "an admission waits for all copies of its messages"
                                                               : nullptr;
    if (cause == nullptr) continue;
    experiment.traffics[i].fail("name", std::string(cause) + ", which does not work over several ranks yet", kAlone);
  }
}

}  // namespace banyan::api
