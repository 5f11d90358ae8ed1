// The network of a BookSim2 configuration: topology and routing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "banyan/base/file.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/base/text_lines.hpp"
#include "banyan/booksim/converter.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::booksim {
namespace {

constexpr const char* kAskForAll =
    "a head asks for virtual channels of the channel up with most free places; in BookSim2 it asks for those of all "
    "channels up at once, and its allocator matches few of them: it saturates at two thirds of the load, or less";

std::string power_list(u64 k, u64 n) {
  std::string text = "[";
  for (u64 i = 0; i < n; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", k);
  return text + "]";
}

/// Distance of one of `across` x `across` terminals from the router in their middle, as BookSim2 lays them out.
i64 terminal_distance(i64 index, i64 across) {
  const auto offset = [&](i64 i) {
    const i64 from_middle = i - across / 2;
    return std::abs(across % 2 == 0 && from_middle >= 0 ? from_middle + 1 : from_middle);
  };
  return 1 + std::max<i64>(offset(index % across) - 1, 0) + std::max<i64>(offset(index / across) - 1, 0);
}

/// A flattened butterfly of k x k routers on a chip: terminals numbered row by row over the chip, channels as long as
/// the distance.
std::vector<std::string> flat_lines(i64 k, i64 across, bool lengths) {
  std::vector<std::string> lines;
  for (i64 s = 0; s < k * k; ++s) lines.push_back(fmt::format("switch router{}", s));
  for (i64 y = 0; y < k * across; ++y) {
    for (i64 x = 0; x < k * across; ++x) {
      const i64 latency = lengths ? terminal_distance(y % across * across + x % across, across) : 1;
      lines.push_back(
          fmt::format("terminal node{} router{} latency={}", y * k * across + x, y / across * k + x / across, latency));
    }
  }
  // The links of rows first: the lowest port that leads nearer is then the first dimension's.
  for (const bool row : {true, false}) {
    for (i64 a = 0; a < k * k; ++a) {
      for (i64 b = a + 1; b < k * k; ++b) {
        if (row ? a / k != b / k : a % k != b % k) continue;
        const i64 distance = across * (std::abs(a / k - b / k) + std::abs(a % k - b % k));
        lines.push_back(fmt::format("link router{} router{} latency={}", a, b, lengths ? distance : 1));
      }
    }
  }
  return lines;
}

/// Lines of a graph, with the port that each of them opens at a switch.
class GraphLines {
 public:
  explicit GraphLines(u64 switches) : ports_(switches, 0) {
    for (u64 s = 0; s < switches; ++s) lines_.push_back(fmt::format("switch router{}", s));
  }
  void add_terminal(u64 node, u64 at) {
    lines_.push_back(fmt::format("terminal node{} router{}", node, at));
    ++ports_[at];
  }
  /// Returns the ports at both ends.
  std::pair<u64, u64> add_link(u64 a, u64 b, i64 latency) {
    lines_.push_back(fmt::format("link router{} router{} latency={}", a, b, latency));
    return {ports_[a]++, ports_[b]++};
  }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
  std::vector<u64> ports_;  ///< opened so far, by switch
};

/// A concentrated mesh of k x k routers with 2 x 2 terminals each, numbered row by row over the chip; express channels
/// join the routers of an edge that are half an edge apart, through the ports that a torus would use there.
class ConcentratedMesh {
 public:
  ConcentratedMesh(u64 k, bool express, bool lengths) : k_(k), express_(express), graph_(k * k), port_(k * k) {
    for (u64 node = 0; node < 4 * k * k; ++node) graph_.add_terminal(node, router_of(node));
    for (u64 y = 0; y < k; ++y) {
      for (u64 x = 0; x < k; ++x) {
        if (x + 1 < k) join(at(x, y), kRight, at(x + 1, y), kLeft, lengths ? 2 : 1);
        if (y + 1 < k) join(at(x, y), kUp, at(x, y + 1), kDown, lengths ? 2 : 1);
      }
    }
    const u64 half = k / 2;
    const i64 length = lengths ? static_cast<i64>(k) : 1;
    for (u64 i = 0; express && i < half; ++i) {
      join(at(0, i), kLeft, at(0, i + half), kLeft, length);
      join(at(k - 1, i), kRight, at(k - 1, i + half), kRight, length);
      join(at(i, 0), kDown, at(i + half, 0), kDown, length);
      join(at(i, k - 1), kUp, at(i + half, k - 1), kUp, length);
    }
  }

  [[nodiscard]] const std::vector<std::string>& lines() const { return graph_.lines(); }
  /// Lines of a routing table: first along x, then along y; along an edge over an express channel where the way is at
  /// least as long as that.
  [[nodiscard]] std::vector<std::string> table() const {
    std::vector<std::string> lines;
    for (u64 from = 0; from < k_ * k_; ++from) {
      for (u64 node = 0; node < 4 * k_ * k_; ++node) {
        const u64 to = router_of(node);
        if (from != to) lines.push_back(fmt::format("{} {} {}", from, node, port_[from][direction(from, to)]));
      }
    }
    return lines;
  }

 private:
  enum Direction : u64 { kRight, kLeft, kUp, kDown };

  [[nodiscard]] u64 at(u64 x, u64 y) const { return y * k_ + x; }
  [[nodiscard]] u64 router_of(u64 node) const { return at(node % (2 * k_) / 2, node / (2 * k_) / 2); }
  void join(u64 a, u64 port_a, u64 b, u64 port_b, i64 latency) {
    std::tie(port_[a][port_a], port_[b][port_b]) = graph_.add_link(a, b, latency);
  }
  [[nodiscard]] u64 direction(u64 from, u64 to) const {
    const u64 x = from % k_;
    const u64 y = from / k_;
    const auto distance = [](u64 a, u64 b) { return a < b ? b - a : a - b; };
    const auto far = [&](u64 a, u64 b) { return express_ && distance(a, b) >= k_ / 2; };
    if (x != to % k_) {
      if (far(x, to % k_) && y == 0) return kDown;
      if (far(x, to % k_) && y == k_ - 1) return kUp;
      return x < to % k_ ? kRight : kLeft;
    }
    if (far(y, to / k_) && x == 0) return kLeft;
    if (far(y, to / k_) && x == k_ - 1) return kRight;
    return y < to / k_ ? kUp : kDown;
  }

  u64 k_;
  bool express_;
  GraphLines graph_;
  std::vector<std::array<u64, 4>> port_;  ///< [router][direction]
};

/// A tree of three levels over 64 terminals, four to a leaf, with `uplinks` parents of each leaf: 1 (a tree) or 2, and
/// then four roots that all the eight switches between are joined to.
std::vector<std::string> tree_lines(u64 uplinks) {
  const u64 middle = 4 * uplinks;
  const u64 roots = uplinks == 1 ? 1 : 4;
  GraphLines graph(roots + middle + 16);
  const auto leaf = [&](u64 i) { return roots + middle + i; };
  for (u64 node = 0; node < 64; ++node) graph.add_terminal(node, leaf(node / 4));
  for (u64 m = 0; m < middle; ++m) {
    for (u64 i = 0; i < 4; ++i) graph.add_link(roots + m, leaf(m / uplinks * 4 + i), 1);
  }
  for (u64 root = 0; root < roots; ++root) {
    for (u64 m = 0; m < middle; ++m) graph.add_link(root, roots + m, 1);
  }
  return graph.lines();
}

/// The routers and nodes of an "anynet" file: "router 0 node 0 node 1 5 router 1 15". Numbers behind a name are
/// latencies, of a channel to a node both ways, of a channel to a router in that direction.
class AnyNetwork {
 public:
  AnyNetwork(std::string_view text, const std::string& file) {
    for_each_line(text, [&](u32 number, std::string_view line) { read({{file, number, 1, ""}, line}); });
  }

  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const auto& [router, others] : links_) lines.push_back(fmt::format("switch router{}", router));
    for (const auto& [node, home] : nodes_) {
      lines.push_back(fmt::format("terminal node{} router{} latency={}", node, home.first, home.second));
    }
    for (const auto& [from, others] : links_) {
      for (const auto& [to, latency] : others) {
        lines.push_back(fmt::format("link router{} router{} latency={} one_way", from, to, latency));
      }
    }
    return lines;
  }

