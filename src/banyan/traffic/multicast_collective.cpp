// Collective operations whose results go to all: combined along a binomial tree at the terminals, and spread by a worm
// that the switches replicate, or along the same tree in software (Sivaram, Stunkel, Panda, section 1; Xu, Gui, Ni
// 1994); or combined in the switches too.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/core/multicast.hpp"
#include "banyan/core/multiport.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/traffic/parts/multicasts.hpp"

namespace banyan::traffic::multicast_collective {
namespace {

constexpr Stream kWays{"multicast_collective: ways"};

enum class Operation : u8 { broadcast, reduce, barrier, all_reduce, all_gather };

/// An iteration combines (messages up the tree, to the root) and spreads (from the root, or from every member). Tags:
/// 2 (iteration N + origin) up, one more for what is spread. In the network every member sends one message, which comes
/// back: 2 (iteration N + root) + 1.
class MulticastCollective final : public core::Traffic {
 public:
  MulticastCollective(const config::Values& values, const core::TrafficContext& context, Operation operation)
      : operation_(operation),
        terminals_(context.terminals),
        root_(values.natural("root")),
        iterations_(values.natural("iterations")),
        software_(values.text("implementation") == "software"),
        in_network_(values.text("implementation") == "in_network"),
        startup_(static_cast<Tick>(values.integer("startup")) * context.ticks_per_cycle),
        compute_(static_cast<Tick>(values.integer("compute")) * context.ticks_per_cycle),
        place_(context.terminals, kNone),
        seed_(context.seed),
        index_(context.index),
        parent_(context.terminals, kNone),
        children_(context.terminals),
        nodes_(context.terminals) {
    find_members(values, context);
    if (in_network_) check_in_network(values);
    if (values.text("encoding") == "multiport") read_multiport(values, context);
    const u32 header = multiport_ ? multiport_->header_flits() : core::bit_string_flits(terminals_);
    const u32 size = values.natural("size");
    up_flits_ = operation == Operation::barrier ? 1 : size;
    down_flits_ = operation != Operation::barrier ? size : software_ || in_network_ ? 1 : header;
    if (!software_ && !in_network_ && spreads() && down_flits_ < header) {
      values.fail("size",
                  "the header of a worm for all terminals has " + std::to_string(header) + " flits, the message " +
                      std::to_string(size),
                  "use messages of at least " + std::to_string(header) + " flits");
    }
    link({0, last(), place_[root_]});
    if (multiport_) plan_all();
  }

  void begin(u32 replication) override {
    random_ = Random(seed_, kWays, index_, replication);
    std::fill(nodes_.begin(), nodes_.end(), Node{});
  }
  bool next(u32, u64, Tick, core::Message&) const noexcept override { return false; }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    return {.answers = true,
            .multicasts = true,
            .replicates = !software_ && spreads(),
            .reduces = in_network_,
            // The switches know the members by the number of the collective.
            .header_flits = in_network_  ? 1
                            : multiport_ ? multiport_->header_flits()
                                         : 0,
            .longest_message = std::max(up_flits_, down_flits_),
            .shortest_message = std::min(up_flits_, down_flits_),
            .random = false,
            .finite = true,
            .total_messages = count_messages()};
  }
  core::MulticastGroup multicast_of(const core::Packet& packet) const noexcept override {
    if (in_network_) return {last() + 1, packet.message};
    if (!multiport_) return Traffic::multicast_of(packet);
    return {(packet.message & 1U) != 0 ? last() : 0, packet.message};
  }
  void destinations(u32 terminal, u64, const core::Message& message, std::span<u64> bits) const noexcept override {
    if (multiport_) {
      const Plan& plan = plan_of(message.tag / 2 % terminals_);
      u32 rank = 0;
      for (const core::MultiportWorm& worm : plan.worms) {
        if (worm.sender != terminal || rank++ != message.rank) continue;
        for (u32 i = worm.begin; i < worm.end; ++i) bits[plan.order[i] / 64] |= u64{1} << (plan.order[i] % 64);
      }
      return;
    }
    for (const u32 t : chain_) {
      if (t != terminal) bits[t / 64] |= u64{1} << (t % 64);
    }
  }
  void members(std::span<u64> bits) const noexcept override {
    for (const u32 t : chain_) bits[t / 64] |= u64{1} << (t % 64);
  }
  u64 reduced(u32 tag) const noexcept override {
    u64 sum = 0;
    for (const u32 t : chain_) sum += contribution(t, tag);
    return sum;
  }

