// banyan check: everything that a run's build phase would find, without running.
#include <fmt/core.h>

#include <filesystem>
#include <set>

#include "banyan/api/advice.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/api/jobs.hpp"
#include "banyan/cli/announce.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/progress.hpp"

namespace banyan::cli {

int check(const CheckArguments& arguments) {
  if (std::filesystem::is_regular_file(arguments.file)) {
    if (const auto jobs = api::read_jobs(arguments.file, arguments.overrides)) {
      api::check_jobs(*jobs);
      print(fmt::format("{}: {} job{}, ready to run\n", arguments.file, jobs->jobs.size(),
                        jobs->jobs.size() == 1 ? "" : "s"));
      return kDone;
    }
  }
  const api::ExperimentSet set = api::read_experiments(arguments.file, arguments.overrides);
  const std::string needs = announce_needs(set.points, 1, false);
  // Points of a sweep mostly share their network: each note once. All points are built before anything is said.
  std::set<std::string> said;
  std::string notes;
  std::vector<api::DeadlockNote> deadlocks;
  {
    const ProgressDisplay building(false, "", 1.0);
    for (const api::Experiment& point : set.points) {
      for (const std::string& note : api::check(point)) {
        if (said.insert(note).second) notes += "note: " + note + "\n";
      }
    }
    deadlocks = api::check_deadlock(set.points);
  }
  for (const std::string& note : api::check_choices(set.points)) {
    if (said.insert(note).second) notes += "note: " + note + "\n";
  }
  if (!needs.empty()) note(needs);
  bool bad = false;
  for (const api::DeadlockNote& note : deadlocks) {
    print(note.text + "\n");
    bad = bad || note.bad;
  }
  if (!notes.empty()) print(notes);
  const std::string what = set.axis_names.empty() ? "one run" : fmt::format("a sweep of {} points", set.points.size());
  if (!bad) print(fmt::format("{}: {}, ready to run\n", arguments.file, what));
  return bad ? kFailed : kDone;
}

}  // namespace banyan::cli