 private:
  void read(const TextLine& line) {
    u64 router = kNowhere;
    for (std::size_t i = 0; i < line.words.size();) {
      const std::size_t at = i;
      const std::string& kind = line.words[i++];
      u64 number = 0;
      if ((kind != "router" && kind != "node") || !read_number(line.words, i, number) ||
          (router == kNowhere && kind == "node")) {
        throw ConfigError(line.where(at), fmt::format("\"{}\" describes no router", with_faults_shown(kind)),
                          "write: router N [node N [latency]] ... [router N [latency]] ...");
      }
      u64 latency = 1;
      if (router == kNowhere) {
        router = number;
        links_[router];
      } else if (kind == "node") {
        static_cast<void>(read_number(line.words, i, latency));
        nodes_[number] = {router, latency};
      } else {
        static_cast<void>(read_number(line.words, i, latency));
        links_[router][number] = latency;
        links_[number].try_emplace(router, 1);
      }
    }
  }

  /// Takes the word at i when it is a number.
  static bool read_number(const std::vector<std::string>& words, std::size_t& i, u64& number) {
    if (i >= words.size()) return false;
    const char* end = words[i].data() + words[i].size();
    const auto read = std::from_chars(words[i].data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end) return false;
    ++i;
    return true;
  }

  static constexpr u64 kNowhere = ~u64{0};
  std::map<u64, std::map<u64, u64>> links_;
  std::map<u64, std::pair<u64, u64>> nodes_;
};

