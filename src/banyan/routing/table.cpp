// Routing from a table: lines "SWITCH TERMINAL PORT [VC_BEGIN VC_END]", by number, from a file or from the experiment.
// Several lines for one switch and terminal are alternatives, in their order. A terminal's own switch needs no line.
// The table is followed from every terminal to every other when it is read.
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include "banyan/base/printable.hpp"
#include "banyan/config/text_lines.hpp"
#include "banyan/routing/parts/places.hpp"

namespace banyan::routing::table {
namespace {

constexpr const char* kForm = "write SWITCH TERMINAL PORT [VC_BEGIN VC_END]";

/// `word`: which of the line's is at fault.
[[noreturn]] void fail(const TextLine& line, std::size_t word, const std::string& cause, const std::string& remedy) {
  throw ConfigError(line.where(word), cause, remedy);
}

/// The numbers of a line; empty for a comment.
std::vector<u32> numbers_of(const TextLine& line) {
  std::vector<u32> numbers;
  for (const std::string& word : line.words) {
    u32 value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) {
      fail(line, numbers.size(), fmt::format("\"{}\" is no number", with_faults_shown(word)), kForm);
    }
    numbers.push_back(value);
  }
  if (!numbers.empty() && numbers.size() != 3 && numbers.size() != 5) {
    fail(line, numbers.size() - 1, fmt::format("{} numbers on a line", numbers.size()), kForm);
  }
  return numbers;
}

class Table final : public core::Routing {
 public:
  Table(const config::Values& values, const core::RoutingContext& context)
      : graph_(context.topology->graph()), places_(graph_), vcs_(static_cast<u8>(context.vcs)) {
    std::map<u64, std::vector<core::Candidate>> entries;
    for (const TextLine& line : config::lines_of(values, "routing table", values.texts("lines"))) {
      const std::vector<u32> n = numbers_of(line);
      if (!n.empty()) entries[key(n[0], n[1])].push_back(candidate(line, n));
    }
    for (const auto& [where, list] : entries) {
      keys_.push_back(where);
      first_.push_back(static_cast<u32>(candidates_.size()));
      candidates_.insert(candidates_.end(), list.begin(), list.end());
    }
    first_.push_back(static_cast<u32>(candidates_.size()));
    one_way_ = candidates_.size() == keys_.size();
    for (u32 d = 0; d < graph_.terminals(); ++d) follow(values, *context.topology, d);
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    const u32 destination = request.packet->destination;
    const std::size_t i = find(request.at, destination);
    if (i < keys_.size()) {
      for (u32 c = first_[i]; c < first_[i + 1]; ++c) out.add(candidates_[c]);
    } else if (request.at == places_.switch_of(destination)) {
      out.add({static_cast<u16>(places_.port_of(destination)), 0, vcs_});
    }
  }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {.reads_source = false, .random = false, .in_order = one_way_ && vcs_ == 1};
  }

 private:
  static u64 key(u32 s, u32 destination) { return static_cast<u64>(s) << 32U | destination; }
  [[nodiscard]] std::size_t find(u32 s, u32 destination) const noexcept {
    const auto found = std::lower_bound(keys_.begin(), keys_.end(), key(s, destination));
    return found != keys_.end() && *found == key(s, destination) ? static_cast<std::size_t>(found - keys_.begin())
                                                                 : keys_.size();
  }

  [[nodiscard]] core::Candidate candidate(const TextLine& line, const std::vector<u32>& n) const {
    if (n[0] >= graph_.switches() || n[1] >= graph_.terminals()) {
      fail(line, n[0] >= graph_.switches() ? 0 : 1, "the line names a switch or a terminal outside the network",
           fmt::format("switches are 0 to {}, terminals 0 to {}", graph_.switches() - 1, graph_.terminals() - 1));
    }
    const u32 c = n[2] < graph_.outputs(n[0]) ? graph_.channel_out_of(n[0], n[2]) : kNone;
    if (c == kNone || graph_.channel(c).failed) {
      fail(line, 2, fmt::format("port {} of switch {} leads nowhere", n[2], n[0]),
           "name a port with a working channel");
    }
    const core::End& to = graph_.channel(c).to;
    if (to.terminal && to.node != n[1]) {
      fail(line, 2, fmt::format("port {} of switch {} leads to terminal {}", n[2], n[0], to.node),
           fmt::format("name a port that leads to terminal {} or to a switch", n[1]));
    }
    if (n.size() == 3) return {static_cast<u16>(n[2]), 0, vcs_};
    if (n[3] >= n[4] || n[4] > vcs_) {
      fail(line, 3, fmt::format("virtual channels from {} to before {} of {}", n[3], n[4], vcs_),
           "write the first one and the one behind the last");
    }
    return {static_cast<u16>(n[2]), static_cast<u8>(n[3]), static_cast<u8>(n[4])};
  }

  /// Every packet to `d` must find entries, and must not come back to where it was.
  void follow(const config::Values& values, const core::Topology& topology, u32 d) const {
    enum : u8 { kNew, kOpen, kDone };
    std::vector<u8> state(graph_.switches(), kNew);
    std::vector<std::pair<u32, u32>> path;  // switch, next candidate
    for (u32 t = 0; t < graph_.terminals(); ++t) {
      const u32 start = graph_.channel(graph_.injection(t)).to.node;
      if (state[start] == kNew) path.emplace_back(start, 0);
      while (!path.empty()) {
        auto& [s, next] = path.back();
        state[s] = kOpen;
        const u32 to = next_switch(values, topology, s, next++, d);
        if (to == kNone) {
          state[s] = kDone;
          path.pop_back();
        } else if (to != kHere) {
          if (state[to] == kOpen) {
            values.fail(
                given(values),
                fmt::format("the table leads packets to terminal {} in a circle over switch {}", d, topology.label(to)),
                "let every line lead nearer to the terminal");
          }
          if (state[to] == kNew) path.emplace_back(to, 0);
        }
      }
    }
  }
  static constexpr u32 kHere = kNone - 1;
  static const char* given(const config::Values& values) { return values.text("file").empty() ? "lines" : "file"; }

  /// The switch behind the i-th candidate at s, kHere for the destination, kNone after the last.
  [[nodiscard]] u32 next_switch(const config::Values& values, const core::Topology& topology, u32 s, u32 i,
                                u32 d) const {
    const std::size_t entry = find(s, d);
    if (entry == keys_.size()) {
      if (s == places_.switch_of(d)) return i == 0 ? kHere : kNone;
      values.fail(given(values),
                  fmt::format("the table has no line for switch {} ({}) and terminal {}", s, topology.label(s), d),
                  fmt::format("add one: {} {} PORT", s, d));
    }
    if (first_[entry] + i >= first_[entry + 1]) return kNone;
    const core::End& to = graph_.channel(graph_.channel_out_of(s, candidates_[first_[entry] + i].port)).to;
    return to.terminal ? kHere : to.node;
  }

  const core::Graph& graph_;
  parts::Places places_;
  u8 vcs_;
  bool one_way_ = true;
  std::vector<u64> keys_;  ///< sorted
  std::vector<u32> first_;
  std::vector<core::Candidate> candidates_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<Table>(values, context);
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_table;
const core::RoutingRow row_table{
    {"table",
     "Routing from a table: which port, and virtual channels, a switch takes towards a terminal.",
     "File format of this program: docs/routing/table.md",
     {
         Parameter::text("file", "").file().doc("File of the table, relative to the folder of the experiment."),
         Parameter::texts("lines", {}).doc("The same lines here, where there is no file."),
     }},
    make};

}  // namespace banyan::routing::table
