// One line each, words separated by blanks, # begins a comment:
//
//   Nodes 16
//   Connections 2
//   Triggers 1
//   0->13 id 1 start 0 size 2000000 send_done_trigger 1      start in picoseconds, size in bytes
//   13->4 id 2 trigger 1 size 2000000                        starts when the trigger says
//   trigger id 1 oneshot                                     or multishot, or barrier count 4
//
// A connection pulls its trigger when its last byte has arrived, for send_done_trigger as well as for
// recv_done_trigger. The rank that the trigger's first connection starts from listens to it; who pulls it elsewhere
// tells that rank by a message of no bytes, which for send_done_trigger is the acknowledgment; and so does that rank
// tell others that start connections.
#include "banyan/workload/connections.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/workload/compressed.hpp"
#include "banyan/workload/formats.hpp"
#include "banyan/workload/remedy.hpp"

namespace banyan::workload {
namespace connections {
namespace {

constexpr u8 kClockCore = 1;  ///< core 0 sends and receives
constexpr u64 kMostNodes = u64{1} << 26U;
constexpr u64 kMostBytes = u64{1} << 48U;

enum class Kind : u8 { unknown, oneshot, multishot, barrier };

struct Trigger {
  Kind kind = Kind::unknown;
  u64 count = 0;               ///< of a barrier
  u32 line = 0;                ///< where it is told, or first named
  std::vector<u32> pulled_by;  ///< connections
  std::vector<u32> starts;     ///< connections
};

struct Connection {
  u32 from = 0;
  u32 to = 0;
  u64 bytes = 0;
  u64 start = 0;  ///< ns
  bool triggered = false;
  u32 send = 0;     ///< operations
  u32 receive = 0;  ///< of the same rank as the send where it is one to itself
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), text_(read_uncompressed(path)) {
    if (text_.starts_with(kByteOrderMark)) text_.erase(0, kByteOrderMark.size());
  }

  ScheduleBuilder read() {
    while (next_line()) read_line();
    column_ = 1;
    if (!nodes_) refuse("the file ends without its number of nodes", "begin it with Nodes and a number");
    check_ids();
    compare("Connections", connections_.size(), announced_connections_);
    compare("Triggers", told_triggers_, announced_triggers_);
    return build();
  }

 private:
  // --- lines and words ---

  [[noreturn]] void refuse(const std::string& cause, const std::string& remedy) const {
    throw ConfigError({path_, line_, column_, ""}, cause, remedy);
  }

  bool next_line() {
    if (end_ >= text_.size()) return false;
    begin_ = end_;
    const std::size_t newline = text_.find('\n', begin_);
    line_end_ = newline == std::string::npos ? text_.size() : newline;
    end_ = newline == std::string::npos ? text_.size() : newline + 1;
    at_ = begin_;
    ++line_;
    return true;
  }

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  /// The next word of the line; empty at its end.
  std::string_view word() {
    while (at_ < line_end_ && is_blank(text_[at_])) ++at_;
    const std::size_t from = at_;
    if (at_ < line_end_ && text_[at_] == '#') at_ = line_end_;  // a comment
    while (at_ < line_end_ && !is_blank(text_[at_])) ++at_;
    column_ = static_cast<u32>(from - begin_ + 1);
    return text_[from] == '#' ? std::string_view() : std::string_view(text_).substr(from, at_ - from);
  }

  static std::string shown(std::string_view word) { return with_faults_shown(std::string(word.substr(0, 60))); }

  u64 number(std::string_view what, u64 most) {
    const std::string_view text = word();
    u64 value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || value > most) {
      refuse(
          text.empty() ? fmt::format("the line ends without {}", what) : fmt::format("{} is \"{}\"", what, shown(text)),
          fmt::format("give a whole number up to {}", most));
    }
    return value;
  }

  /// Picoseconds, which may have a fraction, as nanoseconds.
  u64 start() {
    const std::string_view text = word();
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > 1e18) {
      refuse(text.empty() ? "the line ends without the start" : fmt::format("the start is \"{}\"", shown(text)),
             "give a number of picoseconds up to 10^18");
    }
    return static_cast<u64>(std::llround(value / 1000));
  }

  void compare(const char* what, u64 found, const std::optional<u64>& announced) const {
    if (announced && *announced != found) {
      refuse(fmt::format("{} {} are announced, and {} are there", *announced, what, found),
             found < *announced ? "give the whole file" : fmt::format("write {} {}", what, found));
    }
  }

  /// Of two values of one name, one would be lost.
  void require_once(std::string_view key, std::vector<std::string_view>& told) const {
    if (std::ranges::count(told, key) != 0)
      refuse(fmt::format("{} is there twice", shown(key)), "leave one of them out");
    told.push_back(key);
  }