std::vector<std::string> read_any_network_lines(const std::string& file, const Where& where) {
  std::string why;
  const std::optional<std::string> text = read_text_file(file, &why);
  if (!text) {
    throw ConfigError(where, fmt::format("{} cannot be read: {}", file, why),
                      "give the path of the network's file, relative to the folder of the configuration");
  }
  return AnyNetwork(*text, file).lines();
}

}  // namespace

void Converter::read_topology() {
  read_one_network();
  subnets_ = integer("subnets");
  if (subnets_ < 1 || subnets_ > 64) return impossible("subnets", "there are 1 to 64 subnetworks");
  if (subnets_ == 1) return;
  topology_.set("subnetworks", std::to_string(subnets_));
  differs("subnets",
          "a terminal has a source queue per subnetwork; BookSim2 has one per class, whose first packet holds up those "
          "for other subnetworks");
}

void Converter::read_one_network() {
  const std::string name = text("topology");
  if (name == "mesh" || name == "torus") return read_grid(name == "torus");
  if (name == "cmesh") return read_concentrated_mesh();
  if (name == "fly") return read_fly();
  if (name == "fattree") return read_fat_tree();
  if (name == "flatfly") return read_flattened_butterfly();
  if (name == "dragonflynew") return read_dragonfly();
  if (name == "anynet") return read_any_network();
  if (name == "qtree") return read_tree(1);
  if (name == "tree4") return read_tree(2);
  impossible("topology", fmt::format("BookSim2's topology {} is not mapped to one of Banyan's{}", name,
                                     near(name, {"mesh", "torus", "cmesh", "fly", "fattree", "flatfly", "dragonflynew",
                                                 "anynet", "qtree", "tree4"})));
}

void Converter::read_grid(bool torus) {
  const i64 n = integer("n");
  const i64 k = integer("k");
  topology_.name = torus ? "torus" : "mesh";
  topology_.set("size", power_list(static_cast<u64>(k), static_cast<u64>(n)));
  // A folded torus has channels of twice the length.
  if (flag("use_noc_latency") && torus) topology_.set("latency", "2");
  terminals_ = static_cast<u64>(std::llround(std::pow(k, n)));
  radix_ = static_cast<u64>(k);
}

