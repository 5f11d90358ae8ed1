#include "banyan/api/placement.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <optional>
#include <tuple>

#include "banyan/base/file.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/base/text_lines.hpp"

namespace banyan::api {
namespace {

constexpr Stream kPlaces{"jobs: placement"};

/// Groups of a dragonfly; elsewhere the terminals of one switch are a group.
std::vector<u32> groups_of(const core::Topology& with_copies) {
  const core::Topology& topology = with_copies.one_subnetwork();
  const core::Graph& graph = topology.graph();
  std::vector<u32> groups(graph.terminals(), 0);
  for (u32 t = 0; t < graph.terminals(); ++t) {
    const u32 channel = graph.injection(t);
    if (channel == kNone) continue;
    const u32 first = graph.channel(channel).to.node;
    groups[t] = topology.dragonfly() != nullptr ? first / topology.dragonfly()->routers : first;
  }
  return groups;
}

std::vector<u32> read_terminals(const config::Values& values, u32 terminals) {
  const std::string& path = values.text("placement");
  std::error_code ignored;
  const bool regular = std::filesystem::is_regular_file(path, ignored);  // to open a pipe may wait for ever
  const std::optional<std::string> text = regular ? read_text_file(path) : std::nullopt;
  if (!text) {
    values.fail("placement", fmt::format("there is no placement and no file \"{}\"", values.text("placement")),
                "use linear, random, blocked, spread, or a file of terminal numbers");
  }
  std::vector<u32> all;
  for_each_line(*text, [&](u32 number, std::string_view line) {
    for (const PlacedWord& word : placed_words(line)) {
      u32 terminal = 0;
      const auto [end, error] = std::from_chars(word.text.data(), word.text.data() + word.text.size(), terminal);
      if (error != std::errc{} || end != word.text.data() + word.text.size() || terminal >= terminals) {
        throw ConfigError({path, number, word.column, ""},
                          fmt::format("\"{}\" is no terminal", with_faults_shown(std::string(word.text))),
                          fmt::format("give terminals from 0 to {}", terminals - 1));
      }
      all.push_back(terminal);
    }
  });
  return all;
}

}  // namespace

Placement::Placement(const core::Topology& topology, u64 seed)
    : seed_(seed), group_(groups_of(topology)), ranks_(group_.size(), 0) {}

std::vector<u32> Placement::order(const std::string& kind) const {
  const auto terminals = static_cast<u32>(group_.size());
  const u32 groups = group_.empty() ? 0 : *std::max_element(group_.begin(), group_.end()) + 1;
  std::vector<u32> in_group(groups, 0);  // ranks of earlier jobs
  for (u32 t = 0; t < terminals; ++t) in_group[group_[t]] += ranks_[t];
  const Random random(seed_, kPlaces, job_, 0);
  std::vector<u32> seen(groups, 0);
  std::vector<std::array<u64, 3>> keys(terminals);
  for (u32 t = 0; t < terminals; ++t) {
    if (kind == "random") {
      const Words words = random.at(t, 0);
      keys[t] = {u64{words[0]} << 32U | words[1], 0, t};
    } else if (kind == "blocked") {
      keys[t] = {in_group[group_[t]], group_[t], t};
    } else if (kind == "spread") {
      keys[t] = {ranks_[t] != 0 ? seen[group_[t]] : seen[group_[t]]++, group_[t], t};
    } else {
      keys[t] = {0, 0, t};
    }
  }
  std::vector<u32> all(terminals);
  std::iota(all.begin(), all.end(), 0U);
  // What has the fewest ranks of earlier jobs comes first, whatever the kind.
  std::sort(all.begin(), all.end(),
            [&](u32 a, u32 b) { return std::tie(ranks_[a], keys[a]) < std::tie(ranks_[b], keys[b]); });
  return all;
}

std::vector<u32> Placement::place(const config::Values& values, u32 ranks) {
  const std::string& kind = values.text("placement");
  const bool known = kind == "linear" || kind == "random" || kind == "blocked" || kind == "spread";
  std::vector<u32> all = known ? order(kind) : read_terminals(values, static_cast<u32>(group_.size()));
  if (!known && all.size() < ranks) {
    values.fail("placement",
                fmt::format("the file {} has {} terminals, and there are {} ranks", kind, all.size(), ranks),
                "give one terminal per rank");
  }
  unused_ = known ? 0 : static_cast<u32>(all.size()) - ranks;
  std::vector<u32> terminals(ranks);
  for (u32 r = 0; r < ranks; ++r) {
    terminals[r] = all[r % all.size()];
    ++ranks_[terminals[r]];
  }
  ++job_;
  return terminals;
}

}  // namespace banyan::api
