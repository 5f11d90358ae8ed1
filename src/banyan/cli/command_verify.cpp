// banyan verify: does this program give the stored results again, bit for bit?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "banyan/api/verify.hpp"
#include "banyan/base/error.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/interrupt.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/progress.hpp"
#include "banyan/cli/stored.hpp"

namespace banyan::cli {
namespace {

using nlohmann::ordered_json;

using Axes = std::vector<std::pair<std::string, std::string>>;

std::string point_text(const std::string& name, const Axes& axes) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : axes) parts.push_back(fmt::format("{} = {}", key, value));
  return parts.empty() ? name : fmt::format("{}", fmt::join(parts, ", "));
}

ordered_json axes_json(const Axes& axes) {
  ordered_json object = ordered_json::object();
  for (const auto& [key, value] : axes) object[key] = value;
  return object;
}

ordered_json parting_json(const api::Parting& parting) {
  ordered_json object;
  if (parting.session) object["session"] = *parting.session;
  object["after"] = parting.after;
  object["before"] = parting.before == kNever ? ordered_json(nullptr) : ordered_json(parting.before);
  object["tick"] = parting.tick ? ordered_json(*parting.tick) : ordered_json(nullptr);
  object["reproduced_by"] = parting.reproduced_by;
  return object;
}

ordered_json verification_json(const api::Runs& runs, std::size_t point, const api::Verification& verification) {
  ordered_json object;
  object["axes"] = axes_json(runs.axes[point]);
  object["equal"] = verification.equal;
  object["stored"] = fmt::format("{:016x}", verification.stored);
  object["found"] = fmt::format("{:016x}", verification.found);
  object["statement"] = verification.statement;
  if (!verification.differences.empty()) object["differences"] = verification.differences;
  if (verification.parting) object["parting"] = parting_json(*verification.parting);
  return object;
}

std::string damage_statement(const DamagedRun& run) {
  return fmt::format("damaged: {}; {}", fmt::join(run.rows, "; "), run.remedy);
}

/// Nothing of a damaged run is believed, so that there is nothing to compare with.
ordered_json damage_json(const DamagedRun& run) {
  return {{"axes", axes_json(run.axes)},        {"equal", false},     {"stored", nullptr}, {"found", nullptr},
          {"statement", damage_statement(run)}, {"damaged", run.rows}};
}

/// A stored run has its seed: another one would be another run.
api::Runs with_seed(const api::Runs& all, u64 seed) {
  api::Runs runs{all.name, all.axis_names, {}, {}, {}};
  std::vector<u64> seeds;
  for (std::size_t i = 0; i < all.results.size(); ++i) {
    seeds.push_back(all.results[i].seed);
    if (all.results[i].seed != seed) continue;
    runs.axes.push_back(all.axes[i]);
    runs.results.push_back(all.results[i]);
    if (!all.printed.empty()) runs.printed.push_back(all.printed[i]);
  }
  if (!runs.results.empty()) return runs;
  std::sort(seeds.begin(), seeds.end());
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
  throw ConfigError({all.name, 0, 0, "--seed"}, fmt::format("there is no run of seed {}", seed),
                    fmt::format("its runs have the seeds {}", fmt::join(seeds, ", ")));
}

}  // namespace

int verify(const VerifyArguments& arguments) {
  std::vector<DamagedRun> damaged;
  const api::Runs all_runs = stored_runs(arguments.from, &damaged);
  const api::Runs runs = arguments.running.seed ? with_seed(all_runs, *arguments.running.seed) : all_runs;
  const bool* interrupted = watch_interrupt();
  ordered_json points = ordered_json::array();
  std::string text;
  std::size_t equal = 0;
  for (const DamagedRun& run : damaged) {
    text += fmt::format("{}: {}\n", point_text(arguments.from, run.axes), damage_statement(run));
    points.push_back(damage_json(run));
  }
  {
    constexpr u64 kWhole = 1000;
    ProgressDisplay display(arguments.running.quiet, "runs", kWhole);
    for (std::size_t i = 0; i < runs.results.size(); ++i) {
      display.name(point_text(runs.name, runs.axes[i]));
      api::VerifyOptions options;
      options.run.threads = arguments.running.threads.value_or(1);
      options.run.interrupted = interrupted;
      options.run.progress = [&](u64 done, u64 total) {
        display(i * kWhole + done * kWhole / std::max<u64>(total, 1), runs.results.size() * kWhole);
      };
      options.axes = runs.axes[i];
      if (!runs.printed.empty()) options.printed = runs.printed[i];
      const api::Verification verification = api::verify(runs.results[i], options);
      equal += verification.equal ? 1U : 0U;
      text += fmt::format("{}: {}\n", point_text(runs.name, runs.axes[i]), verification.statement);
      points.push_back(verification_json(runs, i, verification));
    }
  }
  const std::size_t total = runs.results.size() + damaged.size();
  const ordered_json all{{"runs", total}, {"equal", equal}, {"points", points}};
  arguments.running.json ? print(all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n")
                         : show_text(text);
  return equal == total ? kDone : kFailed;
}

}  // namespace banyan::cli
