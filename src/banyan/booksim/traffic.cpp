// The traffic of a BookSim2 configuration: one traffic per class.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "banyan/base/bits.hpp"
#include "banyan/booksim/converter.hpp"

namespace banyan::booksim {
namespace {

/// Patterns that send to one destination: BookSim2's name, Banyan's.
const std::map<std::string, std::string>& permutations() {
  static const std::map<std::string, std::string> table{
      {"transpose", "transpose"}, {"bitcomp", "bit_complement"}, {"bitrev", "bit_reverse"}, {"shuffle", "shuffle"},
      {"tornado", "tornado"},     {"neighbor", "neighbour"},     {"randperm", "random"},
  };
  return table;
}

}  // namespace

void Converter::read_traffics() {
  const i64 classes = integer("classes");
  if (classes < 1 || classes > 8) {
    impossible("classes", "an experiment has 1 to 8 traffics");
    return;
  }
  for (i64 i = 0; i < classes; ++i) read_traffic(static_cast<std::size_t>(i));
  if (classes > 1) {
    differs("classes",
            "the classes of a terminal take turns in BookSim2; Banyan's traffics leave a terminal in the order of "
            "their generation");
  }
}

void Converter::read_traffic(std::size_t index) {
  Table table("traffic", reading_);
  read_pattern(table, index);
  const bool replies = number(of_class("use_read_write", index), "use_read_write") != 0.0;
  double mean = 1.0;
  if (replies) {
    read_requests(table, index, mean);
  } else {
    read_sizes(table, index, mean);
  }
  read_class_priority(table, index, replies);
  if (text("sim_type") == "batch") {
    read_batch(table, replies);
  } else {
    const bool in_flits = flag("injection_rate_uses_flits");
    const double rate = number(of_class("injection_rate", index), "injection_rate");
    table.set("load", fmt::format("{}", in_flits ? rate : rate * mean));
    read_process(table, index, in_flits ? rate / mean : rate);
  }
  traffics_.push_back(std::move(table));
}

void Converter::read_pattern(Table& table, std::size_t index) {
  const Call call = call_of(of_class("traffic", index), "traffic");
  const auto permutation = permutations().find(call.name);
  if (permutation != permutations().end()) {
    table.name = "permutation";
    table.set("pattern", fmt::format("\"{}\"", permutation->second));
    table.set("include_self", "true");
    require_address_bits(call.name);
    if (call.name == "randperm") {
      const std::string seed = call.arguments.empty() ? text("perm_seed") : call.arguments.front();
      if (seed == "time") return unmapped("perm_seed", "a seed from the clock cannot be repeated; give a number");
      table.set("permutation_seed", fmt::format("{}", number(seed, "traffic")));
      differs("traffic", "the same seed makes another permutation");
    } else if ((call.name == "tornado" || call.name == "neighbor") &&
               (!call.arguments.empty() || radix_ == 0 || text("topology") == "cmesh")) {
      unmapped("traffic",
               fmt::format("{} moves along the dimensions of Banyan's topology, not along given ones", call.name));
    }
  } else if (call.name == "uniform" || call.name == "asymmetric") {
    table.name = call.name;
    table.set("include_self", "true");
  } else if (call.name == "diagonal") {
    table.name = call.name;
  } else if (call.name == "taper64") {
    table.name = "taper";
    differs("traffic", "at the end of a row, BookSim2 goes on in the next one and Banyan around the edge");
  } else if (call.name == "bad_dragon") {
    const double k = call.arguments.empty() ? real("k") : number(call.arguments.front(), "traffic");
    table.name = "adversarial";
    table.set("group_size", fmt::format("{}", static_cast<u64>(2 * k * k)));
  } else if (call.name == "hotspot") {
    read_hot_spot(table, call);
  } else if (call.name == "background") {
    read_background(table, call);
  } else if (call.name == "badperm_yarc") {
    read_row_to_column(table, call);
  } else {
    table.name = "uniform";
    std::vector<std::string> known{"uniform",    "asymmetric", "diagonal",   "taper64",
                                   "bad_dragon", "hotspot",    "background", "badperm_yarc"};
    for (const auto& [theirs, ours] : permutations()) known.push_back(theirs);
    unmapped("traffic", fmt::format("the pattern {} has no counterpart{}", call.name, near(call.name, known)));
  }
}

/// Rows of xr x k terminals, given or those of the topology.
void Converter::read_row_to_column(Table& table, const Call& call) {
  const auto size = [&](std::size_t place, const char* key) {
    return call.arguments.size() > place ? number(call.arguments[place], "traffic") : real(key);
  };
  const double row = size(0, "k") * size(2, "xr");
  table.name = "row_to_column";
  table.set("row", fmt::format("{}", static_cast<u64>(std::max(row, 1.0))));
  table.set("include_self", "true");
  if (terminals_ == 0) return;
  const u64 of_row = static_cast<u64>(std::max(row, 1.0));
  if (terminals_ % of_row == 0 && terminals_ / of_row >= of_row) return;
  unmapped("traffic", fmt::format("BookSim2's rows of {} terminals have no columns among {} terminals: it sends beyond "
                                  "the last one, or stops",
                                  of_row, terminals_));
}

/// Patterns of address bits.
void Converter::require_address_bits(const std::string& pattern) {
  const bool halves = pattern == "transpose";
  if (!halves && pattern != "bitcomp" && pattern != "bitrev" && pattern != "shuffle") return;
  if (terminals_ == 0 || (is_power_of_two(terminals_) && (!halves || std::countr_zero(terminals_) % 2 == 0))) return;
  differs("traffic", fmt::format("BookSim2 itself stops: {} terminals are not {} power of two", terminals_,
                                 halves ? "an even" : "a"));
}

/// Uniform traffic to all terminals but some.
void Converter::read_background(Table& table, const Call& call) {
  std::set<u64> excluded;
  for (const std::string& element :
       call.arguments.empty() ? call.arguments : elements(call.arguments.front(), "traffic")) {
    const double terminal = number(element, "traffic");
    if (terminal < 0.0 || terminal != std::floor(terminal) ||
        (terminals_ != 0 && terminal >= static_cast<double>(terminals_))) {
      throw ConfigError(
          setting("traffic").where, fmt::format("there is no terminal {}", element),
          terminals_ == 0 ? "give whole numbers from 0 on" : fmt::format("use terminals from 0 to {}", terminals_ - 1));
    }
    excluded.insert(static_cast<u64>(terminal));
  }
  if (call.arguments.size() > 1) {
    no_effect("traffic", "only the first argument counts; several terminals stand in two braces: background({{1,2}})");
  }
  std::vector<u64> targets;
  for (u64 t = 0; t < terminals_; ++t) {
    if (!excluded.contains(t)) targets.push_back(t);
  }
  table.name = "hot_spot";
  table.set("fraction", "1.0");
  table.set("include_self", "true");
  if (targets.empty()) {
    unmapped("traffic", "this background leaves no terminal to send to, or their number is not known here");
    return;
  }
  table.set("targets", fmt::format("[{}]", fmt::join(targets, ", ")));
}

void Converter::read_hot_spot(Table& table, const Call& call) {
  table.name = "hot_spot";
  table.set("fraction", "1.0");
  table.set("include_self", "true");
  if (call.arguments.empty() || call.arguments.front().find('-') != std::string::npos) {
    unmapped("traffic", "BookSim2 draws this hot spot before it sets the seed; name it, as in hotspot(5)");
    return;
  }
  const std::vector<std::string> targets = elements(call.arguments.front(), "traffic");
  for (const std::string& target : targets) static_cast<void>(number(target, "traffic"));
  table.set("targets", fmt::format("[{}]", fmt::join(targets, ", ")));
  if (call.arguments.size() < 2) return;
  std::vector<std::string> rates = elements(call.arguments[1], "traffic");
  for (const std::string& rate : rates) static_cast<void>(number(rate, "traffic"));
  rates.resize(targets.size(), rates.back());
  table.set("rates", fmt::format("[{}]", fmt::join(rates, ", ")));
}

void Converter::read_sizes(Table& table, std::size_t index, double& mean) {
  const std::vector<std::string> sizes = elements(of_class("packet_size", index), "packet_size");
  if (sizes.size() == 1) {
    mean = number(sizes.front(), "packet_size");
    table.set("size", fmt::format("{}", mean), "packet_size");
    static_cast<void>(text("packet_size_rate"));
    return;
  }
  std::vector<std::string> rates = elements(of_class("packet_size_rate", index), "packet_size_rate");
  rates.resize(sizes.size(), rates.back());
  double total = 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double rate = number(rates[i], "packet_size_rate");
    if (rate < 0.0) {
      throw ConfigError(setting("packet_size_rate").where, fmt::format("the rate {} is below 0", rates[i]),
                        "give each size a rate of 0 or more");
    }
    total += rate;
    sum += rate * number(sizes[i], "packet_size");
  }
  if (total == 0.0) {
    throw ConfigError(setting("packet_size_rate").where, "no size has a rate above 0", "give one of them a rate");
  }
  mean = sum / total;
  table.set("size_distribution", "\"list\"");
  table.set("sizes", fmt::format("[{}]", fmt::join(sizes, ", ")));
  table.set("size_weights", fmt::format("[{}]", fmt::join(rates, ", ")));
}

