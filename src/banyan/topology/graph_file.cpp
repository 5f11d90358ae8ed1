// Any graph, from a file of lines or from the same lines in the experiment:
//   switch NAME
//   terminal NAME SWITCH [latency=N]
//   link FROM TO [latency=N] [cycles_per_flit=N] [one_way]
// A "#" starts a comment. Ports are numbered in the order of the lines that mention a switch, and a link has the same
// port number for both directions; terminals are numbered in the order of their lines.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "banyan/base/printable.hpp"
#include "banyan/config/text_lines.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/topology/parts/damage.hpp"

namespace banyan::topology::graph_file {
namespace {

/// `word`: which of the line's is at fault.
[[noreturn]] void fail(const TextLine& line, std::size_t word, const std::string& cause, const std::string& remedy) {
  throw ConfigError(line.where(word), cause, remedy);
}

/// Four switches in a ring with a chord: small, with two ways between most pairs.
const std::vector<std::string>& example() {
  static const std::vector<std::string> lines{
      "switch a",     "switch b", "switch c", "switch d", "terminal 0 a", "terminal 1 b", "terminal 2 c",
      "terminal 3 d", "link a b", "link b c", "link c d", "link d a",     "link a c",
  };
  return lines;
}

std::vector<TextLine> read_lines(const config::Values& values) {
  const bool from_file = !values.text("file").empty();
  const std::vector<std::string>& written = values.texts("lines");
  // What a run keeps of its experiment has an empty list for the example; it has no lines.
  if (!from_file && written.empty() && values.given("lines") && values.where("lines").line != 0) {
    values.fail("lines", "the graph has no lines",
                "give switches, terminals and links, or leave out lines for an example");
  }
  // Configurations of old have the example beside a file: it was the default of the lines.
  const bool nothing_written = written.empty() || (from_file && written == example());
  return config::lines_of(values, "graph file",
                          !nothing_written ? written
                          : from_file      ? std::vector<std::string>{}
                                           : example());
}

/// `key=N` of a line's options, at least 1: its word `i`.
std::optional<u32> option(const TextLine& line, std::size_t i, const std::string& key) {
  const std::string& word = line.words[i];
  if (!word.starts_with(key + "=")) return std::nullopt;
  const std::string text = word.substr(key.size() + 1);
  u32 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > (1U << 20U)) {
    fail(line, i, fmt::format("\"{}\" is no whole number from 1 to {}", word, 1U << 20U),
         fmt::format("write {}=N", key));
  }
  return value;
}

/// Of two options of one name, one would be lost.
void require_once(const TextLine& line, std::size_t i) {
  const auto name_of = [](const std::string& word) { return word.substr(0, word.find('=')); };
  const std::string name = name_of(line.words[i]);
  for (std::size_t before = 3; before < i; ++before) {
    if (name_of(line.words[before]) == name)
      fail(line, i, fmt::format("{} is there twice", name), "leave one of them out");
  }
}

/// Names are shown on terminals and stand in results; comments may hold anything.
void require_shown(const TextLine& line, std::size_t i) {
  const std::string& word = line.words[i];
  const std::optional<TextFault> fault = text_fault(word);
  if (!fault) return;
  fail(line, i, fmt::format("\"{}\" has {}", with_faults_shown(word), fault->what),
       "write it with characters that can be seen, in UTF-8");
}

class GraphFile final : public core::Topology {
 public:
  explicit GraphFile(const config::Values& values) {
    const std::vector<TextLine> lines = read_lines(values);
    for (const TextLine& line : lines) declare(line);
    if (terminals_.size() < 2) {
      values.fail(values.text("file").empty() ? "lines" : "file",
                  fmt::format("the graph has {} terminals", terminals_.size()),
                  "give it 2 or more: terminal NAME SWITCH");
    }
    for (const TextLine& line : lines) connect(line);
    build();
    check_reach();
    static_cast<void>(parts::Damage(values, graph_));
  }

  [[nodiscard]] std::string label(u32 s) const override { return names_[s]; }

 private:
  struct Edge {
    core::End from;
    core::End to;
    core::Link link;
  };

  /// First pass: names.
  void declare(const TextLine& line) {
    if (line.words.empty()) return;
    for (std::size_t i = 0; i < line.words.size(); ++i) require_shown(line, i);
    const std::string& kind = line.words[0];
    if (kind == "link") return;
    if (kind != "switch" && kind != "terminal") {
      const std::string near = nearest_name(kind, {"switch", "terminal", "link"});
      fail(line, 0, fmt::format("a line cannot begin with \"{}\"", kind),
           near.empty() ? "begin it with switch, terminal or link" : fmt::format("did you mean \"{}\"?", near));
    }
    if (line.words.size() < (kind == "switch" ? 2 : 3)) {
      fail(line, line.words.size() - 1,
           fmt::format("the {} lacks its {}", kind, line.words.size() < 2 ? "name" : "switch"),
           kind == "switch" ? "write switch NAME" : "write terminal NAME SWITCH");
    }
    if (kind == "switch" && line.words.size() > 2) {
      fail(line, 2, fmt::format("\"{}\" stands behind the switch's name", line.words[2]), "write switch NAME");
    }
    if (!ids_.emplace(line.words[1], line.place.line).second) {
      fail(line, 1, fmt::format("the name {} is used twice", line.words[1]),
           "give every switch and terminal its own name");
    }
    if (kind == "switch") {
      numbers_.emplace(line.words[1], static_cast<u32>(names_.size()));
      names_.push_back(line.words[1]);
    } else {
      terminals_.push_back(line);
    }
  }

