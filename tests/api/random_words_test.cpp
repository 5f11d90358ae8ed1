// Has every random choice words of its own? A routing that listens writes down, over all switch models and traffics,
// the words that packets get for their ways, at their source and at every hop, in sessions and seeds that are
// neighbours.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/network.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/core/registry.hpp"
#include "engine/small_instances.hpp"

namespace banyan::api::random_words_test {
namespace {

/// Whose choice a word is for: seed, replication, traffic, source, and the message, or the packet and its place.
using Purpose = std::array<u64, 8>;

struct Heard {
  u64 seed = 0;
  u32 replication = 0;
  std::map<Words, Purpose> blocks;  ///< of choices at hops
  std::map<u32, Purpose> messages;  ///< words that messages have for their ways
  u64 hops = 0;                     ///< choices at hops
  std::set<u64> twice;              ///< blocks of two purposes, by the first of them
  std::set<u32> alike;              ///< words of two messages
  std::string example;
  bool listens = false;  ///< a model may ask for ways with fixed words while it is built

  void note_hop(const core::RouteRequest& request) {
    if (!listens) return;
    const core::Packet& packet = *request.packet;
    const Words block = request.random.block();
    if (block[1] == 0 && block[2] == 0 && block[3] == 0) return;  // a fixed word: asked for by an analysis
    ++hops;
    const Purpose purpose{seed,
                          replication,
                          packet.traffic,
                          packet.source,
                          packet.sequence,
                          request.at,
                          u64{request.in_port} << 32U | request.in_vc,
                          0};
    const auto [place, is_new] = blocks.emplace(block, purpose);
    if (is_new || place->second == purpose) return;
    twice.insert(blocks.size());
    if (example.empty()) example = text(place->second) + " and " + text(purpose);
  }
  void note_message(const core::Packet& packet, u32 word) {
    if (!listens) return;
    const Purpose purpose{seed,           replication,        packet.traffic, packet.source,
                          packet.message, packet.destination, packet.birth,   packet.vc_class};
    const auto [place, is_new] = messages.emplace(word, purpose);
    if (is_new || place->second == purpose) return;
    alike.insert(word);
    if (example.empty()) example = text(place->second) + " and " + text(purpose);
  }
  static std::string text(const Purpose& purpose) {
    std::string all = "(";
    for (const u64 v : purpose) all += std::to_string(v) + " ";
    return all + ")";
  }
};

/// Routes as another routing does.
class Listening final : public core::Routing {
 public:
  Listening(std::unique_ptr<core::Routing> one, Heard& heard) : one_(std::move(one)), heard_(heard) {}

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    heard_.note_hop(request);
    one_->route(request, out);
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    one_->all_candidates(request, out);
  }
  void prepare(core::Packet& packet, u32 word) const noexcept override {
    heard_.note_message(packet, word);
    one_->prepare(packet, word);
  }
  core::RoutingTraits traits() const noexcept override {
    core::RoutingTraits traits = one_->traits();
    traits.tag_format = {};
    traits.reads_source = traits.random = true;
    traits.by_destination = false;
    return traits;
  }
  u32 headers(u32 source, u32 destination) const noexcept override { return one_->headers(source, destination); }
  std::unique_ptr<core::MulticastRoutes> multicast_routes() const override { return one_->multicast_routes(); }