  void start(u32 terminal, core::Outbox& out) noexcept override {
    if (place_[terminal] != kNone) advance(terminal, 0, out);
  }

  void delivered(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override {
    Node& node = nodes_[terminal];
    const u32 origin = packet.message / 2 % terminals_;
    if ((packet.message & 1U) == 0) {
      ++node.combined;
      advance(terminal, now + compute_, out);
      return;
    }
    ++node.heard;
    if (software_) forward(terminal, origin, packet.message, now + startup_, out);
    if (multiport_) send_worms(terminal, origin, packet.message, now + startup_, out);
    advance(terminal, now + compute_, out);
  }

  u64 digest(u32 terminal) const noexcept override {
    Hasher h;
    for (const u64 v : {nodes_[terminal].combined, nodes_[terminal].heard, u64{nodes_[terminal].sent}}) h.add(v);
    return h.value();
  }
  void archive(Archive& a) override { a(nodes_); }

 private:
  [[nodiscard]] u64 count_messages() const noexcept {
    const u64 others = last();
    if (operation_ == Operation::all_gather) return others * chain_.size() * iterations_;
    if (in_network_) return chain_.size() * iterations_;
    return others * iterations_ * ((combines() ? 1 : 0) + (spreads() ? 1 : 0));
  }

  struct Node {
    u64 combined = 0;  ///< messages from children
    u64 heard = 0;     ///< messages that were spread
    u32 sent = 0;      ///< iterations of which its own part is done
  };

  /// The worms that spread what an origin has, to all others.
  struct Plan {
    std::vector<core::MultiportWorm> worms;
    std::vector<u32> order;
  };

  void find_members(const config::Values& values, const core::TrafficContext& context) {
    const std::vector<i64>& given = values.integers("members");
    std::vector<bool> takes_part(terminals_, given.empty());
    for (const i64 t : given) {
      if (t < 0 || t >= terminals_) {
        values.fail("members", "there is no terminal " + std::to_string(t),
                    "terminals are 0 to " + std::to_string(terminals_ - 1));
      }
      if (takes_part[static_cast<std::size_t>(t)]) {
        values.fail("members", "terminal " + std::to_string(t) + " is named twice", "name every member once");
      }
      takes_part[static_cast<std::size_t>(t)] = true;
    }
    const ChainOrder order(values, context);
    for (u32 place = 0; place < terminals_; ++place) {
      const u32 t = order.terminal(place);
      if (!takes_part[t]) continue;
      place_[t] = static_cast<u32>(chain_.size());
      chain_.push_back(t);
    }
    const u32 fewest = in_network_ ? 2 : 3;
    if (chain_.size() < fewest) {
      values.fail("members", "a collective has at least " + std::to_string(fewest) + " members",
                  "name more of them, or none for all terminals");
    }
    if (place_[root_] == kNone) {
      values.fail("root", "terminal " + std::to_string(root_) + " is no member", "use the number of a member");
    }
  }
  void check_in_network(const config::Values& values) const {
    if (!combines() || !spreads()) {
      values.fail("operation", "switches reduce what all members contribute, and give all of them the result",
                  "use operation = \"barrier\" or \"all_reduce\", or implementation = \"hardware\"");
    }
    if (values.text("encoding") != "bit_string") {
      values.fail("encoding",
                  "what is reduced in the network carries the number of its collective, and no header of several",
                  "remove it, or use implementation = \"hardware\"");
    }
  }

  void read_multiport(const config::Values& values, const core::TrafficContext& context) {
    if (software_) {
      values.fail("encoding", "messages with one destination have no header of several",
                  "remove it, or use implementation = \"hardware\"");
    }
    if (!spreads()) {
      values.fail("encoding", "a reduce spreads nothing: no message has several destinations",
                  "remove it, or use operation = \"all_reduce\"");
    }
    try {
      multiport_.emplace(*context.topology);
    } catch (const std::invalid_argument& cause) {
      values.fail("encoding", cause.what(), "use encoding = \"bit_string\"");
    }
  }

  /// Plans the worms of the root, or of every terminal where each spreads its own.
  void plan_all() {
    core::MultiportPlan plan;
    std::vector<u32> others;
    const bool each = operation_ == Operation::all_gather;
    for (u32 origin = each ? 0 : root_; origin < (each ? terminals_ : root_ + 1); ++origin) {
      if (place_[origin] == kNone) {
        plans_.emplace_back();
        continue;
      }
      others.clear();
      for (u32 t = 0; t < terminals_; ++t) {
        if (t != origin && place_[t] != kNone) others.push_back(t);
      }
      multiport_->plan(origin, others, plan);
      plans_.push_back({plan.worms, plan.order});
    }
  }
  [[nodiscard]] const Plan& plan_of(u32 origin) const noexcept { return plans_[plans_.size() == 1 ? 0 : origin]; }

  [[nodiscard]] bool combines() const noexcept {
    return operation_ == Operation::reduce || operation_ == Operation::barrier || operation_ == Operation::all_reduce;
  }
  [[nodiscard]] bool spreads() const noexcept { return operation_ != Operation::reduce; }

  /// Parents and children of a part of the chain, the largest half first.
  void link(Segment segment) {
    const u32 own = chain_[segment.own];
    while (segment.low < segment.high) {
      const Half half = split(segment);
      children_[own].push_back(chain_[half.target]);
      parent_[chain_[half.target]] = own;
      link(half.theirs);
      segment = half.rest;
    }
  }

  /// Does the terminal's own part of every iteration that it may begin.
  void advance(u32 terminal, Tick birth, core::Outbox& out) noexcept {
    Node& node = nodes_[terminal];
    const bool root = terminal == root_;
    while (node.sent < iterations_) {
      const u64 i = node.sent;
      // The iteration before must have come to an end here.
      if (operation_ == Operation::all_gather && node.heard < i * last()) return;
      if (operation_ != Operation::all_gather && spreads() && (!root || in_network_) && node.heard < i) return;
      if (operation_ == Operation::broadcast && !root) return;
      if (in_network_) {
        ++node.sent;
        post(terminal, terminal, down_flits_, static_cast<u32>(2 * (i * terminals_ + root_) + 1), 0, birth, out);
        continue;
      }
      if (combines() && node.combined < (i + 1) * children_[terminal].size()) return;
      const u32 tag = static_cast<u32>(2 * (i * terminals_ + terminal));
      ++node.sent;
      if (combines() && !root) {
        post(terminal, parent_[terminal], up_flits_, tag, 0, birth, out);
      } else if (spreads()) {
        spread(terminal, tag + 1, birth, out);
      }
    }
  }

  void spread(u32 terminal, u32 tag, Tick birth, core::Outbox& out) noexcept {
    if (software_) return forward(terminal, terminal, tag, birth, out);
    if (multiport_) return send_worms(terminal, terminal, tag, birth, out);
    core::Message message;
    message.birth = birth;
    message.destination = terminal;
    message.flits = down_flits_;
    message.tag = tag;
    message.copies = message.offers = static_cast<u16>(last());
    message.word = random_.at(terminal, u64{tag} << 8U)[0];
    out.post(message);
  }

  /// What a terminal sends on of a message that `origin` spreads.
  void forward(u32 terminal, u32 origin, u32 tag, Tick birth, core::Outbox& out) noexcept {
    Segment segment{0, last(), place_[origin]};
    const u32 own = place_[terminal];
    while (segment.own != own) {
      const Half half = split(segment);
      segment = own >= half.theirs.low && own <= half.theirs.high ? half.theirs : half.rest;
    }
    for (u8 rank = 0; segment.low < segment.high; ++rank) {
      const Half half = split(segment);
      post(terminal, chain_[half.target], down_flits_, tag, rank, birth, out);
      segment = half.rest;
    }
  }

  /// The worms that a terminal sends of what `origin` spreads, in order of their phases.
  void send_worms(u32 terminal, u32 origin, u32 tag, Tick birth, core::Outbox& out) noexcept {
    const Plan& plan = plan_of(origin);
    u8 rank = 0;
    for (const core::MultiportWorm& worm : plan.worms) {
      if (worm.sender != terminal) continue;
      const u32 size = worm.end - worm.begin;
      post(terminal, size == 1 ? plan.order[worm.begin] : terminal, down_flits_, tag, rank++, birth, out,
           size == 1 ? 0 : size);
    }
  }

  void post(u32 terminal, u32 to, u32 flits, u32 tag, u8 rank, Tick birth, core::Outbox& out, u32 copies = 0) noexcept {
    core::Message message;
    message.birth = birth;
    message.copies = static_cast<u16>(copies);
    if (copies != 0) message.offers = message.copies;
    message.destination = to;
    message.flits = flits;
    message.tag = tag;
    message.rank = rank;
    message.word = random_.at(terminal, u64{tag} << 8U | rank)[0];
    out.post(message);
  }

  /// The last place of the chain.
  [[nodiscard]] u32 last() const noexcept { return static_cast<u32>(chain_.size()) - 1; }

  Operation operation_;
  u32 terminals_;
  u32 root_;
  u32 iterations_;
  bool software_;
  bool in_network_;
  Tick startup_;
  Tick compute_;
  std::vector<u32> chain_;  ///< members in the order of the tree
  std::vector<u32> place_;  ///< [terminal]: in the chain; kNone: it takes no part
  std::optional<core::Multiport> multiport_;
  std::vector<Plan> plans_;
  u64 seed_;
  u32 index_;
  Random random_;
  u32 up_flits_ = 1;
  u32 down_flits_ = 1;
  std::vector<u32> parent_;
  std::vector<std::vector<u32>> children_;
  std::vector<Node> nodes_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  const std::string& name = values.text("operation");
  const Operation operation = name == "broadcast"    ? Operation::broadcast
                              : name == "reduce"     ? Operation::reduce
                              : name == "barrier"    ? Operation::barrier
                              : name == "all_reduce" ? Operation::all_reduce
                                                     : Operation::all_gather;
  if (context.terminals > 65536) {
    values.fail("operation", "a worm has at most 65,535 destinations", "use a network of at most 65,536 terminals");
  }
  if (values.natural("root") >= context.terminals) {
    values.fail("root", "there is no terminal " + std::to_string(values.natural("root")),
                "terminals are 0 to " + std::to_string(context.terminals - 1));
  }
  if (u64{values.natural("iterations")} * context.terminals > 0x7fffffffULL) {
    values.fail("iterations", "the messages of so many iterations cannot be numbered", "use fewer iterations");
  }
  return std::make_unique<MulticastCollective>(values, context, operation);
}

using config::Parameter;

}  // namespace

extern const core::TrafficRow row_multicast_collective;
const core::TrafficRow row_multicast_collective{
    {"multicast_collective",
     "Broadcast, reduce, barrier, all-reduce or all-gather as a closed-loop job, spread in hardware or in software, or "
     "reduced in the network",
     "H. Xu, Y.-D. Gui, L. M. Ni, Optimal Software Multicast in Wormhole-Routed Multistage Networks, Supercomputing "
     "1994; R. Sivaram, C. B. Stunkel, D. K. Panda, A Reliable Hardware Barrier Synchronization Scheme, IPPS 1997",
     {Parameter::choice("operation", {"broadcast", "reduce", "barrier", "all_reduce", "all_gather"}, "barrier")
          .doc("What the terminals do together; a barrier is an all-reduce of nothing"),
      Parameter::choice("implementation", {"hardware", "software", "in_network"}, "hardware")
          .doc("What is for all is one worm that the switches replicate, or messages along a binomial tree, and "
               "terminals "
               "combine along the tree in both cases; or the switches combine what goes up and replicate what goes "
               "down"),
      Parameter::integers("members", {}).doc("Terminals that take part; empty: all"),
      Parameter::choice("encoding", {"bit_string", "multiport"}, "bit_string")
          .doc(
              "Header of a worm: a bit per terminal, 1 + N/16 flits; or a field per stage with a bit per port, "
              "shorter, "
              "with a worm per stage in two phases, the second of which terminals send that were reached in the first"),
      Parameter::integer("size", 64).unit("flits").range(1, kLongestPacket).doc("Length of the vector"),
      Parameter::integer("iterations", 1).range(1, 2147483647.0).doc("Times that the operation is done"),
      Parameter::integer("root", 0).range(0, 65535).doc("Terminal where a result is combined, or that spreads its own"),
      Parameter::integer("compute", 0)
          .unit("cycles")
          .range(0, 1e12)
          .doc("From an arrival to the message that follows from it by combining"),
      Parameter::integer("startup", 0)
          .unit("cycles")
          .range(0, 1e12)
          .doc("Software: from the arrival of a message until its forwards join the terminal's queue"),
      ChainOrder::parameter()}},
    &make};

}  // namespace banyan::traffic::multicast_collective
