#include "banyan/traffic/parts/pattern.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "banyan/base/hash.hpp"

namespace banyan::traffic {
namespace {

constexpr Stream kChoices{"pattern: further words of destinations"};
constexpr Stream kReplies{"pattern: ways of replies"};

/// Tags: requests of a source have even numbers, the reply to request 2i is 2i + 1.
constexpr bool is_reply(u32 tag) noexcept { return (tag & 1U) != 0; }

/// Whether messages of some lengths are answered and others are not.
bool some_unanswered(const std::vector<u32>& reply_sizes) {
  return reply_sizes.size() > 1 && std::find(reply_sizes.begin(), reply_sizes.end(), 0U) != reply_sizes.end();
}

constexpr double kMostPriority = 255;
/// Messages of all terminals whose lengths are drawn before a session, to know how many of them are answered: a second.
constexpr u64 kMostCounted = 100'000'000;

}  // namespace

std::vector<config::Parameter> Pattern::parameters() {
  using config::Parameter;
  std::vector<Parameter> all = Injection::parameters();
  const std::vector<Parameter> more{
      Parameter::integer("batch", 0)
          .unit("messages")
          .range(0, 1e12)
          .doc("Messages that every sending terminal generates; the run ends when all have arrived and reports the "
               "completion time. 0: without end"),
      Parameter::integers("reply_size", {0})
          .unit("flits")

          .range(0, kLongestMessage)
          .doc("Length of the reply that the destination of a message sends back: one for all, or one for each of the "
               "sizes; 0: messages are not answered"),
      Parameter::integer("reply_delay", 0)
          .unit("cycles")
          .range(0, 1e12)
          .doc("From the arrival of a message to the generation of its reply, beside the next cycle"),
      Parameter::integer("outstanding", 0)
          .unit("messages")
          .range(0, 4294967294.0)
          .doc("Most messages of a terminal that have left it and whose reply has not arrived; a terminal at this "
               "limit generates none. 0: no limit"),
      Parameter::integer("priority", 0)
          .range(0, kMostPriority)
          .doc("Of its messages at their source and in the allocators of a vc_router: higher goes first"),
      Parameter::integer("reply_priority", 0).range(0, kMostPriority).doc("Likewise of the replies"),
      Parameter::integers("vc_range", {})
          .range(0, 63)
          .doc("First and last virtual channel that its messages may use in a vc_router; empty: all"),
      Parameter::integers("reply_vc_range", {}).range(0, 63).doc("Likewise of the replies"),
      Parameter::integer("subnetwork", -1)
          .range(-1, 63)
          .doc(
              "Of a topology with several subnetworks, the one that its messages take; -1: every message a random one"),
      Parameter::integer("reply_subnetwork", -1).range(-1, 63).doc("Likewise of the replies"),
  };
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Pattern::Pattern(const config::Values& values, const core::TrafficContext& context)
    : injection_(values, context),
      seed_(context.seed),
      index_(context.index),
      batch_(static_cast<u64>(values.integer("batch"))),
      outstanding_(values.natural("outstanding")),
      reply_delay_(static_cast<Tick>(values.integer("reply_delay")) * context.ticks_per_cycle),
      terminals_(context.terminals) {
  for (const i64 size : values.integers("reply_size")) {
    reply_size_.push_back(static_cast<u32>(size));
    replies_ = replies_ || size != 0;
  }
  if (reply_size_.size() > 1) {
    for (const i64 size : values.integers("sizes")) sizes_.push_back(static_cast<u32>(size));
  }
  check(values);
  read_services(values);
  if (outstanding_ == 0) outstanding_ = kNone;
  if (replies_) sources_.resize(terminals_);
}

void Pattern::check(const config::Values& values) {
  const bool list = values.text("size_distribution") == "list";
  if (reply_size_.empty() || (reply_size_.size() > 1 && (!list || reply_size_.size() != sizes_.size()))) {
    values.fail("reply_size", std::to_string(reply_size_.size()) + " lengths of replies",
                "give one length, or one for each of the sizes with size_distribution = \"list\"");
  }
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (std::count(sizes_.begin(), sizes_.end(), sizes_[i]) == 1) continue;
    values.fail("sizes", "the length " + std::to_string(sizes_[i]) + " is there twice: its reply would not be certain",
                "use different lengths, or one reply_size for all");
  }
  if (outstanding_ != 0 && std::find(reply_size_.begin(), reply_size_.end(), 0U) != reply_size_.end()) {
    values.fail("outstanding", "a terminal learns only from a reply that its message arrived",
                "give every message a reply_size of at least 1 flit, or remove the limit");
  }
  if (!replies_ && reply_delay_ != 0) {
    values.fail("reply_delay", "messages are not answered", "give them a reply_size, or remove it");
  }
  if (replies_ && some_unanswered(reply_size_) && batch_ > kMostCounted / terminals_) {
    values.fail("batch",
                "the answers to " + std::to_string(batch_) + " messages of a terminal are too many to be counted",
                "use a batch of at most " + std::to_string(kMostCounted / terminals_) +
                    " messages, or give every message a reply_size of at least 1 flit");
  }
  if (values.text("process") == "at_once" && batch_ == 0) {
    values.fail("process", "without end, all messages cannot be generated at once",
                "give a batch, or use another process");
  }
  const u32 longest = *std::max_element(reply_size_.begin(), reply_size_.end());
  if (longest > kLongestPacket && longest_packet() == kNone) {
    values.fail("reply_size", "a packet has at most " + std::to_string(kLongestPacket) + " flits",
                "cut the messages into packets with max_packet, or make the replies shorter");
  }
}

void Pattern::read_services(const config::Values& values) {
  const auto read = [&](const char* priority, const char* vcs, const char* subnetwork) {
    core::Service service;
    service.priority = static_cast<u8>(values.natural(priority));
    if (values.integer(subnetwork) >= 0) service.subnetwork = values.natural(subnetwork);
    const std::vector<i64>& range = values.integers(vcs);
    if (range.empty()) return service;
    if (range.size() != 2 || range[0] > range[1]) {
      values.fail(vcs, "a range of virtual channels is the first and the last one",
                  std::string("write ") + vcs + " = [0, 3] for the first four");
    }
    service.vc_begin = static_cast<u32>(range[0]);
    service.vc_end = static_cast<u32>(range[1]) + 1;
    return service;
  };
  service_ = read("priority", "vc_range", "subnetwork");
  reply_service_ = read("reply_priority", "reply_vc_range", "reply_subnetwork");
  if (!replies_ && !(reply_service_ == core::Service{})) {
    values.fail(reply_service_.priority != 0         ? "reply_priority"
                : reply_service_.subnetwork != kNone ? "reply_subnetwork"
                                                     : "reply_vc_range",
                "messages are not answered", "give them a reply_size, or remove it");
  }
}

void Pattern::begin(u32 replication) {
  injection_.begin(replication);
  choices_ = Random(seed_, kChoices, index_, replication);
  replies_words_ = Random(seed_, kReplies, index_, replication);
  std::fill(sources_.begin(), sources_.end(), Source{});
  total_ = count_messages();
}

bool Pattern::next(u32 terminal, u64 nth, Tick previous, core::Message& out) const noexcept {
  // Unlikely, so that g++ does not make two functions of this one, which every message goes through.
  if (batch_ != 0 && nth >= batch_) [[unlikely]]
    return false;
  if (nth == 0 && !sends(terminal)) [[unlikely]]
    return false;  // and nobody asks for a second one
  const Words words = injection_.next(terminal, nth, previous, out);
  out.destination = destination(terminal, nth, words);
  return out.birth != kNever;
}

double Pattern::offered_load() const noexcept {
  if (batch_ != 0) return 0.0;
  u32 senders = 0;
  for (u32 t = 0; t < terminals_; ++t) senders += sends(t) ? 1U : 0U;
  return injection_.load() * senders / terminals_;
}

bool Pattern::demands(u32 terminal, std::span<double> flits) const {
  if (batch_ != 0 || replies_) return false;
  if (sends(terminal)) add_shares(terminal, injection_.load(), flits);
  return true;
}

void Pattern::add_uniform(u32 terminal, double weight, bool include_self, std::span<double> shares) {
  const double share = weight / (static_cast<double>(shares.size()) - (include_self ? 0.0 : 1.0));
  for (u32 to = 0; to < shares.size(); ++to) shares[to] += to != terminal || include_self ? share : 0.0;
}

core::TrafficTraits Pattern::traits() const noexcept {
  const u32 longest_reply = *std::max_element(reply_size_.begin(), reply_size_.end());
  return {.answers = replies_,
          .limits_requests = outstanding_ != kNone,
          .longest_message = std::max(injection_.sizes().longest(), longest_reply),
          .shortest_message = replies_ ? 1 : injection_.sizes().shortest(),
          .longest_packet = injection_.sizes().longest_packet(),
          .random = injection_.random() || draws_destinations(),
          .finite = batch_ != 0,
          .total_messages = total_,
          .remembers = injection_.remembers(),
          .keeps_phase = keeps_phase()};
}

double Pattern::keeps_phase() const {
  const double alone = injection_.keeps_phase();
  constexpr double kSoon = 0.05;  // of a cycle: no message meets another one for that
  if (batch_ != 0 || !(alone > kSoon)) return 0.0;
  constexpr u32 kSample = 16;
  std::vector<double> shares(terminals_);
  double repeats = 0.0;
  for (u32 t = 0; t < terminals_; t += std::max(1U, terminals_ / kSample)) {
    if (!sends(t)) continue;
    std::fill(shares.begin(), shares.end(), 0.0);
    add_shares(t, 1.0, shares);
    repeats = std::max(repeats, std::inner_product(shares.begin(), shares.end(), shares.begin(), 0.0));
  }
  // Of intervals of 95 % with a spread of 0, 24 of 24 held where one message in 63 goes where the one before went, 26
  // of 30 where one in 15 does.
  constexpr double kMixes = 0.05;
  return repeats < kMixes ? 0.0 : repeats * alone;
}

u64 Pattern::count_messages() const noexcept {
  u64 requests = 0;
  u64 replies = 0;
  for (u32 t = 0; t < terminals_; ++t) {
    if (!sends(t)) continue;
    requests += batch_;
    if (!replies_) continue;
    if (!some_unanswered(reply_size_)) {
      replies += batch_;
      continue;
    }
    for (u64 nth = 0; nth < batch_; ++nth) replies += reply_flits(injection_.sizes()(t, nth)) != 0 ? 1U : 0U;
  }
  return requests + replies;
}

u32 Pattern::reply_flits(u32 request_flits) const noexcept {
  if (reply_size_.size() == 1) return reply_size_.front();
  return reply_size_[static_cast<std::size_t>(std::find(sizes_.begin(), sizes_.end(), request_flits) - sizes_.begin())];
}

/// The next request of a terminal, unless one waits already or the limit is reached. One that the limit held back is
/// born as soon as it may.
void Pattern::generate(u32 terminal, Tick earliest, core::Outbox& out) noexcept {
  Source& source = sources_[terminal];
  if (source.waits || source.outstanding >= outstanding_) return;
  core::Message message;
  message.state = source.state;
  if (!next(terminal, source.generated, source.previous, message)) return;
  message.birth = std::max(message.birth, earliest);
  message.tag = static_cast<u32>(source.generated * 2);
  source.previous = message.birth;
  source.state = message.state;
  source.waits = true;
  ++source.generated;
  out.post(message);
}

void Pattern::start(u32 terminal, core::Outbox& out) noexcept { generate(terminal, 0, out); }

void Pattern::departed(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept {
  if (!sources_[terminal].kept) leave(packet, terminal, now, out);
}

/// What waits behind it is for other queues: the next request need not wait until this one has a link.
void Pattern::kept(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept {
  sources_[terminal].kept = true;
  leave(packet, terminal, now, out);
}

void Pattern::leave(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept {
  if (is_reply(packet.message)) return;
  Source& source = sources_[terminal];
  source.waits = false;
  if (reply_flits(packet.message_flits) != 0) ++source.outstanding;
  // With a limit a reply of this tick may come before or after: the next request is the same.
  generate(terminal, outstanding_ == kNone ? packet.birth : now + 1, out);
}

void Pattern::delivered(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept {
  if (is_reply(packet.message)) {
    --sources_[terminal].outstanding;
    generate(terminal, now + 1, out);
    return;
  }
  const u32 flits = reply_flits(packet.message_flits);
  if (flits == 0) return;
  core::Message reply;
  reply.birth = now + 1 + reply_delay_;
  reply.destination = packet.source;
  reply.flits = flits;
  reply.word = replies_words_.at(packet.source, packet.message)[0];
  reply.tag = packet.message + 1;
  reply.flags = core::kReply;
  out.post(reply);
}

bool Pattern::unposted(u32 terminal, u64 ahead, core::Message& out) const noexcept {
  if (!replies_ || outstanding_ != kNone) return false;
  const Source& source = sources_[terminal];
  if (ahead == 0) out.state = source.state;
  return next(terminal, source.generated + ahead, ahead == 0 ? source.previous : out.birth, out);
}

u64 Pattern::digest(u32 terminal) const noexcept {
  const Source& source = sources_[terminal];
  Hasher h;
  for (const u64 v : {source.generated, source.previous, u64{source.outstanding}, u64{source.waits}}) h.add(v);
  return h.value();
}

std::string Pattern::violation() const {
  for (u32 t = 0; t < sources_.size(); ++t) {
    const Source& source = sources_[t];
    if (source.outstanding > source.generated || (outstanding_ != kNone && source.outstanding > outstanding_)) {
      return "terminal " + std::to_string(t) + " has " + std::to_string(source.outstanding) + " messages outstanding";
    }
  }
  return {};
}

}  // namespace banyan::traffic