 private:
  std::unique_ptr<core::Routing> one_;
  Heard& heard_;
};

constexpr Tick kTicks = 600;
constexpr u64 kSeeds = 3;
constexpr u32 kReplications = 3;

/// Runs an experiment under several seeds in several replications each. False when it is refused.
bool listen(const std::string& text, const std::vector<std::string>& overrides, Heard& heard) {
  try {
    for (u64 seed = 1; seed <= kSeeds; ++seed) {
      std::vector<std::string> all = overrides;
      all.push_back("run.seed=" + std::to_string(seed));
      const Experiment experiment = read_experiments_text(text, "words", all).points.front();
      Network network = build_network(experiment);
      network.routing = std::make_unique<Listening>(std::move(network.routing), heard);
      heard.listens = false;
      const Instance instance = build_instance(experiment, network, engine_settings(experiment));
      heard.listens = true;
      heard.seed = seed;
      for (heard.replication = 0; heard.replication < kReplications; ++heard.replication) {
        instance.machine->reset(heard.replication);
        instance.machine->run_until(kTicks);
      }
    }
  } catch (const ConfigError&) { return false; }
  return true;
}

/// Words have 32 bits: of 60,000, one pair is alike by chance in one set of three.
std::size_t alike_by_chance(const Heard& heard) {
  const double n = static_cast<double>(heard.messages.size());
  return 2 + static_cast<std::size_t>(n * n * 0x1.0p-32);
}

std::string twice(std::string text) {
  const std::size_t begin = text.find("traffic = [") + 11;
  const std::size_t end = text.find("]\nrun");
  return text.replace(begin, end - begin, text.substr(begin, end - begin) + ", " + text.substr(begin, end - begin));
}

const core::TopologyRow* topology_row(const std::string& name) {
  for (const core::TopologyRow* row : core::topology_rows()) {
    if (row->info.name == name) return row;
  }
  return nullptr;
}
const core::RoutingRow* routing_row(const std::string& name) {
  for (const core::RoutingRow* row : core::routing_rows()) {
    if (row->info.name == name) return row;
  }
  return nullptr;
}

TEST(RandomWords, NoTwoChoicesOfAnyComponentsShareThem) {
  const std::vector<std::pair<std::string, std::string>> networks{{"fat_tree", "nearest_common_ancestor"},
                                                                  {"mesh", "dimension_order"},
                                                                  {"hypercube", "ecube"},
                                                                  {"extra_stage_cube", "destination_tag"},
                                                                  {"bidirectional_min", "nearest_common_ancestor"}};
  std::set<std::string> switches;
  std::set<std::string> traffics;
  for (const core::SwitchRow* switching : core::switching_rows()) {
    for (const core::TrafficRow* traffic : core::traffic_rows()) {
      for (const auto& [topology, routing] : networks) {
        const test::Combination c{topology_row(topology), switching, routing_row(routing), traffic};
        SCOPED_TRACE(c.name());
        Heard heard;
        const std::string text = c.text("watchdog = 0", {{"load", "0.1"}});
        if (!listen(twice(text), {}, heard) && !listen(text, {}, heard)) continue;
        EXPECT_EQ(heard.twice.size(), 0U) << heard.example;
        EXPECT_LE(heard.alike.size(), alike_by_chance(heard)) << heard.example;
        if (heard.hops != 0) switches.insert(switching->info.name);
        if (!heard.messages.empty()) traffics.insert(traffic->info.name);
        break;
      }
    }
  }
  for (const core::SwitchRow* row : core::switching_rows()) {
    // Its adapters ask for the whole path of a pair once, with a fixed word.
    if (row->info.name == "cioq") continue;
    if (row->without_contention) continue;  // nobody asks for a way there
    EXPECT_TRUE(switches.contains(row->info.name)) << row->info.name;
  }
  for (const core::TrafficRow* row : core::traffic_rows()) {
    // It has no messages but those of somebody else's loop.
    if (row->info.name == "injected") continue;
    EXPECT_TRUE(traffics.contains(row->info.name)) << row->info.name;
  }
}

TEST(RandomWords, NorInSubnetworksInSourceQueuesOrOnPathsThatMeetASwitchTwice) {
  const std::string mesh = "topology = { name = \"mesh\", size = [4, 4]@ }\n";
  const std::string uniform = "traffic = { name = \"uniform\", load = 0.3@ }\n";
  const auto with = [](std::string text, const std::string& more) { return text.replace(text.find('@'), 1, more); };
  const std::string vc_router = "switch = { name = \"vc_router\", vcs = 4 }\n";
  for (const std::string& text :
       {with(mesh, ", subnetworks = 2") + vc_router + "routing = \"dimension_order\"\n" + with(uniform, ""),
        with(mesh, "") + vc_router + "routing = \"dimension_order\"\n" + with(uniform, ", reply_size = [2]"),
        with(mesh, "") + vc_router + "routing = \"valiant\"\n" + with(uniform, ""),
        with(mesh, "") + "switch = { name = \"circuit\", vcs = 3 }\nrouting = \"dimension_order\"\n" +
            with(uniform, "")}) {
    Heard heard;
    ASSERT_TRUE(listen(text, {}, heard)) << text;
    EXPECT_GT(heard.hops, 1000U) << text;
    EXPECT_EQ(heard.twice.size(), 0U) << text << heard.example;
    EXPECT_LE(heard.alike.size(), alike_by_chance(heard)) << text << heard.example;
  }
}

/// What says of itself that it draws words, in the networks that were built. A routing and a traffic do so by the
/// topology.
class Drawers {
 public:
  void add(const test::Combination& c, const Experiment& experiment, const Network& network) {
    const std::string& topology = c.topology->info.name;
    routings_[{topology, c.routing->info.name}] = network.routing->random();
    bool& traffic = traffics_[{topology, c.traffic->info.name}];
    for (const auto& each : build_traffics(experiment, *network.topology)) traffic = traffic || each->random();
    const auto& draws = c.switching->draws;
    switches_[c.switching->info.name] =
        !c.switching->draws_nothing || (draws != nullptr && draws(experiment.switching));
  }

