// Does every topology x switch x routing x traffic either deliver its packets, audited, or say in one line why it is
// refused? The table grows with the registry; nothing here names what must work.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "banyan/analysis/parts/paths.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/predictions.hpp"
#include "banyan/base/error.hpp"
#include "engine/small_instances.hpp"

namespace banyan::matrix_test {
namespace {

using banyan::ConfigError;
using banyan::api::Result;
using banyan::api::Verdict;
using banyan::test::all_combinations;
using banyan::test::Combination;
using banyan::test::SmallValues;
using banyan::test::some_combinations;

constexpr double kMeasure = 4000;
constexpr double kEnough = 1000;
/// Traffic of long messages, or of worms that count once however many receive them, takes longer to deliver enough:
/// as much as is missing, twice because the drain delivers up to half of the first run and does not grow, and a fourth.
constexpr double kLonger = 10;

std::string run_of(double measure) {
  return fmt::format(
      "warmup = 200, measure = {:.0f}, drain = 4000, sessions = 2, session_limit = 50000, watchdog = 1000, audit = "
      "'full'",
      measure);
}

struct Count {
  unsigned delivered = 0;
  unsigned saturated = 0;
  unsigned bounded = 0;  ///< some model proves a bound of a metric that they report
  unsigned free = 0;     ///< nothing meets on their network: there is nothing to be bounded
  std::set<std::string> deadlocked;
  std::map<std::string, unsigned> refused;