/// Reads and writes: requests of two lengths, each with its reply.
void Converter::read_requests(Table& table, std::size_t index, double& mean) {
  const auto size = [&](const char* key) { return number(of_class(key, index), key); };
  const double writes = number(of_class("write_fraction", index), "write_fraction");
  const double read_size = size("read_request_size");
  const double write_size = size("write_request_size");
  const double read_reply = size("read_reply_size");
  const double write_reply = size("write_reply_size");
  mean = (1.0 - writes) * read_size + writes * write_size;
  if (read_size == write_size) {
    table.set("size", fmt::format("{}", read_size));
    table.set("reply_size", fmt::format("[{}]", read_reply));
    if (read_reply != write_reply) { unmapped("write_reply_size", "requests of one length get replies of one length"); }
  } else {
    table.set("size_distribution", "\"list\"");
    table.set("sizes", fmt::format("[{}, {}]", read_size, write_size));
    table.set("size_weights", fmt::format("[{}, {}]", 1.0 - writes, writes));
    table.set("reply_size", fmt::format("[{}, {}]", read_reply, write_reply));
  }
  if (flag("injection_rate_uses_flits")) {
    differs("injection_rate_uses_flits", "the rate counts the flits of requests; BookSim2 counts replies too");
  }
  differs("use_read_write",
          "a source goes on generating requests while it sends replies; replies wait outside the network");
  read_vc_ranges(table);
  for (const char* kind : {"read_request", "write_request", "read_reply", "write_reply"}) {
    for (const char* end : {"_begin_vc", "_end_vc"}) { read_.insert(std::string(kind) + end); }
  }
  read_subnetworks(table);
}

