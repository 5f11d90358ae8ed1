// The network of a BookSim2 configuration: topology and routing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "banyan/api/booksim_converter.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::api::booksim {
namespace {

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

/// The routers and nodes of an "anynet" file: "router 0 node 0 node 1 5 router 1 15". Numbers behind a name are
/// latencies, of a channel to a node both ways, of a channel to a router in that direction.
class AnyNetwork {
 public:
  AnyNetwork(std::istream& stream, std::string file) : file_(std::move(file)) {
    for (std::string line; std::getline(stream, line);) {
      ++line_;
      read(line);
    }
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
  void read(const std::string& line) {
    std::istringstream stream(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    u64 router = kNowhere;
    for (std::size_t i = 0; i < words.size();) {
      const std::string& kind = words[i++];
      u64 number = 0;
      if ((kind != "router" && kind != "node") || !read_number(words, i, number) ||
          (router == kNowhere && kind == "node")) {
        throw ConfigError({file_, line_, 0, ""}, fmt::format("\"{}\" does not describe a router", line),
                          "write: router N [node N [latency]] ... [router N [latency]] ...");
      }
      u64 latency = 1;
      if (router == kNowhere) {
        router = number;
        links_[router];
      } else if (kind == "node") {
        static_cast<void>(read_number(words, i, latency));
        nodes_[number] = {router, latency};
      } else {
        static_cast<void>(read_number(words, i, latency));
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
  std::string file_;
  u32 line_ = 0;
  std::map<u64, std::map<u64, u64>> links_;
  std::map<u64, std::pair<u64, u64>> nodes_;
};

std::vector<std::string> read_any_network_lines(const std::string& file, const Where& where) {
  std::ifstream stream(file);
  if (!stream) {
    throw ConfigError(where, fmt::format("{} cannot be read", file),
                      "give the path of the network's file, relative to the folder of the configuration");
  }
  return AnyNetwork(stream, file).lines();
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
  impossible(
      "topology",
      fmt::format("BookSim2's topology {} is not mapped to one of Banyan's{}", name,
                  near(name, {"mesh", "torus", "cmesh", "fly", "fattree", "flatfly", "dragonflynew", "anynet"})));
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
  if (n != 2) impossible("n", "a concentrated mesh of BookSim2 has two dimensions");
  if (across * down != c) impossible("xr", fmt::format("xr x yr is {} and c is {}", across * down, c));
  if (given("x") && integer("x") != k) impossible("x", "BookSim2 stops when x is not k");
  if (given("y") && integer("y") != k) impossible("y", "BookSim2 stops when y is not k");
  topology_.name = "mesh";
  topology_.set("size", power_list(static_cast<u64>(k), static_cast<u64>(n)));
  topology_.set("concentration", std::to_string(c));
  if (flag("use_noc_latency")) topology_.set("latency", fmt::format("[{}, {}]", across, down));
  terminals_ = static_cast<u64>(k * k * c);
  radix_ = static_cast<u64>(k);
  differs("topology",
          "Banyan's mesh has no express channels, and terminal t sits at switch t / c, where BookSim2 numbers the "
          "terminals of the whole chip row by row");
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
  if (n == 2 && integer("x") == k) {
    set_lines(flat_lines(k, across, flag("use_noc_latency")));
    return;
  }
  topology_.name = "hyperx";
  topology_.set("size", power_list(static_cast<u64>(k), static_cast<u64>(n)));
  topology_.set("concentration", std::to_string(c));
  if (flag("use_noc_latency")) {
    unmapped("use_noc_latency",
             "latencies that grow with the distance are mapped in two dimensions, with x = k; otherwise set it to 0");
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
  if (routing_.name.empty()) {
    static const std::vector<std::string> known{
        "dim_order",      "dim_order_bal",    "dor",      "xy_yx", "valiant", "romm",    "min_adapt", "planar_adapt",
        "dor_no_express", "xy_yx_no_express", "dest_tag", "nca",   "anca",    "ran_min", "ugal",      "min"};
    const bool misspelt = std::find(known.begin(), known.end(), function) == known.end();
    if (possible_) {
      impossible("routing_function",
                 fmt::format("{} on {} is not mapped{}", function, topology, misspelt ? near(function, known) : ""));
    }
  } else if (find_info(core::routing_rows(), routing_.name) == nullptr) {
    impossible("routing_function", fmt::format("Banyan has no routing {}", routing_.name));
  }
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
  } else if (function == "valiant" && !torus) {
    routing_.name = "valiant";
  } else if (function == "romm" && !torus) {
    routing_.name = "romm";
  } else if (function == "min_adapt") {
    routing_.name = "minimal_adaptive";
    differs("routing_function", "BookSim2's escape channel leads in one direction only; Banyan's is dimension order");
  } else if (function == "planar_adapt" && !torus) {
    routing_.name = "planar_adaptive";
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
  if (topology == "cmesh" && function == "dor_no_express") {
    routing_.name = "dimension_order";
  } else if (topology == "cmesh" && function == "xy_yx_no_express") {
    routing_.name = "o1turn";
  } else if (topology == "cmesh" && (function == "dor" || function == "xy_yx")) {
    impossible("routing_function", "it uses the express channels around the edge, which Banyan's mesh does not have");
  } else if (topology == "fly" && function == "dest_tag") {
    routing_.name = "destination_tag";
  } else if (topology == "fattree" && (function == "nca" || function == "anca")) {
    routing_.name = "nearest_common_ancestor";
    routing_.set("up", function == "nca" ? "\"random\"" : "\"adaptive\"");
  } else if (topology == "flatfly" && function == "ran_min") {
    // The dimensions in ascending order; a graph of such channels has the first one's at the lowest ports.
    if (topology_.name == "hyperx") {
      routing_.name = "dimension_order";
    } else {
      routing_.name = "shortest_path";
      routing_.set("choice", "\"first\"");
      routing_.set("hop_classes", "false");
    }
  } else if (topology == "flatfly" && function == "valiant") {
    routing_.name = "valiant";
  } else if (topology == "flatfly" && function == "ugal") {
    routing_.name = "ugal";
    routing_.set("threshold", "2");
    differs("routing_function", "ugal has a class of virtual channels per hop");
  } else if (topology == "dragonflynew" && (function == "min" || function == "ugal")) {
    routing_.name = "dragonfly_routing";
    routing_.set("policy", function == "min" ? "\"minimal\"" : "\"ugal_l\"");
    routing_.set("vcs_per_class", "\"one\"");
    if (function == "ugal") {
      routing_.set("threshold", "30");
      differs("routing_function", "BookSim2 compares the minimal queue with twice the other one, plus 30");
    }
  } else if (topology == "anynet" && function == "min") {
    routing_.name = "shortest_path";
    routing_.set("choice", "\"fixed\"");
    differs("routing_function",
            "shortest_path counts channels and has a class of virtual channels per hop; BookSim2 adds latencies and "
            "lets every hop use all virtual channels");
  }
}

}  // namespace banyan::api::booksim