  void print() const {
    std::printf("%u combinations deliver, %u of them saturated, %u with proven bounds\n", delivered, saturated,
                bounded);
    for (const std::string& name : deadlocked) std::printf("  deadlocked: %s\n", name.c_str());
    for (const auto& [cause, count] : refused) std::printf("  %3u refused: %s\n", count, cause.c_str());
  }
};

/// Rings let packets wait on each other in a circle unless there are classes of virtual channels (dimension_order).
bool has_rings(const banyan::api::Experiment& experiment) {
  const banyan::api::Network network = banyan::api::build_network(experiment);
  const banyan::core::Grid* grid = network.topology->grid();
  if (grid == nullptr) return false;
  for (std::size_t d = 0; d < grid->size.size(); ++d) {
    if (grid->wrap[d] && grid->size[d] > 2) return true;
  }
  return false;
}

/// No run exceeds what a model proves of it, whatever its verdict is.
void expect_no_contradiction(const banyan::api::Experiment& experiment, Result result, Count& count) {
  const banyan::api::Network network = banyan::api::build_network(experiment);
  const auto bounds = banyan::api::proven_bounds(experiment, network);
  bool compared = false;
  for (const banyan::api::Predictions& of_model : bounds) {
    for (const auto& p : of_model.list) compared = compared || result.find(p.metric) != nullptr;
  }
  banyan::api::add_predictions(result, bounds);
  EXPECT_EQ(result.warning.find("CONTRADICTION"), std::string::npos) << result.warning;
  count.bounded += compared ? 1U : 0U;
}

void run_one(const Combination& c, const SmallValues& more, Count& count) {
  SCOPED_TRACE(c.name());
  try {
    const banyan::api::Experiment experiment = c.experiment(run_of(kMeasure), more);
    Result result = banyan::api::run(experiment, {});
    if (result.verdict == Verdict::steady || result.verdict == Verdict::saturated) {
      const double delivered = result.at("delivered_packets").mean;
      const double longer = std::min(kLonger, 2.5 * kEnough / std::max(delivered, 1.0));
      if (delivered < kEnough) result = banyan::api::run(c.experiment(run_of(kMeasure * longer), more), {});
    }
    if (result.verdict == Verdict::deadlocked) {
      const bool unprotected = c.routing->info.name == "fully_adaptive";  // made for switches that do not wait
      EXPECT_TRUE(unprotected || (has_rings(experiment) && more.contains("datelines"))) << result.explanation;
      EXPECT_NE(result.explanation.find("wait on each other in a cycle"), std::string::npos) << result.explanation;
      if (!unprotected) count.deadlocked.insert(c.name());
      return;
    }
    expect_no_contradiction(experiment, result, count);
    // What is injected from outside a run is nothing where nobody does.
    const bool silent = c.traffic->info.name == "injected";
    if (result.verdict != Verdict::finished && !silent) { EXPECT_GE(result.at("delivered_packets").mean, kEnough); }
    ++count.delivered;
    count.free += c.switching->without_contention ? 1U : 0U;
    count.saturated += result.verdict == Verdict::saturated ? 1U : 0U;
  } catch (const ConfigError& error) {
    EXPECT_FALSE(error.cause().empty());
    EXPECT_FALSE(error.remedy().empty());
    EXPECT_EQ((error.cause() + error.remedy()).find('\n'), std::string::npos) << "one line each";
    ++count.refused[error.cause()];
  } catch (const InvariantError& error) { ADD_FAILURE() << error.what(); }
}

void expect_delivered_or_refused(const std::vector<Combination>& combinations) {
  Count count;
  for (const Combination& c : combinations) run_one(c, {}, count);
  EXPECT_TRUE(count.deadlocked.empty());
  EXPECT_GT(count.delivered, combinations.size() / 100);
  EXPECT_GT(count.bounded, (count.delivered - count.free) * 4 / 5);
  count.print();
}

TEST(Matrix, CombinationsDeliverOrAreRefusedWithOneReason) { expect_delivered_or_refused(some_combinations()); }

TEST(SlowMatrix, EveryCombinationDeliversOrIsRefusedWithOneReason) { expect_delivered_or_refused(all_combinations()); }

/// Far beyond saturation, and on tori without classes of virtual channels: only those may deadlock, and must say how.
void expect_only_rings_deadlock(const std::vector<Combination>& combinations) {
  Count count;
  for (const Combination& c : combinations) run_one(c, {{"load", "1.0"}, {"datelines", "false"}}, count);
  EXPECT_FALSE(count.deadlocked.empty());
  EXPECT_GT(count.bounded, (count.delivered - count.free) * 4 / 5);
  count.print();
}

/// Which traffics the selection has on tori changes with every new row: one that does deadlock is always among them.
TEST(Matrix, OverloadDeadlocksNothingButRingsWithoutClasses) {
  std::vector<Combination> combinations = some_combinations();
  for (const Combination& c : all_combinations()) {
    if (c.name() == "torus x vc_router x dimension_order x uniform") combinations.push_back(c);
  }
  expect_only_rings_deadlock(combinations);
}

TEST(SlowMatrix, OverloadDeadlocksNothingButRingsWithoutClasses) { expect_only_rings_deadlock(all_combinations()); }

/// The numbers of a column of a table.
std::vector<u64> column(const Result& result, const std::string& table, const std::string& name) {
  std::vector<u64> values;
  for (const banyan::api::Table& t : result.tables) {
    if (t.name != table) continue;
    const auto at = std::find(t.columns.begin(), t.columns.end(), name) - t.columns.begin();
    for (const auto& row : t.rows) values.push_back(std::get<u64>(row.at(static_cast<std::size_t>(at))));
  }
  return values;
}

/// Every flow by itself, which holds however unfairly demands are met: in a run from an empty network, what the flows
/// over a channel deliver is no more than what the channel carried, and this no more than what it can carry. Of flows
/// with one path all channels count, of others those of their terminals. Returns the channels that were compared.
unsigned expect_flows_fit_their_channels(const Combination& c) {
  constexpr u64 kCycles = 1500;
  if (c.switching->without_contention) return 0;  // it has no channels
  const banyan::api::Experiment e =
      c.experiment(fmt::format("duration = '{} cycles', tables = 'all', watchdog = 0", kCycles), {{"load", "0.9"}});
  const Result result = banyan::api::run(e, {});
  const banyan::api::Network network = banyan::api::build_network(e);
  const auto traffics = banyan::api::build_traffics(e, *network.topology);
  u64 longest = 1;
  for (const auto& traffic : traffics) {
    // A flit on a channel may be delivered several times; a session is measured until its last message is born.
    if (traffic->replicates() || traffic->finite()) return 0;
    longest = std::max<u64>(longest, traffic->longest_message());
  }
  const banyan::core::AnalysisContext context = banyan::api::analysis_context(e, network, traffics);
  const banyan::core::Graph& graph = network.topology->graph();
  std::vector<double> delivered(graph.channels().size(), 0.0);
  const bool follows = network.routing->sight() == banyan::core::Sight::none;
  const banyan::config::ComponentInfo info{"matrix", "", "", {}};
  const banyan::config::Values values = banyan::config::Values::defaults(info);
  std::optional<banyan::analysis::parts::Paths> paths;
  if (follows) paths.emplace(values, context);
  const std::vector<u64> sources = column(result, "flows", "source");
  const std::vector<u64> destinations = column(result, "flows", "destination");
  const std::vector<u64> flits = column(result, "flows", "flits");
  for (std::size_t f = 0; f < flits.size(); ++f) {
    const u32 from = static_cast<u32>(sources[f]);
    const u32 to = static_cast<u32>(destinations[f]);
    std::map<u32, double> shares;
    if (follows) paths->follow(from, to, [&](u32 channel, double share) { shares[channel] += share; });
    if (!follows || paths->chose()) shares = {{graph.injection(from), 1.0}, {graph.ejection(to), 1.0}};
    for (const auto& [channel, share] : shares) delivered[channel] += share > 1.0 - 1e-9 ? double(flits[f]) : 0.0;
  }
  const std::vector<u64> numbers = column(result, "channels", "channel");
  const std::vector<u64> carried = column(result, "channels", "flits");
  unsigned compared = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto c_id = static_cast<u32>(numbers[i]);
    const banyan::core::Channel& channel = graph.channel(c_id);
    const auto& full = context.capacity;
    const double capacity = (channel.from.terminal ? full.injection
                             : channel.to.terminal ? full.ejection
                                                   : full.channel) /
                            channel.link.cycles_per_flit;
    SCOPED_TRACE(fmt::format("channel {}", c_id));
    // The flits of a packet may be counted when its first one leaves.
    EXPECT_LE(static_cast<double>(carried[i]), capacity * kCycles + static_cast<double>(longest));
    EXPECT_LE(delivered[c_id], capacity * kCycles);
    if (carried[i] == 0 && (channel.from.terminal || channel.to.terminal)) continue;  // the model has no such channel
    EXPECT_LE(delivered[c_id], static_cast<double>(carried[i]));
    compared += delivered[c_id] > 0.0 ? 1U : 0U;
  }
  return compared;
}

TEST(Matrix, WhatFlowsDeliverFitsTheirChannels) {
  unsigned runs = 0;
  unsigned channels = 0;
  for (const Combination& c : some_combinations()) {
    SCOPED_TRACE(c.name());
    try {
      const unsigned compared = expect_flows_fit_their_channels(c);
      runs += compared != 0 ? 1U : 0U;
      channels += compared;
    } catch (const ConfigError&) {}  // a finite traffic has no fixed length, or the combination is refused
  }
  EXPECT_GT(runs, 100U);
  std::printf("%u channels of %u runs\n", channels, runs);
}

/// Settings that a remedy writes: name = value, as overrides.
std::vector<std::string> settings_in(const std::string& remedy) {
  static const std::regex setting(R"re(([a-z_]+(?:\.[a-z_]+)?) = ("[^"]*"|true|false|-?[0-9.]*[0-9]))re");
  std::vector<std::string> found;
  for (std::sregex_iterator i(remedy.begin(), remedy.end(), setting); i != std::sregex_iterator(); ++i) {
    found.push_back((*i)[1].str() + "=" + (*i)[2].str());
  }
  return found;
}

/// A setting that a remedy names may be of any component: one of them has to take it and to lose the cause. A switch
/// that the remedy names comes first.
bool helps(const std::string& text, const std::string& remedy, const std::string& setting, const std::string& cause) {
  static const std::regex named_switch("the switch (?:[a-z_]+ or )*([a-z_]+) with");
  std::smatch match;
  banyan::api::Overrides overrides;
  if (std::regex_search(remedy, match, named_switch)) overrides.push_back("switch=" + match[1].str());
  for (const char* of : {"", "switch.", "routing.", "topology.", "traffic.", "run."}) {
    std::optional<banyan::api::Experiment> changed;
    try {
      banyan::api::Overrides all = overrides;
      all.push_back(of + setting);
      changed = banyan::api::read_experiments_text(text, "small", all).points.front();
    } catch (const ConfigError&) { continue; }  // not of this component
    try {
      banyan::api::check(*changed);
      return true;
    } catch (const ConfigError& error) {
      if (error.cause() != cause) return true;
    }
  }
  return false;
}

/// What a refusal proposes as a setting takes the cause away; another may come to light. Each kind of cause once.
void expect_helpful_remedies(const std::vector<Combination>& combinations) {
  std::set<std::string> tried;
  unsigned settings = 0;
  for (const Combination& c : combinations) {
    const std::string text = c.text(run_of(kMeasure));
    try {
      banyan::api::check(c.experiment(run_of(kMeasure)));
    } catch (const ConfigError& error) {
      std::string kind = error.cause() + error.remedy();
      std::erase_if(kind, [](char x) { return x >= '0' && x <= '9'; });
      // Whole tables are tried beside their alternatives, in tests/api/advice_test.cpp.
      if (!tried.insert(kind).second || error.remedy().find("= {") != std::string::npos) continue;
      for (const std::string& setting : settings_in(error.remedy())) {
        EXPECT_TRUE(helps(text, error.remedy(), setting, error.cause()))
            << c.name() << ": " << error.cause() << "\n  remedy: " << error.remedy() << "\n  tried: " << setting;
        ++settings;
      }
    }
  }
  EXPECT_GT(settings, 10U);
  std::printf("%u settings of %zu remedies\n", settings, tried.size());
}

TEST(Matrix, SettingsThatARemedyNamesTakeTheCauseAway) { expect_helpful_remedies(some_combinations()); }

TEST(SlowMatrix, SettingsThatARemedyNamesTakeTheCauseAway) { expect_helpful_remedies(all_combinations()); }

/// Every row takes part in some combination that delivers.
TEST(Matrix, EveryComponentDeliversSomewhere) {
  std::set<std::string> missing;
  for (const Combination& c : all_combinations()) {
    for (const auto* info : {&c.topology->info, &c.switching->info, &c.routing->info, &c.traffic->info}) {
      missing.insert(info->name);
    }
  }
  for (const Combination& c : all_combinations()) {
    if (missing.empty()) break;
    try {
      const std::set<std::string> names{c.topology->info.name, c.switching->info.name, c.routing->info.name,
                                        c.traffic->info.name};
      banyan::api::check(c.experiment(run_of(kMeasure)));
      for (const std::string& name : names) missing.erase(name);
    } catch (const ConfigError&) { continue; }
  }
  for (const std::string& name : missing) ADD_FAILURE() << name << " is refused everywhere";
}

}  // namespace
}  // namespace banyan::matrix_test