void Converter::read_concentrated_mesh() {
  const i64 k = integer("k");
  const i64 n = integer("n");
  const i64 c = integer("c");
  const i64 across = integer("xr");
  const i64 down = integer("yr");
  const std::string function = text("routing_function");
  if (n != 2) return impossible("n", "a concentrated mesh of BookSim2 has two dimensions");
  if (across != 2 || down != 2 || c != 4) {
    return impossible("c", "BookSim2 stops unless c is 4, and xr and yr are 2: its concentrated mesh knows no other");
  }
  if (integer("x") != integer("y")) return impossible("x", "BookSim2 stops when x is not y");
  if (k < 2 || k > 32) return impossible("k", "2 to 32 routers per side are mapped");
  terminals_ = static_cast<u64>(k * k * c);
  const bool express = function == "dor";
  if (express || function == "dor_no_express") {
    if (express && k % 2 != 0) {
      return impossible("k", "express channels of BookSim2 join the halves of an edge, and an odd edge has none");
    }
    const ConcentratedMesh mesh(static_cast<u64>(k), express, flag("use_noc_latency"));
    set_lines(mesh.lines());
    routing_.name = "table";
    routing_.set("lines", fmt::format("[\"{}\"]", fmt::join(mesh.table(), "\", \"")), "routing_function");
    return;
  }
  topology_.name = "mesh";
  topology_.set("size", power_list(static_cast<u64>(k), static_cast<u64>(n)));
  topology_.set("concentration", std::to_string(c));
  if (flag("use_noc_latency")) topology_.set("latency", fmt::format("[{}, {}]", across, down));
  differs("topology", "terminal t sits at switch t / c, where BookSim2 numbers the terminals of the chip row by row");
}

/// BookSim2's trees of 64 terminals: qtree, and tree4 with two parents of a leaf.
void Converter::read_tree(u64 uplinks) {
  if (integer("k") != 4 || integer("n") != 3) {
    return impossible(integer("k") != 4 ? "k" : "n", "BookSim2 stops unless k is 4 and n is 3");
  }
  terminals_ = 64;
  set_lines(tree_lines(uplinks));
}

void Converter::read_fly() {
  const i64 k = integer("k");
  const i64 n = integer("n");
  terminals_ = static_cast<u64>(std::llround(std::pow(k, n)));
  topology_.name = "multistage_cube";
  topology_.set("terminals", std::to_string(terminals_));
  topology_.set("radix", std::to_string(k));
  topology_.set("wiring", "\"butterfly\"");
}

void Converter::read_fat_tree() {
  terminals_ = static_cast<u64>(std::llround(std::pow(integer("k"), integer("n"))));
  topology_.name = "fat_tree";
  topology_.set("arity", std::to_string(integer("k")));
  topology_.set("levels", std::to_string(integer("n")));
}

void Converter::read_flattened_butterfly() {
  const i64 k = integer("k");
  const i64 n = integer("n");
  const i64 c = integer("c");
  const i64 across = integer("xr");
  const i64 down = integer("yr");
  if (integer("x") != integer("y") || across != down || across * down != c) {
    impossible("xr", "BookSim2 stops unless x is y, xr is yr, and c is xr x yr");
    return;
  }
  terminals_ = static_cast<u64>(std::llround(std::pow(k, n))) * static_cast<u64>(c);
  // Two orders of the dimensions need coordinates, which a graph has not.
  const std::string function = text("routing_function");
  const bool orders = function == "xyyx" || function == "adaptive_xyyx";
  if (n == 2 && integer("x") == k && !orders) {
    set_lines(flat_lines(k, across, flag("use_noc_latency")));
    return;
  }
  topology_.name = "hyperx";
  topology_.set("size", power_list(static_cast<u64>(k), static_cast<u64>(n)));
  topology_.set("concentration", std::to_string(c));
  if (flag("use_noc_latency")) {
    unmapped("use_noc_latency",
             "latencies that grow with the distance are mapped in two dimensions, with x = k and one order of the "
             "dimensions; otherwise set it to 0");
  }
  differs("topology",
          "terminal t sits at switch t / c, where BookSim2 numbers the terminals of the whole chip row by row");
}

void Converter::set_lines(const std::vector<std::string>& lines) {
  topology_.name = "graph_file";
  topology_.set("lines", fmt::format("[\"{}\"]", fmt::join(lines, "\", \"")));
}

