#include "banyan/traffic/parts/multicasts.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "banyan/base/hash.hpp"
#include "banyan/core/multicast.hpp"

namespace banyan::traffic {

std::unique_ptr<core::Traffic> make_multicasts(const config::Values& values, const core::TrafficContext& context) {
  return std::make_unique<Multicasts>(values, context);
}

Half split(const Segment& segment) noexcept {
  const u32 middle = segment.low + (segment.high - segment.low + 1) / 2;
  if (segment.own < middle) { return {middle, {middle, segment.high, middle}, {segment.low, middle - 1, segment.own}}; }
  return {middle - 1, {segment.low, middle - 1, middle - 1}, {middle, segment.high, segment.own}};
}

ChainOrder::ChainOrder(const config::Values& values, const core::TrafficContext& context) {
  const core::Tree* const tree = context.topology == nullptr ? nullptr : context.topology->tree();
  if (tree == nullptr || values.text("chain") == "number") return;
  terminals_.resize(context.terminals);
  std::iota(terminals_.begin(), terminals_.end(), 0U);
  for (const core::TreeLevel& level : tree->levels) {  // stable: the lowest level first, the highest last
    std::stable_sort(terminals_.begin(), terminals_.end(), [&](u32 a, u32 b) {
      return a / level.key_divide % level.key_modulo < b / level.key_divide % level.key_modulo;
    });
  }
  places_.resize(context.terminals);
  for (u32 place = 0; place < context.terminals; ++place) places_[terminals_[place]] = place;
}

config::Parameter ChainOrder::parameter() {
  return config::Parameter::choice("chain", {"tree", "number"}, "tree")
      .doc(
          "Order of the chain along which software multicasts are forwarded: in a fat tree, terminals below one switch "
          "stand together on every level, so that a lone multicast meets itself on no link; or by number, which is the "
          "order elsewhere");
}

std::vector<config::Parameter> Multicasts::parameters(double share) {
  using config::Parameter;
  std::vector<Parameter> all{
      Parameter::real("load", 0.1)
          .unit("flits/cycle")
          .range(0, 1)
          .doc("Effective applied load per terminal: flits that the terminals would receive per cycle, each multicast "
               "counted once per destination"),
      Parameter::integer("degree", 4).range(2, 65535).doc("Destinations of a multicast, m, drawn uniformly"),
      Parameter::real("share", share)
          .range(0, 1)
          .doc("Part of the received load that is due to multicasts; the rest are messages with one destination"),
      Parameter::integer("size", 64).unit("flits").range(1, kLongestPacket).doc("Length of every message"),
      Parameter::choice("implementation", {"hardware", "software"}, "hardware")
          .doc(
              "One worm that the switches replicate, or messages with one destination that the terminals forward along "
              "the binomial tree of U-Min"),
      Parameter::choice("encoding", {"bit_string", "multiport"}, "bit_string")
          .doc(
              "Header of a worm: a bit per terminal, 1 + N/16 flits, for any set of destinations; or a field per stage "
              "with a bit per port, shorter, for sets that are all combinations of ports: other sets take several "
              "worms, which the terminals that were reached help to send, in several phases"),
      Parameter::integer("startup", 0)
          .unit("cycles")
          .range(0, 1e12)
          .doc("Software, and worms of later phases: from the arrival of a message at a terminal until its forwards "
               "join the terminal's queue"),
      ChainOrder::parameter(),
  };
  for (Parameter row : Process::parameters()) {
    if (row.name == "process") {
      row.fallback = std::string("poisson");
      std::erase(row.choices, "at_once");  // there is no batch of multicasts that it could be of
    }
    all.push_back(row);
  }
  return all;
}

namespace {

constexpr Stream kMulticastBirths{"multicasts: births, kinds, destinations of unicasts"};
constexpr Stream kMulticastWays{"multicasts: ways"};
constexpr Stream kMulticastSets{"multicasts: sets of destinations"};
constexpr Stream kMulticastParts{"multicasts: ways of what is forwarded"};

/// Messages per terminal and cycle.
double rate_of(const config::Values& values) {
  const double share = values.real("share");
  return values.real("load") / static_cast<double>(values.integer("size")) *
         (1.0 - share + share / static_cast<double>(values.integer("degree")));
}

}  // namespace

Multicasts::Multicasts(const config::Values& values, const core::TrafficContext& context)
    : terminals_(context.terminals),
      degree_(values.natural("degree")),
      size_(values.natural("size")),
      load_(values.real("load")),
      share_(values.real("share")),
      software_(values.text("implementation") == "software"),
      startup_(static_cast<Tick>(values.integer("startup")) * context.ticks_per_cycle),
      seed_(context.seed),
      index_(context.index),
      process_(values, context, rate_of(values)),
      order_(values, context) {
  if (degree_ > terminals_ - 1 || terminals_ < 3) {
    values.fail(
        "degree",
        "a multicast to " + std::to_string(degree_) + " of the other " + std::to_string(terminals_ - 1) + " terminals",
        terminals_ < 3 ? "use a larger network" : "use a degree of at most " + std::to_string(terminals_ - 1));
  }
  if (values.text("encoding") == "multiport") {
    if (software_) {
      values.fail("encoding", "messages with one destination have no header of several",
                  "remove it, or use implementation = \"hardware\"");
    }
    try {
      multiport_.emplace(*context.topology);
    } catch (const std::invalid_argument& cause) {
      values.fail("encoding", cause.what(), "use encoding = \"bit_string\"");
    }
  }
  if (!forwards() && startup_ != 0) {
    values.fail("startup", "switches replicate without the terminals",
                "remove it, or use implementation = \"software\" or encoding = \"multiport\"");
  }
  const u32 header = multiport_ ? multiport_->header_flits() : core::bit_string_flits(terminals_);
  if (!software_ && header > size_) {
    values.fail("size",
                "the header of a worm for " + std::to_string(terminals_) + " terminals has " + std::to_string(header) +
                    " flits, the whole message " + std::to_string(size_),
                "use messages of at least " + std::to_string(header) + " flits");
  }
  const double multicast = share_ / degree_;
  multicast_below_ = static_cast<u64>(multicast / (multicast + 1.0 - share_) * 0x1.0p32);
  if (!forwards()) return;
  sources_.resize(terminals_);
  chains_.resize(terminals_);
  for (std::vector<u32>& chain : chains_) chain.reserve(degree_ + 1);
  if (!multiport_) return;
  plans_.resize(terminals_);
  for (core::MultiportPlan& plan : plans_) plan.reserve(degree_, multiport_->stages());
}

void Multicasts::begin(u32 replication) {
  process_.begin(replication);
  random_ = Random(seed_, kMulticastBirths, index_, replication);
  ways_ = Random(seed_, kMulticastWays, index_, replication);
  sets_ = Random(seed_, kMulticastSets, index_, replication);
  parts_ = Random(seed_, kMulticastParts, index_, replication);
  std::fill(sources_.begin(), sources_.end(), Source{});
}

bool Multicasts::is_multicast(u32 terminal, u64 nth) const noexcept {
  return random_.at(terminal, nth)[2] < multicast_below_;
}

bool Multicasts::next(u32 terminal, u64 nth, Tick previous, core::Message& out) const noexcept {
  const Words words = random_.at(terminal, nth);
  out.birth = process_.next(terminal, nth, previous, words, out);
  out.flits = size_;
  out.word = ways_.at(terminal, nth)[0];
  if (words[2] < multicast_below_) {
    out.copies = out.offers = static_cast<u16>(degree_);
    out.destination = terminal;
  } else {
    out.copies = 0;
    out.offers = 1;
    const u32 other = below(words[3], terminals_ - 1);
    out.destination = other + (other >= terminal ? 1U : 0U);
  }
  return out.birth != kNever;
}

/// Floyd's draw without replacement (Bentley and Floyd 1987).
template <class F>
void Multicasts::draw(u32 terminal, u64 nth, F&& f) const noexcept {
  const u32 others = terminals_ - 1;
  for (u32 k = 0; k < degree_; ++k) {
    const u32 upper = others - degree_ + k;
    const Words words = sets_.at(u64{terminal} | u64{k} << 32U, nth);
    f(below(words[0], upper + 1), upper);
  }
}

void Multicasts::destinations(u32 terminal, u64 nth, const core::Message& message, std::span<u64> bits) const noexcept {
  if (multiport_) {
    const core::MultiportPlan& all = plan(terminal, message.tag % terminals_, message.tag / terminals_);
    u32 rank = 0;
    for (const core::MultiportWorm& worm : all.worms) {
      if (worm.sender != terminal || rank++ != message.rank) continue;
      for (u32 i = worm.begin; i < worm.end; ++i) bits[all.order[i] / 64] |= u64{1} << (all.order[i] % 64);
    }
    return;
  }
  const auto place = [&](u32 other) { return other + (other >= terminal ? 1U : 0U); };
  draw(terminal, nth, [&](u32 drawn, u32 otherwise) {
    u32 t = place(drawn);
    if ((bits[t / 64] >> (t % 64) & 1U) != 0) t = place(otherwise);
    bits[t / 64] |= u64{1} << (t % 64);
  });
}

void Multicasts::draw_all(u32 origin, u64 nth, std::vector<u32>& into) const noexcept {
  into.clear();
  const auto place = [&](u32 other) { return other + (other >= origin ? 1U : 0U); };
  draw(origin, nth, [&](u32 drawn, u32 otherwise) {
    const u32 t = place(drawn);
    into.push_back(std::find(into.begin(), into.end(), t) == into.end() ? t : place(otherwise));
  });
}

core::MulticastGroup Multicasts::multicast_of(const core::Packet& packet) const noexcept {
  if (!forwards()) return {packet.copies, static_cast<u64>(packet.source) << 32U | packet.message};
  const bool multicast = is_multicast(packet.message % terminals_, packet.message / terminals_);
  return {multicast ? degree_ : 0, packet.message};
}

void Multicasts::start(u32 terminal, core::Outbox& out) noexcept { generate(terminal, out); }

void Multicasts::generate(u32 terminal, core::Outbox& out) noexcept {
  Source& source = sources_[terminal];
  core::Message message;
  message.state = source.state;
  const u64 nth = source.generated;
  if (!next(terminal, nth, source.previous, message)) return;
  ++source.generated;
  source.previous = message.birth;
  source.state = message.state;
  if (message.copies != 0) {
    source.left = multiport_ ? send_worms(terminal, terminal, nth, message.birth, out)
                             : send(terminal, terminal, nth, message.birth, out);
    return;
  }
  source.left = 1;
  message.tag = tag_of(terminal, nth);
  out.post(message);
}

/// Sends all that a terminal sends of a multicast, the largest half first; returns how many messages.
u32 Multicasts::send(u32 terminal, u32 origin, u64 nth, Tick birth, core::Outbox& out) noexcept {
  std::vector<u32>& chain = chains_[terminal];
  draw_all(origin, nth, chain);
  chain.push_back(origin);
  for (u32& t : chain) t = order_.place(t);
  std::sort(chain.begin(), chain.end());
  const auto index_of = [&](u32 t) {
    return static_cast<u32>(std::lower_bound(chain.begin(), chain.end(), order_.place(t)) - chain.begin());
  };
  const u32 own = index_of(terminal);
  Segment segment{0, degree_, index_of(origin)};
  while (segment.own != own) {  // down the tree, to the part that this terminal covers
    const Half half = split(segment);
    const bool theirs = own >= half.theirs.low && own <= half.theirs.high;
    segment = theirs ? half.theirs : half.rest;
  }
  u32 count = 0;
  while (segment.low < segment.high) {
    const Half half = split(segment);
    core::Message message = part(terminal, origin, nth, birth, count);
    message.destination = order_.terminal(chain[half.target]);
    out.post(message);
    segment = half.rest;
    ++count;
  }
  return count;
}

core::Message Multicasts::part(u32 terminal, u32 origin, u64 nth, Tick birth, u32 count) const noexcept {
  core::Message message;
  message.birth = birth;
  message.flits = size_;
  message.word = parts_.at(terminal, u64{tag_of(origin, nth)} << 8U | count)[0];
  message.tag = tag_of(origin, nth);
  message.rank = static_cast<u8>(count);
  message.offers = terminal == origin && count == 0 ? static_cast<u16>(degree_) : u16{0};
  return message;
}

const core::MultiportPlan& Multicasts::plan(u32 by, u32 origin, u64 nth) const noexcept {
  draw_all(origin, nth, chains_[by]);
  multiport_->plan(origin, chains_[by], plans_[by]);
  return plans_[by];
}

/// Sends the worms that a terminal sends of a multicast, in order of their phases; returns how many.
u32 Multicasts::send_worms(u32 terminal, u32 origin, u64 nth, Tick birth, core::Outbox& out) noexcept {
  u32 count = 0;
  for (const core::MultiportWorm& worm : plan(terminal, origin, nth).worms) {
    if (worm.sender != terminal) continue;
    core::Message message = part(terminal, origin, nth, birth, count);
    message.destination = terminal;
    if (worm.end - worm.begin == 1) {
      message.destination = plans_[terminal].order[worm.begin];
    } else {
      message.copies = static_cast<u16>(worm.end - worm.begin);
    }
    out.post(message);
    ++count;
  }
  return count;
}

void Multicasts::departed(const core::Packet& packet, u32 terminal, Tick, core::Outbox& out) noexcept {
  Source& source = sources_[terminal];
  if (packet.message != tag_of(terminal, source.generated - 1)) return;
  if (--source.left == 0) generate(terminal, out);
}

void Multicasts::delivered(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept {
  const u32 origin = packet.message % terminals_;
  const u64 nth = packet.message / terminals_;
  if (!is_multicast(origin, nth)) return;
  multiport_ ? send_worms(terminal, origin, nth, now + startup_, out)
             : send(terminal, origin, nth, now + startup_, out);
}

bool Multicasts::unposted(u32 terminal, u64 ahead, core::Message& out) const noexcept {
  if (!forwards()) return false;
  const Source& source = sources_[terminal];
  if (ahead == 0) out.state = source.state;
  return next(terminal, source.generated + ahead, ahead == 0 ? source.previous : out.birth, out);
}

u64 Multicasts::digest(u32 terminal) const noexcept {
  if (!forwards()) return 0;
  Hasher h;
  for (const u64 v : {sources_[terminal].generated, u64{sources_[terminal].left}}) h.add(v);
  return h.value();
}

}  // namespace banyan::traffic