  /// Of a combination; nothing where a part has not been built yet.
  [[nodiscard]] std::optional<std::vector<std::string>> of(const test::Combination& c) const {
    const std::string& topology = c.topology->info.name;
    const auto switching = switches_.find(c.switching->info.name);
    const auto routing = routings_.find({topology, c.routing->info.name});
    const auto traffic = traffics_.find({topology, c.traffic->info.name});
    if (switching == switches_.end() || routing == routings_.end() || traffic == traffics_.end()) return std::nullopt;
    std::vector<std::string> all;
    if (switching->second) all.push_back("switch " + c.switching->info.name);
    if (routing->second) all.push_back("routing " + c.routing->info.name);
    if (traffic->second) all.push_back("traffic " + c.traffic->info.name);
    return all;
  }

 private:
  std::map<std::string, bool> switches_;
  std::map<std::pair<std::string, std::string>, bool> routings_;
  std::map<std::pair<std::string, std::string>, bool> traffics_;
};

/// Parts that are refused together, whatever the fourth: with so many of its values in a row the sentence was the same.
class Refused {
 public:
  static constexpr u32 kInARow = 5;

  void add(const test::Combination& c, const std::string& sentence) {
    for (const auto& three : threes(c)) {
      auto& [last, times] = sentences_[three];
      times = last == sentence ? times + 1 : 1;
      last = sentence;
    }
  }
  [[nodiscard]] bool contains(const test::Combination& c) const {
    return std::ranges::any_of(threes(c), [this](const Three& three) {
      const auto found = sentences_.find(three);
      return found != sentences_.end() && found->second.second >= kInARow;
    });
  }

