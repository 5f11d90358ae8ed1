// banyan saturation: the load at which a network saturates, to a requested width.
#include <fmt/core.h>

#include <optional>

#include "banyan/api/knee.hpp"
#include "banyan/base/error.hpp"
#include "banyan/cli/announce.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/converted.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/interrupt.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/progress.hpp"
#include "banyan/store/sweep.hpp"

namespace banyan::cli {
namespace {

/// Runs probes, keeps them where there is a store, and takes from it what an earlier search has kept.
class Prober {
 public:
  Prober(const SaturationArguments& arguments, const api::Overrides& overrides)
      : quiet_(arguments.running.quiet), out_(arguments.running.out) {
    options_.threads = arguments.running.threads.value_or(1);
    options_.interrupted = watch_interrupt();
    set_.axis_names = {"load"};
    set_.file = arguments.file;
    source_ = {"saturation", arguments.file, read_file(arguments.file), overrides, {}};
    if (!arguments.key.empty()) source_.options.push_back("--key=" + arguments.key);
    source_.options.push_back(fmt::format("--width={}", arguments.width));
    if (out_.empty()) return;
    require_writable_folder(out_);
    store_.emplace(out_);
  }

  api::Result operator()(const api::Experiment& experiment) {
    if (!store_) return run(experiment);
    const u64 hash = experiment.configuration_hash;
    if (store_->has(hash)) {
      ++had_;
    } else {
      store_->put(run(experiment));
    }
    return store_->reader().find(hash).value();
  }

  /// The probes become the store's table.
  void keep(const api::Knee& knee) {
    if (!store_) return;
    for (const api::Probe& probe : knee.probes) {
      set_.points.push_back(probe.experiment);
      set_.points.back().axes = {{"load", fmt::format("{}", probe.load)}};
    }
    store_->plan(set_, source_);
    if (had_ > 0) note(fmt::format("{} of {} runs were in {} already", had_, knee.probes.size(), out_));
  }

 private:
  [[nodiscard]] api::Result run(const api::Experiment& experiment) const {
    ProgressDisplay display(quiet_, "", 1.0);
    std::string loads;
    for (const config::Values& traffic : experiment.traffics) {
      if (!traffic.all().contains("load")) continue;
      loads += fmt::format("{}{:g}", loads.empty() ? "load " : " + ", traffic.real("load"));
    }
    display.name(loads);
    api::RunOptions options = options_;
    options.progress_unit = [&display](const std::string& unit) { display.unit(unit); };
    options.progress = [&display](u64 done, u64 total) { display(done, total); };
    try {
      return api::run(experiment, options);
    } catch (const Interrupted&) {
      if (!store_) throw;
      throw Interrupted(fmt::format("interrupted; finished runs are kept in {}\n  remedy: continue with: {}", out_,
                                    store::continuation(source_, out_)));
    }
  }

  bool quiet_;
  std::string out_;
  api::RunOptions options_;
  store::Source source_;
  api::ExperimentSet set_;
  std::optional<store::Writer> store_;
  std::size_t had_ = 0;
};

}  // namespace

int saturation(const SaturationArguments& arguments) {
  api::Overrides overrides = arguments.overrides;
  if (arguments.running.seed) overrides.push_back(fmt::format("run.seed={}", *arguments.running.seed));
  const api::ReadExperiments read = [&](const api::Overrides& all) { return read_experiments(arguments.file, all); };
  // Errors of the file come before those of the folder.
  const std::vector<api::Experiment> points = read(overrides).points;
  static_cast<void>(announce_needs(points, 1, true));
  warn_of_idle_parameters(points);
  Prober prober(arguments, overrides);
  api::KneeOptions options;
  options.key = arguments.key;
  options.width = arguments.width;
  options.run = [&prober](const api::Experiment& experiment) { return prober(experiment); };
  const api::Knee knee = api::find_knee(read, overrides, options);
  prober.keep(knee);
  if (knee.deadlocks && arguments.running.json) {
    note(fmt::format("warning: the network deadlocks at a load of {:g}, before it saturates: {}", knee.high,
                     knee.deadlock));
  }
  if (!knee.uncertain.empty()) note("warning: the verdict stayed uncertain at a load; " + api::why_uncertain(knee));
  if (!knee.deadlocks) warn_of_choices(read(overrides).points);
  arguments.running.json ? print(api::to_json(knee) + "\n") : show_text(api::to_text(knee));
  return kDone;
}

}  // namespace banyan::cli
