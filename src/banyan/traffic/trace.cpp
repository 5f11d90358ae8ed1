// Messages from a file, which may wait for each other.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/traffic/parts/sizes.hpp"
#include "banyan/traffic/parts/trace_file.hpp"

namespace banyan::traffic::trace {
namespace {

constexpr Stream kWays{"trace: ways"};
constexpr double kMostTicks = 0x1.0p62;  // two of them are still a tick

/// Numbers messages by their place in the file. Those that wait for nothing are posted one after the other, in the
/// order of their cycle; those that wait, when the last of what they wait for has happened at their source.
class Trace final : public core::Traffic {
 public:
  Trace(const config::Values& values, const core::TrafficContext& context, const std::vector<TraceMessage>& messages)
      : seed_(context.seed),
        index_(context.index),
        longest_packet_(values.natural("max_packet") == 0 ? kNone : values.natural("max_packet")),
        events_(messages.size()),
        states_(messages.size()),
        first_(context.terminals),
        next_(context.terminals),
        progress_(context.terminals) {
    const double scale = values.real("time_scale") * static_cast<double>(context.ticks_per_cycle);
    const auto ticks = [&](u64 cycles) {
      return static_cast<Tick>(std::floor(static_cast<double>(cycles) * scale + 0.5));
    };
    std::unordered_map<u64, u32> index;
    for (u32 i = 0; i < messages.size(); ++i) index.emplace(messages[i].id, i);
    std::vector<u32> by_cycle(messages.size());
    std::iota(by_cycle.begin(), by_cycle.end(), 0U);
    std::stable_sort(by_cycle.begin(), by_cycle.end(),
                     [&](u32 a, u32 b) { return messages[a].cycle < messages[b].cycle; });
    for (const u32 i : by_cycle) {
      if (messages[i].after.empty()) first_[messages[i].source].push_back(i);
    }
    for (u32 i = 0; i < messages.size(); ++i) {
      const TraceMessage& m = messages[i];
      events_[i].earliest = ticks(m.cycle);
      events_[i].destination = m.destination;
      events_[i].flits = m.flits;
      events_[i].waits_for = static_cast<u32>(m.after.size());
      longest_ = std::max(longest_, m.flits);
      for (const TraceMessage::After& after : m.after) {
        const u32 other = index.at(after.id);
        // A message to itself both leaves and arrives here: its arrival counts.
        const bool arrives = messages[other].destination == m.source;
        (arrives ? events_[other].at_arrival : events_[other].at_departure).push_back({i, ticks(after.delay)});
      }
    }
  }

  void begin(u32 replication) override {
    random_ = Random(seed_, kWays, index_, replication);
    for (u32 i = 0; i < states_.size(); ++i) states_[i] = {events_[i].waits_for, events_[i].earliest};
    std::fill(next_.begin(), next_.end(), 0);
    std::fill(progress_.begin(), progress_.end(), 0);
  }
  bool next(u32, u64, Tick, core::Message&) const noexcept override { return false; }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    return {.answers = true,
            .longest_message = longest_,
            .longest_packet = longest_packet_,
            .random = false,
            .finite = true,
            .total_messages = events_.size()};
  }

