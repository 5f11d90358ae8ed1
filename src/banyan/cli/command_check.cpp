// banyan check: everything that a run's build phase would find, without running.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <set>

#include "banyan/api/advice.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/api/idle.hpp"
#include "banyan/api/keys.hpp"
#include "banyan/cli/announce.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/converted.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/progress.hpp"

namespace banyan::cli {

int check(const CheckArguments& arguments) {
  if (arguments.keys) {
    for (const api::Key& key : api::keys_of(arguments.file)) {
      show_text(fmt::format("{}={}{}\n", key.path, key.values.empty() ? "" : " ", fmt::join(key.values, " ")));
    }
    return kDone;
  }
  const api::ExperimentSet set = read_experiments(arguments.file, arguments.overrides);
  // Before all of it is built: the search for deadlocks takes longer than the networks.
  if (const std::string needs = announce_needs(set.points, 1, false); !needs.empty()) note(needs);
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
  for (const std::string& note : api::idle_parameters(set.points)) notes += "note: " + note + "\n";
  for (const std::string& note : api::check_choices(set.points)) {
    if (said.insert(note).second) notes += "note: " + note + "\n";
  }
  bool bad = false;
  for (const api::DeadlockNote& note : deadlocks) {
    show_text(note.text + "\n");
    bad = bad || note.bad;
  }
  if (!notes.empty()) show_text(notes);
  const std::size_t jobs = set.points.front().jobs.size();
  const std::string one = jobs == 0 ? "one run" : fmt::format("{} job{}", jobs, jobs == 1 ? "" : "s");
  const std::string what = set.axis_names.empty() ? one : fmt::format("a sweep of {} points", set.points.size());
  if (!bad) show_text(fmt::format("{}: {}, ready to run\n", arguments.file, what));
  return bad ? kFailed : kDone;
}

}  // namespace banyan::cli