  // --- what the lines say ---

  void read_line() {
    const std::string_view first = word();
    if (first.empty()) return;
    if (first == "Nodes") {
      if (nodes_) refuse("Nodes is there twice", "leave one of them out");
      nodes_ = static_cast<u32>(number("the number of nodes", kMostNodes));
      if (*nodes_ == 0) refuse("a matrix of no nodes", "give 1 node or more");
    } else if (first == "Connections") {
      if (announced_connections_) refuse("Connections is there twice", "leave one of them out");
      announced_connections_ = number("the number of connections", ~u64{0});
    } else if (first == "Triggers") {
      if (announced_triggers_) refuse("Triggers is there twice", "leave one of them out");
      announced_triggers_ = number("the number of triggers", ~u64{0});
    } else if (first == "Failures") {
      if (number("the number of failures", ~u64{0}) != 0) {
        refuse("failures of links belong to the network",
               "leave them out here, and take the links out of the topology");
      }
    } else if (first == "trigger") {
      read_trigger();
    } else if (first.find("->") != std::string_view::npos) {
      read_connection(first);
    } else {
      refuse(fmt::format("a line begins with \"{}\"", shown(first)),
             remedy_for(first, {"Nodes", "Connections", "Triggers", "Failures", "trigger"},
                        "begin it with Nodes, Connections, Triggers, FROM->TO, trigger or #"));
    }
    if (const std::string_view more = word(); !more.empty())
      refuse(fmt::format("\"{}\" stands behind the end of the line", shown(more)), "begin a new line");
  }

  void check_ids() {
    if (ids_ascend_) return;
    std::sort(ids_.begin(), ids_.end());
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    const auto first = std::adjacent_find(ids_.begin(), ids_.end(), same);
    if (first == ids_.end()) return;
    line_ = (first + 1)->second;
    column_ = 1;
    refuse(fmt::format("the id {} is that of the connection in line {} too", first->first, first->second),
           "give each connection an id of its own");
  }