void Converter::read_dragonfly() {
  const i64 p = integer("k");
  if (integer("n") != 1) impossible("n", "BookSim2 stops when n is not 1: groups have one dimension");
  terminals_ = static_cast<u64>(2 * p * p * (2 * p * p + 1));
  topology_.name = "dragonfly";
  topology_.set("terminals_per_router", std::to_string(p));
  topology_.set("routers_per_group", std::to_string(2 * p));
  topology_.set("global_ports", std::to_string(p));
  topology_.set("local_latency", "10");
  topology_.set("global_latency", "100");
}

void Converter::read_any_network() {
  const std::string file = text("network_file");
  if (file.empty()) {
    impossible("network_file", "the topology anynet needs the file of its routers and nodes");
    return;
  }
  const std::filesystem::path beside = std::filesystem::path(setting("network_file").where.file).parent_path();
  set_lines(read_any_network_lines((beside / file).string(), setting("network_file").where));
}

void Converter::read_routing() {
  const std::string function = text("routing_function");
  const std::string topology = text("topology");
  if (!possible_ && topology_.name.empty()) return;
  if (topology == "mesh" || topology == "torus") {
    read_grid_routing(function, topology == "torus");
  } else {
    read_other_routing(topology, function);
  }
  announce_odd_halves(function, topology);
  if (routing_.name.empty()) {
    static const std::vector<std::string> known{
        "dim_order",      "dim_order_bal",    "dor",      "xy_yx", "valiant", "romm",    "min_adapt", "planar_adapt",
        "dor_no_express", "xy_yx_no_express", "dest_tag", "nca",   "anca",    "ran_min", "ugal",      "min",
        "adaptive_xy_yx"};
    const bool misspelt = std::find(known.begin(), known.end(), function) == known.end();
    if (possible_) {
      impossible("routing_function",
                 fmt::format("{} on {} is not mapped{}", function, topology, misspelt ? near(function, known) : ""));
    }
  } else if (find_info(core::routing_rows(), routing_.name) == nullptr) {
    impossible("routing_function", fmt::format("Banyan has no routing {}", routing_.name));
  }
}

/// Routing functions that halve the virtual channels, between two phases, orders or sides of a dateline.
void Converter::announce_odd_halves(const std::string& function, const std::string& topology) {
  static const std::set<std::pair<std::string, std::string>> halving{
      {"torus", "dim_order"}, {"torus", "dim_order_bal"},    {"mesh", "xy_yx"},
      {"mesh", "valiant"},    {"mesh", "adaptive_xy_yx"},    {"mesh", "romm"},
      {"flatfly", "valiant"}, {"cmesh", "xy_yx_no_express"}, {"flatfly", "ugal"},
      {"flatfly", "xyyx"},    {"flatfly", "adaptive_xyyx"}};
  if (routing_.name.empty() || !halving.contains({topology, function}) || integer("num_vcs") % 2 == 0) return;
  differs("num_vcs",
          "an odd number: in BookSim2 both classes of virtual channels that this routing function needs use the middle "
          "one, so that packets can wait for each other in a circle; here it belongs to one class");
}

/// Ways without classes of virtual channels: trees, and dimensions in one order, have no cycles.
void Converter::set_shortest_path(const char* choice) {
  routing_.name = "shortest_path";
  routing_.set("choice", fmt::format("\"{}\"", choice), "routing_function");
  routing_.set("hop_classes", "false", "routing_function");
}

void Converter::read_grid_routing(const std::string& function, bool torus) {
  if (torus && (function == "dim_order" || function == "dim_order_bal")) routing_.set("ties", "\"random\"");
  if (function == "dim_order" || (function == "dor" && !torus)) {
    routing_.name = "dimension_order";
    if (torus) routing_.set("classes", "\"fixed\"");
  } else if (function == "dim_order_bal" && torus) {
    routing_.name = "dimension_order";
    routing_.set("classes", "\"balanced\"");
  } else if (function == "xy_yx" && !torus) {
    routing_.name = "o1turn";
  } else if (function == "adaptive_xy_yx" && !torus) {
    routing_.name = "o1turn";
    routing_.set("choice", "\"adaptive\"");
  } else if (function == "valiant" && !torus) {
    routing_.name = "valiant";
    routing_.set("early_exit", "\"never\"");  // packets to their own terminal take the detour, too
  } else if (function == "romm" && !torus) {
    routing_.name = "romm";
  } else if (function == "min_adapt") {
    routing_.name = "minimal_adaptive";
    differs("routing_function", "BookSim2's escape channel leads in one direction only; Banyan's is dimension order");
  } else if (function == "planar_adapt" && !torus) {
    routing_.name = "planar_adaptive";
    differs("routing_function",
            "a head asks for virtual channels of the direction with most free places; in BookSim2 it asks for those of "
            "both directions at once: latencies near saturation differ by some ten percent, and permutations may "
            "saturate there at two thirds of the load");
  } else if (function == "valiant" || function == "valiant_ni" || function == "chaos") {
    impossible("routing_function", fmt::format("{} does not run on this topology in BookSim2 either", function));
  } else if (function.find("ni") != std::string::npos) {
    impossible("routing_function",
               "it reserves virtual channels by destination, which needs more than Banyan's routing has");
  } else if (function == "none") {
    impossible("routing_function", "BookSim2's default routing function does not exist: a fragment of a configuration");
  }
}

