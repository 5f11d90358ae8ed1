// Does the watchdog call only that a deadlock which no patience would mend? Switch models, channels and terminals may
// need long for what nobody sees: stages of a pipeline, acquisitions, transfers, timers. With random parameters, long
// ones among them, and the shortest watchdog, whatever arrives without a watchdog arrives with it.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>

#include "banyan/api/network.hpp"
#include "banyan/api/predictions.hpp"
#include "experiments/generator.hpp"
#include "support/effort.hpp"

namespace banyan::test::experiments::watchdog_test {
namespace {

constexpr i64 kMeasured = 2000;
constexpr i64 kPatience = 50'000;

/// Times that make the network wait, in six of ten parameters that are times; of a switch, other values too.
void lengthen(Part& part, const config::ComponentInfo& info, Dice& dice) {
  for (const config::Parameter& p : info.parameters) {
    const bool time = p.unit_name == "cycles" || p.unit_name == "ns" || p.name == "cycles_per_flit";
    if ((part.section != "switch" && !time) || !dice.chance(0.6)) continue;
    const auto within = [&](double value) { return std::min(std::max(value, p.low), p.high); };
    const std::vector<double> lengths{p.low, 1.0, 3.0, 300.0, 700.0, 2000.0};
    const double number = within(time || dice.chance(0.2) ? dice.of(lengths) : 1.0 + dice.below(8));
    switch (p.type) {
      case config::Type::boolean:
        part.set(p.name, dice.chance(0.5) ? "true" : "false");
        break;
      case config::Type::choice:
        part.set(p.name, fmt::format("\"{}\"", dice.of(p.choices)));
        break;
      case config::Type::integer:
        part.set(p.name, fmt::format("{:.0f}", number));
        break;
      case config::Type::integers:
        if (time) part.set(p.name, fmt::format("[{:.0f}]", number));
        break;
      case config::Type::real:
        part.set(p.name, fmt::format("{:.3f}", within(time ? dice.of(lengths) : dice.real())));
        break;
      default:
        break;
    }
  }
}

/// Few packets on a small network, and patience.
Recipe small_silent(const Combination& network, Dice& dice) {
  Recipe recipe;
  recipe.parts.push_back(small_part("topology", network.topology->info));
  if (dice.chance(0.5)) lengthen(recipe.parts.back(), network.topology->info, dice);
  recipe.parts.push_back(small_part("switch", network.switching->info));
  lengthen(recipe.parts.back(), network.switching->info, dice);
  recipe.parts.push_back(small_part("routing", network.routing->info));
  recipe.parts.push_back({"traffic",
                          "uniform",
                          {{"load", dice.chance(0.5) ? "0.0005" : "0.05"},
                           {"size", std::to_string(dice.chance(0.5) ? 1 : 1 + dice.below(600))}}});
  recipe.parts.push_back({"run",
                          "",
                          {{"seed", std::to_string(dice.below(1000))},
                           {"warmup", "0"},
                           {"measure", std::to_string(kMeasured)},
                           {"drain", std::to_string(kPatience)}}});
  return recipe;
}

/// Two values that do not fit together are refused at one of them, which may be a default: takes back the other.
bool remove_named(Part& part, const std::string& refusal) {
  for (const Setting& s : part.settings) {
    if (!std::regex_search(refusal, std::regex("\\b" + s.key.substr(s.key.rfind('.') + 1) + "\\b"))) continue;
    part.remove(std::string(s.key));
    return true;
  }
  return false;
}

/// False: it is that already.
bool set_least_size(Recipe& recipe) {
  Part& traffic = recipe.part("traffic");
  if (traffic.find("size")->value == "1") return false;
  traffic.set("size", "1");
  return true;
}

/// The experiment, without the keys that are refused; nothing when it is refused as a whole.
std::optional<api::Experiment> accepted(Recipe recipe) {
  for (u32 repairs = 0; repairs < 30; ++repairs) {
    try {
      api::Experiment experiment = api::read_experiments_text(to_toml(recipe), "silence", {}).points.front();
      api::check(experiment);
      return experiment;
    } catch (const ConfigError& error) {
      const std::optional<Place> place = place_of(recipe, error.where().line);
      if (!place) return std::nullopt;
      Part& part = recipe.parts[place->part];
      // The key without its section; a key of a table inside it keeps the table's name.
      const std::string key = error.where().key.substr(error.where().key.find('.') + 1);
      if (part.find(key) != nullptr) {
        part.remove(key);
      } else if (!remove_named(part, error.cause() + error.remedy()) && !set_least_size(recipe)) {
        return std::nullopt;
      }
    }
  }
  return std::nullopt;
}

std::vector<Combination> networks_of(const core::SwitchRow& row) {
  std::vector<Combination> all;
  for (const Combination& c : all_combinations()) {
    if (c.switching != &row || c.traffic->info.name != "uniform") continue;
    try {
      api::check(c.experiment("measure = 10"));
      all.push_back(c);
    } catch (const ConfigError&) { continue; }
  }
  return all;
}

void expect_patient(u64 seed, u64 tries_per_switch) {
  for (const core::SwitchRow* row : core::switching_rows()) {
    const std::vector<Combination> networks = networks_of(*row);
    u64 arrived = 0;
    for (u64 i = 0; i < tries_per_switch && !testing::Test::HasFailure(); ++i) {
      Dice dice(seed, i);
      const std::optional<api::Experiment> experiment = accepted(small_silent(dice.of(networks), dice));
      if (!experiment) continue;
      const api::Network network = api::build_network(*experiment);
      api::Experiment patient = *experiment;
      patient.run.set("watchdog", i64{0});
      const api::Result late = api::run_on(patient, network, {});
      // It ends when everything has arrived, or at the end of its drain.
      if (late.at("simulated_cycles").mean >= static_cast<double>(kMeasured + kPatience)) continue;
      ++arrived;
      api::Experiment hasty = *experiment;
      hasty.run.set("watchdog", i64{1});
      const api::Result result = api::run_on(hasty, network, {});
      EXPECT_NE(result.verdict, api::Verdict::deadlocked)
          << row->info.name << ", number " << i << " of seed " << seed << ": " << result.explanation << "\n"
          << experiment->configuration;
      EXPECT_EQ(result.state_hash, late.state_hash) << row->info.name << ", number " << i << " of seed " << seed;
    }
    EXPECT_GT(arrived, tries_per_switch / 4) << row->info.name << ": hardly anything is tried";
  }
}

TEST(Watchdog, ShortestOneWaitsForEveryLegitimateSilence) { expect_patient(1, tries<u64>(40, 4)); }
/// A part of it, or another seed: BANYAN_EXPERIMENTS_COUNT, BANYAN_EXPERIMENTS_SEED.
TEST(SlowWatchdog, ShortestOneWaitsForEveryLegitimateSilence) {
  expect_patient(number_from("BANYAN_EXPERIMENTS_SEED", 2), number_from("BANYAN_EXPERIMENTS_COUNT", 3000));
}

}  // namespace
}  // namespace banyan::test::experiments::watchdog_test