  u32 node(std::string_view text) const {
    u32 value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size()) {
      refuse(fmt::format("\"{}\" is no node", shown(text)), "write the connection as FROM->TO");
    }
    if (!nodes_) refuse("a connection before the number of nodes", "begin the file with Nodes and a number");
    if (value >= *nodes_)
      refuse(fmt::format("node {} is none of the {}", value, *nodes_), fmt::format("use nodes below {}", *nodes_));
    return value;
  }

  Trigger& trigger(u64 id) {
    if (id == 0) refuse("a trigger with the number 0", "number triggers from 1");
    const auto [found, added] = trigger_index_.try_emplace(id, static_cast<u32>(triggers_.size()));
    if (added) {
      triggers_.emplace_back();
      triggers_.back().line = line_;
    }
    return triggers_[found->second];
  }

  void read_connection(std::string_view ends) {
    Connection connection;
    const std::size_t arrow = ends.find("->");
    connection.from = node(ends.substr(0, arrow));
    connection.to = node(ends.substr(arrow + 2));
    const u32 index = static_cast<u32>(connections_.size());
    if (index >= (1U << 30U)) refuse("the file has more than 2^30 connections", "split it");
    bool started = false;
    bool sized = false;
    std::vector<std::string_view> told;
    for (std::string_view key = word(); !key.empty(); key = word()) {
      const u32 key_column = column_;
      require_once(key, told);
      if (key == "start") {
        connection.start = start();
        started = true;
      } else if (key == "size") {
        connection.bytes = number("the size", kMostBytes);
        sized = true;
      } else if (key == "id") {
        const u64 id = number("the id", ~u64{0});
        if (id == 0) refuse("a connection with the id 0", "number connections from 1");
        ids_ascend_ = ids_ascend_ && (ids_.empty() || id > ids_.back().first);
        ids_.emplace_back(id, line_);
      } else if (key == "trigger") {
        trigger(number("the trigger", ~u64{0})).starts.push_back(index);
        connection.triggered = true;
      } else if (key == "send_done_trigger" || key == "recv_done_trigger") {
        trigger(number("the trigger", ~u64{0})).pulled_by.push_back(index);
      } else if (key == "prio") {
        number("the priority", ~u64{0});  // of queues that only some of htsim's switches have
      } else {
        column_ = key_column;
        refuse(fmt::format("a connection has no \"{}\"", shown(key)),
               remedy_for(key, {"id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio"},
                          "use id, start, size, trigger, send_done_trigger, recv_done_trigger and prio"));
      }
    }
    if (!sized) refuse("a connection without a size", "give its size in bytes");
    if (started == connection.triggered) {
      refuse(started ? "a connection with a start and a trigger" : "a connection without a start",
             "give start (in picoseconds) or trigger");
    }
    connections_.push_back(connection);
  }

  void read_trigger() {
    u64 id = 0;
    u64 count = 0;
    Kind kind = Kind::unknown;
    std::vector<std::string_view> keys;
    for (std::string_view key = word(); !key.empty(); key = word()) {
      require_once(key, keys);
      const Kind said = key == "oneshot"     ? Kind::oneshot
                        : key == "multishot" ? Kind::multishot
                        : key == "barrier"   ? Kind::barrier
                                             : Kind::unknown;
      if (key == "id") {
        id = number("the id", ~u64{0});
      } else if (key == "count") {
        count = number("the count", ~u64{0});
      } else if (said == Kind::unknown) {
        refuse(fmt::format("a trigger has no \"{}\"", shown(key)),
               remedy_for(key, {"id", "count", "oneshot", "multishot", "barrier"},
                          "use id, count, and oneshot, multishot or barrier"));
      } else {
        if (kind != Kind::unknown) refuse("a trigger of two kinds", "say oneshot, multishot or barrier, one of them");
        kind = said;
      }
    }
    if (kind == Kind::unknown) refuse("a trigger of no kind", "say oneshot, multishot or barrier");
    Trigger& told = trigger(id);
    if (told.kind != Kind::unknown) refuse(fmt::format("trigger {} is told twice", id), "remove one of the lines");
    told.kind = kind;
    told.count = count;
    told.line = line_;
    ++told_triggers_;
  }

  // --- the schedule ---

  ScheduleBuilder build() {
    ScheduleBuilder builder(*nodes_);
    std::vector<std::array<u32, 2>> of_node(*nodes_);  // what it sends, and receives
    for (const Connection& c : connections_) {
      ++of_node[c.from][0];
      ++of_node[c.to][1];
    }
    // A start is a calculation and two dependencies.
    for (u32 n = 0; n < *nodes_; ++n) builder.reserve(n, 2 * of_node[n][0] + of_node[n][1], 2 * of_node[n][0]);
    for (u32 i = 0; i < connections_.size(); ++i) {
      Connection& connection = connections_[i];
      connection.send = builder.send(connection.from, connection.bytes, connection.to, i);
      connection.receive = builder.receive(connection.to, connection.bytes, connection.from, i);
    }
    add_starts(builder);
    next_tag_ = static_cast<u32>(connections_.size());
    for (const auto& [id, index] : sorted_triggers()) add_trigger(builder, id, triggers_[index]);
    return builder;
  }

  /// The clock of a rank is a core that computes from one start to the next.
  void add_starts(ScheduleBuilder& builder) const {
    std::vector<u32> late;
    for (u32 i = 0; i < connections_.size(); ++i) {
      if (!connections_[i].triggered && connections_[i].start > 0) late.push_back(i);
    }
    std::stable_sort(late.begin(), late.end(),
                     [this](u32 a, u32 b) { return connections_[a].start < connections_[b].start; });
    std::vector<std::pair<u64, u32>> clocks(*nodes_, {0, kNone});
    for (const u32 i : late) {
      const Connection& connection = connections_[i];
      std::pair<u64, u32>& clock = clocks[connection.from];
      if (connection.start > clock.first) {
        const u32 next = builder.calculate(connection.from, connection.start - clock.first, kClockCore);
        if (clock.second != kNone) builder.after_end(connection.from, next, clock.second);
        clock = {connection.start, next};
      }
      builder.after_end(connection.from, connection.send, clock.second);
    }
  }

  std::vector<std::pair<u64, u32>> sorted_triggers() const {
    std::vector<std::pair<u64, u32>> sorted(trigger_index_.begin(), trigger_index_.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

  void check(u64 id, const Trigger& trigger) {
    line_ = trigger.line;
    column_ = 1;
    if (trigger.kind == Kind::unknown) {
      refuse(fmt::format("trigger {} is named, and nothing tells its kind", id),
             fmt::format("add: trigger id {} oneshot", id));
    }
    const u64 pulled = trigger.pulled_by.size();
    if (trigger.kind == Kind::oneshot && pulled > 1) {
      refuse(fmt::format("trigger {} is oneshot, and is pulled {} times", id, pulled),
             "make it a barrier or multishot");
    }
    if (trigger.kind == Kind::barrier && pulled != trigger.count) {
      refuse(fmt::format("barrier {} counts to {}, and is pulled {} times", id, trigger.count, pulled),
             fmt::format("set its count to {}", pulled));
    }
    const u64 needed =
        trigger.kind == Kind::multishot ? trigger.starts.size() : std::min<u64>(1, trigger.starts.size());
    if (pulled < needed) {
      refuse(fmt::format("trigger {} starts {} connections, and is pulled {} times", id, trigger.starts.size(), pulled),
             "let a connection pull it with send_done_trigger or recv_done_trigger");
    }
  }

  /// A message of no bytes that leaves after `after`; the operation that receives it.
  u32 notice(ScheduleBuilder& builder, u32 from, u32 after, u32 to, u32 tag) const {
    builder.after_end(from, builder.send(from, 0, to, tag), after);
    return builder.receive(to, 0, from, tag);
  }

  void add_trigger(ScheduleBuilder& builder, u64 id, const Trigger& trigger) {
    check(id, trigger);
    if (trigger.starts.empty()) return;
    const u32 hub = connections_[trigger.starts[0]].from;
    const std::vector<u32> pulls = add_pulls(builder, trigger, hub);
    for (std::size_t k = 0; k < trigger.starts.size(); ++k) {
      const Connection& started = connections_[trigger.starts[k]];
      u32 after = trigger.kind == Kind::multishot ? pulls[k] : pulls[0];
      if (started.from != hub) after = notice(builder, hub, after, started.from, next_tag_++);
      builder.after_end(started.from, started.send, after);
    }
  }

  /// What happens at the hub when the trigger is pulled: once for all of a barrier; else one by one, in the order in
  /// which that is heard of.
  std::vector<u32> add_pulls(ScheduleBuilder& builder, const Trigger& trigger, u32 hub) {
    // What is pulled at the hub itself is a message to itself then: it is one of those whose order counts.
    const bool in_order = trigger.kind == Kind::multishot && trigger.pulled_by.size() > 1;
    std::vector<u32> pulls;
    const u32 tag = next_tag_++;
    u32 last = kNone;
    for (const u32 i : trigger.pulled_by) {
      const Connection& by = connections_[i];
      if (!in_order && by.to == hub) {
        pulls.push_back(by.receive);
        continue;
      }
      if (!in_order) {
        pulls.push_back(notice(builder, by.to, by.receive, hub, next_tag_++));
        continue;
      }
      builder.after_end(by.to, builder.send(by.to, 0, hub, tag), by.receive);
      const u32 heard = builder.receive(hub, 0, kAnyPeer, tag);
      if (last != kNone) builder.after_end(hub, heard, last);
      last = heard;
      pulls.push_back(heard);
    }
    if (trigger.kind == Kind::multishot || pulls.size() == 1) return pulls;
    const u32 all = builder.calculate(hub, 0);
    for (const u32 pull : pulls) builder.after_end(hub, all, pull);
    return {all};
  }

  const std::string& path_;
  std::string text_;
  std::size_t begin_ = 0;  ///< of the line
  std::size_t line_end_ = 0;
  std::size_t end_ = 0;  ///< where the next line begins
  std::size_t at_ = 0;
  u32 line_ = 0;
  u32 column_ = 0;
  std::optional<u32> nodes_;
  std::optional<u64> announced_connections_;
  std::optional<u64> announced_triggers_;
  u64 told_triggers_ = 0;
  std::vector<Connection> connections_;
  std::vector<Trigger> triggers_;
  std::unordered_map<u64, u32> trigger_index_;
  u32 next_tag_ = 0;
  std::vector<std::pair<u64, u32>> ids_;  ///< and their lines
  bool ids_ascend_ = true;
};

bool recognizes(const std::string& path, std::string_view start) {
  static_cast<void>(path);
  return is_connections(uncompressed_start(start));
}

Program read_program(const std::string& path) { return Program(Reader(path).read(), path); }

}  // namespace
}  // namespace connections

const Format format_connections = {"connections", "a connection matrix of htsim (.cm)", &connections::recognizes,
                                   &connections::read_program};

bool is_connections(std::string_view start) noexcept {
  if (start.starts_with(kByteOrderMark)) start.remove_prefix(kByteOrderMark.size());
  // Comments and blank lines, then Nodes.
  while (!start.empty()) {
    const std::size_t first = start.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    start.remove_prefix(first);
    if (start[0] != '#') {
      const std::string_view word = start.substr(0, start.find_first_of(" \t\r\n"));
      return word.size() < start.size() && (word == "Nodes" || word == "Connections" || word == "Triggers");
    }
    start.remove_prefix(std::min(start.find('\n'), start.size()));
  }
  return false;
}

Schedule read_connections(const std::string& path) { return connections::Reader(path).read().build(); }

}  // namespace banyan::workload