/// Requests, and replies, of both kinds take the same subnetwork.
void Converter::read_subnetworks(Table& table) {
  const auto map = [&](const std::string& what, const char* into) {
    const i64 read = integer("read_" + what + "_subnet");
    const i64 write = integer("write_" + what + "_subnet");
    if (subnets_ == 1) {
      for (const char* kind : {"read_", "write_"}) no_effect(kind + what + "_subnet", "there is one network");
      return;
    }
    for (const char* kind : {"read_", "write_"}) {
      const std::string key = kind + what + "_subnet";
      const i64 subnet = integer(key);
      if (subnet < 0 || subnet >= subnets_) impossible(key, fmt::format("the subnetworks are 0 to {}", subnets_ - 1));
    }
    if (read != write) {
      unmapped("write_" + what + "_subnet", "reads and writes are one traffic, and take one subnetwork");
    }
    table.set(into, std::to_string(read));
  };
  map("request", "subnetwork");
  map("reply", "reply_subnetwork");
}

void Converter::read_class_priority(Table& table, std::size_t index, bool replies) {
  if (text("priority") != "class") return;
  const double priority = number(of_class("class_priority", index), "class_priority");
  if (priority != std::floor(priority) || priority < 0 || priority > 255) {
    unmapped("class_priority", "priorities are whole numbers from 0 to 255");
    return;
  }
  if (priority == 0) return;
  table.set("priority", fmt::format("{}", priority));
  if (replies) table.set("reply_priority", fmt::format("{}", priority));
}