void Converter::read_other_routing(const std::string& topology, const std::string& function) {
  if (!routing_.name.empty()) return;  // chosen with the topology
  if (topology == "cmesh" && function == "xy_yx_no_express") {
    routing_.name = "o1turn";
  } else if (topology == "cmesh" && function == "xy_yx") {
    impossible("routing_function",
               "its random choice between two tables with express channels is not mapped; dor, dor_no_express and "
               "xy_yx_no_express are");
  } else if (topology == "fly" && function == "dest_tag") {
    routing_.name = "destination_tag";
  } else if (topology == "fattree" && (function == "nca" || function == "anca")) {
    routing_.name = "nearest_common_ancestor";
    routing_.set("up", function == "nca" ? "\"random\"" : "\"two_choices\"");
  } else if (topology == "qtree" && function == "nca") {
    set_shortest_path("first");
  } else if (topology == "tree4" && (function == "nca" || function == "anca")) {
    set_shortest_path(function == "nca" ? "random" : "adaptive");
    if (function == "anca") differs("routing_function", kAskForAll);
  } else if (topology == "flatfly" && function == "ran_min") {
    // The dimensions in ascending order; a graph of such channels has the first one's at the lowest ports.
    if (topology_.name == "hyperx") {
      routing_.name = "dimension_order";
    } else {
      set_shortest_path("first");
    }
  } else if (topology == "flatfly" && function == "valiant") {
    routing_.name = "valiant";
    routing_.set("early_exit", "\"anywhere\"");
    routing_.set("hop_classes", "false");
  } else if (topology == "flatfly" && (function == "xyyx" || function == "adaptive_xyyx")) {
    routing_.name = "o1turn";
    if (function == "adaptive_xyyx") routing_.set("choice", "\"adaptive\"");
  } else if (topology == "flatfly" && function == "ugal") {
    routing_.name = "ugal";
    routing_.set("threshold", "2");
    routing_.set("detours", "\"near\"");
    routing_.set("hop_classes", "false");
    if (integer("n") > 2) {
      differs(
          "routing_function",
          "detours lead over routers no farther from either end than the ends are from each other; in BookSim2 over "
          "those that keep the coordinates in which the ends agree");
    }
  } else if (topology == "dragonflynew" && (function == "min" || function == "ugal")) {
    routing_.name = "dragonfly_routing";
    routing_.set("policy", function == "min" ? "\"minimal\"" : "\"ugal_l\"");
    routing_.set("vcs_per_class", "\"one\"");
    if (function == "ugal") {
      routing_.set("threshold", "30");
      routing_.set("detour_weight", "2");
      routing_.set("detour_over", "\"router\"");
      differs("routing_function",
              "as in BookSim2, detours over a random router use virtual channel 0 on both sides of their first global "
              "channel, which can deadlock; detour_over = \"group\" cannot");
    }
  } else if (topology == "anynet" && function == "min") {
    routing_.name = "shortest_path";
    routing_.set("choice", "\"fixed\"");
    differs("routing_function",
            "shortest_path counts channels and has a class of virtual channels per hop; BookSim2 adds latencies and "
            "lets every hop use all virtual channels");
  }
}

}  // namespace banyan::booksim