 private:
  using Three = std::array<std::string, 3>;
  [[nodiscard]] static std::array<Three, 2> threes(const test::Combination& c) {
    const std::string& topology = c.topology->info.name;
    const std::string& switching = c.switching->info.name;
    return {Three{topology, switching, "routing " + c.routing->info.name},
            Three{topology, switching, "traffic " + c.traffic->info.name}};
  }
  std::map<Three, std::pair<std::string, u32>> sentences_;
};

u64 hash_of(Experiment experiment, const Network& network, i64 seed, u32 replication) {
  experiment.run.set("seed", seed);
  const Instance instance = build_instance(experiment, network, engine_settings(experiment));
  Hasher hasher;  // of networks on the way: those of finite traffics are empty in the end
  instance.machine->reset(replication);
  for (Tick now = 1; now < 400; now += 7) {
    instance.machine->run_until(now);
    hasher.add(instance.machine->hash());
  }
  return hasher.value();
}

/// A trace in which every terminal has messages of so many flits for all others, nearly at once.
std::string crowded_trace(u32 flits) {
  const std::string path = fmt::format("{}crowded-{}.trace", ::testing::TempDir(), flits);
  std::ofstream file(path);
  file << "# banyan trace 1\n";
  u32 id = 0;
  for (u32 k = 1; k < 16; ++k) {
    for (u32 t = 0; t < 16; ++t) file << fmt::format("{} {} {} {} {}\n", id++, k, t, (t + 7 * k) % 16, flits);
  }
  return path;
}

/// Whatever draws, draws anew in every session and for every seed: where it is alone in doing so, the states differ.
/// Two traffics run on cioq only, which draws too: with them it is enough that the states of both differ.
TEST(RandomWords, AreOthersInEverySessionAndForEverySeed) {
  std::set<std::string> all;
  std::set<std::string> differ;  // in some experiment
  // Who draws and is alone in doing so, where two traffics are not one.
  const auto alone = [](const test::Combination& c, std::vector<std::string> who) {
    if (c.traffic->info.name == "congestion" || c.traffic->info.name == "storage") std::erase(who, "switch cioq");
    return who.size() == 1 ? who.front() : "";
  };
  // They choose for background of sources whose synchronization waits, which takes more time than networks have here.
  for (const char* routing : {"isolated_background", "isolated_hot_spot", "hot_section"}) {
    const auto hash = [&](const std::string& seed) {
      const std::string text = fmt::format(
          "topology = {{ name = 'extra_stage_cube', terminals = 16, radix = 4 }}\n"
          "switch = {{ name = 'vc_router', vcs = 3 }}\nrouting = '{}'\n"
          "traffic = [{{ name = 'synchronization', deviation = 0, mean = 8 }}, {{ name = 'trace', file = '{}' }}]\n"
          "run = {{ sessions = 2, seed = {} }}\n",
          routing, crowded_trace(8), seed);
      return run(read_experiments_text(text, "waits", {}).points.front()).state_hash;
    };
    if (hash("1") != hash("2")) differ.insert(std::string("routing ") + routing);
  }
  for (const u32 flits : {0U, 1U, 8U}) {  // of a crowd, 0: none
    const std::string file = "'" + crowded_trace(flits) + "'";
    Drawers drawers;
    Refused refused;
    for (const test::Combination& c : test::all_combinations()) {
      const std::string& traffic = c.traffic->info.name;
      if (flits != 0 && traffic != "synchronization" && traffic != "trace") continue;
      // Most networks need not be built: it is known who draws in them, or that they are refused.
      if (refused.contains(c)) continue;
      if (const auto known = drawers.of(c)) {
        const std::string one = alone(c, *known);
        if (one.empty() || differ.contains(one)) continue;
      }
      try {
        std::string text = c.text("watchdog = 0");
        if (flits != 0) {
          text = c.text("watchdog = 0", {{"synchronization.deviation", "0"},
                                         {"synchronization.mean", "8"},
                                         {"trace.file", file},
                                         {"radix", "4"},
                                         {"vc_router.vcs", "3"}});
          if (traffic != "trace") text.insert(text.find("]\nrun"), ", { name = 'trace', file = " + file + " }");
        }
        const Experiment experiment = read_experiments_text(text, "alone", {}).points.front();
        const Network network = build_network(experiment);
        drawers.add(c, experiment, network);
        const std::vector<std::string> who = drawers.of(c).value();
        all.insert(who.begin(), who.end());
        const std::string one = alone(c, who);
        if (one.empty() || differ.contains(one)) continue;
        const u64 first = hash_of(experiment, network, 1, 0);
        if (hash_of(experiment, network, 1, 1) != first && hash_of(experiment, network, 2, 0) != first) {
          differ.insert(one);
        }
      } catch (const ConfigError& error) { refused.add(c, error.what()); }
    }
  }
  for (const std::string& one : all) EXPECT_TRUE(differ.contains(one)) << one;
  EXPECT_GT(differ.size(), 25U);
}

/// A number of sessions whose intervals say nothing are worse than none.
TEST(RandomWords, SessionsOfACollectiveWithRandomWaysDiffer) {
  const std::string text =
      "topology = { name = \"fat_tree\", arity = 4, levels = 3 }\nswitch = { name = \"vc_router\", vcs = 2 }\n"
      "routing = { name = \"nearest_common_ancestor\", up = \"random\" }\n"
      "traffic = { name = \"collective\" }\nrun = { sessions = 8 }\n";
  const Result result = run(read_experiments_text(text, "collective", {}).points.front());
  ASSERT_TRUE(result.at("completion_time").half_width.has_value());
  EXPECT_GT(*result.at("completion_time").half_width, 0.0);
}

}  // namespace
}  // namespace banyan::api::random_words_test