/// Reads and writes share the virtual channels of both.
void Converter::read_vc_ranges(Table& table) {
  const i64 vcs = integer("num_vcs");
  const auto map = [&](const std::string& what, const char* into) {
    const i64 read_begin = integer("read_" + what + "_begin_vc");
    const i64 read_end = integer("read_" + what + "_end_vc");
    const i64 write_begin = integer("write_" + what + "_begin_vc");
    const i64 write_end = integer("write_" + what + "_end_vc");
    const i64 begin = std::min(read_begin, write_begin);
    const i64 end = std::max(read_end, write_end);
    const std::string key = "read_" + what + "_begin_vc";
    if (begin < 0 || read_begin > read_end || write_begin > write_end || end >= vcs) {
      differs(key,
              fmt::format("there are {} virtual channels, not {}: BookSim2 stops at an assertion, here all are used",
                          vcs, end + 1));
      return;
    }
    if (read_begin != write_begin || read_end != write_end) {
      differs(key, fmt::format("reads and writes both use the virtual channels {} to {}", begin, end));
    }
    if (begin != 0 || end + 1 != vcs) table.set(into, fmt::format("[{}, {}]", begin, end));
  };
  map("request", "vc_range");
  map("reply", "reply_vc_range");
}

void Converter::read_process(Table& table, std::size_t index, double rate) {
  const Call call = call_of(of_class("injection_process", index), "injection_process");
  if (call.name == "bernoulli") return;
  if (call.name != "on_off") {
    unmapped("injection_process", fmt::format("BookSim2 has no process {}", call.name));
    return;
  }
  const auto argument = [&](std::size_t i, const char* key) {
    const std::string fallback = text(key);
    return call.arguments.size() > i ? number(call.arguments[i], "injection_process") : number(fallback, key);
  };
  double alpha = argument(0, "burst_alpha");
  double beta = argument(1, "burst_beta");
  const double in_burst = argument(2, "burst_r1");
  if ((alpha >= 0.0 && beta >= 0.0) == (in_burst >= 0.0)) {
    unmapped("injection_process", "two of burst_alpha, burst_beta and burst_r1 are needed, the third follows");
    return;
  }
  if (alpha < 0.0) alpha = beta * rate / (in_burst - rate);
  if (beta < 0.0) beta = alpha * (in_burst - rate) / rate;
  table.set("process", "\"on_off\"");
  table.set("burst", fmt::format("{}", 1.0 / beta), "injection_process");
  table.set("pause", fmt::format("{}", 1.0 / alpha), "injection_process");
}

void Converter::read_batch(Table& table, bool replies) {
  table.set("process", "\"at_once\"");
  table.set("batch", std::to_string(integer("batch_size")));
  run_.set("sessions", std::to_string(integer("batch_count") * integer("sim_count")));
  differs("sim_type",
          "all packets of a batch wait from cycle 0 on, so that packet_latency includes their wait; BookSim2 makes a "
          "packet when the one before has left");
  const i64 outstanding = integer("max_outstanding_requests");
  if (outstanding != 0 && !replies) {
    unmapped("max_outstanding_requests", "without replies, a source cannot know that its packets arrived");
  } else if (outstanding != 0) {
    table.set("outstanding", std::to_string(outstanding));
  }
}

}  // namespace banyan::booksim