  /// Second pass: edges.
  void connect(const TextLine& line) {
    if (line.words.empty() || line.words[0] == "switch") return;
    if (line.words[0] == "terminal") {
      const u32 s = switch_of(line, 2);
      core::Link link;
      for (std::size_t i = 3; i < line.words.size(); ++i) {
        require_once(line, i);
        if (const auto latency = option(line, i, "latency")) {
          link.latency_cycles = *latency;
        } else {
          fail(line, i, fmt::format("a terminal has no option \"{}\"", line.words[i]), "it has latency=N");
        }
      }
      const core::End end = core::End::of_terminal(next_terminal_++);
      const core::End port = core::End::of_switch(s, ports_[s]++);
      edges_.push_back({end, port, link});
      edges_.push_back({port, end, link});
      return;
    }
    if (line.words.size() < 3) fail(line, line.words.size() - 1, "the link lacks an end", "write link FROM TO");
    const u32 a = switch_of(line, 1);
    const u32 b = switch_of(line, 2);
    if (a == b)
      fail(line, 2, fmt::format("the link joins {} to itself", line.words[1]), "remove it, or name another switch");
    core::Link link;
    bool one_way = false;
    for (std::size_t i = 3; i < line.words.size(); ++i) {
      require_once(line, i);
      if (const auto latency = option(line, i, "latency")) {
        link.latency_cycles = *latency;
      } else if (const auto cycles = option(line, i, "cycles_per_flit")) {
        link.cycles_per_flit = *cycles;
      } else if (line.words[i] == "one_way") {
        one_way = true;
      } else {
        fail(line, i, fmt::format("a link has no option \"{}\"", line.words[i]),
             "it has latency=N, cycles_per_flit=N and one_way");
      }
    }
    const core::End end_a = core::End::of_switch(a, ports_[a]++);
    const core::End end_b = core::End::of_switch(b, ports_[b]++);
    edges_.push_back({end_a, end_b, link});
    if (!one_way) edges_.push_back({end_b, end_a, link});
  }

  [[nodiscard]] u32 switch_of(const TextLine& line, std::size_t word) {
    const std::string& name = line.words[word];
    ports_.resize(names_.size(), 0);
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    const std::string near = nearest_name(name, names_);
    fail(line, word, fmt::format("there is no switch {}", name),
         near.empty() ? fmt::format("declare it: switch {}", name) : fmt::format("did you mean {}?", near));
  }

  void build() {
    ports_.resize(names_.size(), 0);
    graph_ = core::Graph(static_cast<u32>(terminals_.size()));
    for (const u32 ports : ports_) graph_.add_switch(ports, ports);
    for (const Edge& edge : edges_) graph_.add_channel(edge.from, edge.to, edge.link);
  }

  /// Every terminal must be reachable from the first one, and it from every terminal.
  void check_reach() const {
    for (const bool forward : {true, false}) {
      std::vector<bool> seen(graph_.switches(), false);
      std::vector<u32> queue{graph_.channel(graph_.injection(0)).to.node};
      seen[queue[0]] = true;
      for (std::size_t i = 0; i < queue.size(); ++i) {
        for (u32 p = 0; p < graph_.outputs(queue[i]); ++p) {
          const u32 c = forward ? graph_.channel_out_of(queue[i], p) : graph_.channel_into(queue[i], p);
          if (c == kNone) continue;
          const core::End& end = forward ? graph_.channel(c).to : graph_.channel(c).from;
          if (end.terminal || seen[end.node]) continue;
          seen[end.node] = true;
          queue.push_back(end.node);
        }
      }
      for (u32 t = 0; t < graph_.terminals(); ++t) {
        if (seen[graph_.channel(graph_.injection(t)).to.node]) continue;
        const std::string& first = terminals_[0].words[1];
        const std::string& other = terminals_[t].words[1];
        fail(terminals_[t], 1,
             fmt::format("no path leads from terminal {} to terminal {}", forward ? first : other,
                         forward ? other : first),
             fmt::format("join its switch {} to the others", terminals_[t].words[2]));
      }
    }
  }

  std::vector<std::string> names_;  ///< of switches
  std::map<std::string, u32> ids_;
  std::map<std::string, u32> numbers_;  ///< of switches
  std::vector<TextLine> terminals_;
  std::vector<u32> ports_;  ///< used so far, per switch
  std::vector<Edge> edges_;
  u32 next_terminal_ = 0;
};

std::unique_ptr<core::Topology> make(const config::Values& values) { return std::make_unique<GraphFile>(values); }

}  // namespace

using config::Parameter;
extern const core::TopologyRow row_graph_file;
const core::TopologyRow row_graph_file{
    {"graph_file", "Any graph: switches, terminals and links from a file, or from lines in the experiment.",
     "File format of this program: docs/topology/graph_file.md",
     parts::with_damage({
         Parameter::text("file", "").file().doc("File of the graph, relative to the folder of the experiment."),
         Parameter::texts("lines", {})
             .doc("The same lines here, where there is no file; neither: a ring of four switches with a chord."),
     })},
    make,
    nullptr,
    {"up_down", "choice", "fixed"}};

}  // namespace banyan::topology::graph_file