  void start(u32 terminal, core::Outbox& out) noexcept override { post_next(terminal, out); }
  void departed(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override {
    const Event& event = events_[packet.message];
    if (event.waits_for == 0) post_next(terminal, out);
    for (const Waiting& w : event.at_departure) satisfy(w, terminal, now, out);
  }
  void delivered(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override {
    for (const Waiting& w : events_[packet.message].at_arrival) satisfy(w, terminal, now, out);
  }

  u64 digest(u32 terminal) const noexcept override { return mix64(next_[terminal] + 1) + progress_[terminal]; }
  void archive(Archive& a) override { a(states_, next_, progress_); }

 private:
  struct Waiting {
    u32 message;
    Tick delay;
  };
  struct Event {
    Tick earliest = 0;
    u32 destination = 0;
    u32 flits = 1;
    u32 waits_for = 0;
    std::vector<Waiting> at_departure;
    std::vector<Waiting> at_arrival;
  };
  /// The state of a message that waits; touched by the shard of its source alone, where all that it waits for happens.
  struct State {
    u32 left = 0;
    Tick birth = 0;
  };

  void post_next(u32 terminal, core::Outbox& out) noexcept {
    u32& place = next_[terminal];
    if (place < first_[terminal].size()) post(first_[terminal][place++], out);
  }
  void satisfy(const Waiting& waiting, u32 terminal, Tick now, core::Outbox& out) noexcept {
    State& state = states_[waiting.message];
    state.birth = std::max(state.birth, now + 1 + waiting.delay);
    progress_[terminal] += mix64((u64{waiting.message} << 32U) + state.birth);
    if (--state.left == 0) post(waiting.message, out);
  }
  void post(u32 message, core::Outbox& out) noexcept {
    core::Message m;
    m.birth = states_[message].birth;
    m.destination = events_[message].destination;
    m.flits = events_[message].flits;
    m.word = random_.at(message, 0)[0];
    m.tag = message;
    out.post(m);
  }

  u64 seed_;
  u32 index_;
  Random random_;
  u32 longest_packet_;
  u32 longest_ = 1;
  std::vector<Event> events_;            ///< [message]
  std::vector<State> states_;            ///< [message]
  std::vector<std::vector<u32>> first_;  ///< [terminal]: messages that wait for nothing, by cycle
  std::vector<u32> next_;                ///< [terminal]: of these, posted
  std::vector<u64> progress_;            ///< [terminal]: of the waits that are over, for digests
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  const std::string& file = values.text("file");
  const std::vector<TraceMessage> messages =
      read_trace(read_trace_text(file, values.where("file")), file, context.terminals);
  if (messages.empty()) values.fail("file", "the trace has no message", "give a trace with at least one");
  if (messages.size() > std::numeric_limits<u32>::max() - 1) {
    values.fail("file", "the trace has more than 2^32 messages", "cut it into parts");
  }
  const double scale = values.real("time_scale") * static_cast<double>(context.ticks_per_cycle);
  const auto check_time = [&](u64 cycles, const Where& where) {
    if (static_cast<double>(cycles) * scale <= kMostTicks) return;
    throw ConfigError(
        where,
        fmt::format("{} cycles, {:g} times as long, are more than can be counted", cycles, values.real("time_scale")),
        "use a smaller time_scale");
  };
  for (const TraceMessage& m : messages) {
    const Where where{file, m.line, 0, ""};
    check_time(m.cycle, where);
    for (const TraceMessage::After& after : m.after) check_time(after.delay, where);
    if (m.flits > kLongestPacket && values.natural("max_packet") == 0) {
      throw ConfigError(where, "a packet has at most " + std::to_string(kLongestPacket) + " flits",
                        "cut the messages into packets with max_packet");
    }
  }
  return std::make_unique<Trace>(values, context, messages);
}

using config::Parameter;

}  // namespace

extern const core::TrafficRow row_trace;
const core::TrafficRow row_trace{
    {"trace",
     "Messages from a text file, which may wait for each other; the run ends when all have arrived",
     "Hestness, Grot, Keckler, Netrace: Dependency-Driven Trace-Based Network-on-Chip Simulation, NoCArc 2010",
     {Parameter::text("file", "").required().file().doc("Path of the trace, relative to the folder of the experiment"),
      Parameter::real("time_scale", 1.0)
          .range(0, 1e9)
          .doc("Factor on all times of the trace, rounded to cycles: below 1 compresses it"),
      Parameter::integer("max_packet", 0)
          .unit("flits")
          .range(0, kLongestPacket)
          .doc("Longest packet that messages are cut into; 0: messages are not cut")}},
    &make};

}  // namespace banyan::traffic::trace
