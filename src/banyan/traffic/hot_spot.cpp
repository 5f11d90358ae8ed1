// Hot spots (Pfister and Norton 1985): a fraction of the messages goes to a few targets, the rest is uniform.
#include <numeric>
#include <string>
#include <vector>

#include "banyan/traffic/parts/pattern.hpp"

namespace banyan::traffic::hot_spot {
namespace {

constexpr Stream kTargets{"hot_spot: destinations"};

struct Target {
  u64 below = 0;  ///< a 32-bit word below this, and not below the previous target's, chooses it
  u32 terminal = 0;
};

class HotSpot final : public Pattern {
 public:
  HotSpot(const config::Values& values, const core::TrafficContext& context, std::vector<Target> targets)
      : Pattern(values, context),
        seed_(context.seed),
        index_(context.index),
        targets_(std::move(targets)),
        fraction_(values.real("fraction")),
        terminals_(context.terminals),
        include_self_(values.flag("include_self")),
        fetch_add_(values.flag("fetch_add")) {}

  void begin(u32 replication) override {
    Pattern::begin(replication);
    random_ = Random(seed_, kTargets, index_, replication);
  }

  u32 destination(u32 terminal, u64 nth, const Words&) const noexcept override {
    const Words words = random_.at(terminal, nth);
    const u32 to = hot_target(terminal, words);
    return to != kNone ? to : any(terminal, words[3]);
  }

  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    core::TrafficTraits all = Pattern::traits();
    all.fetch_adds = fetch_add_;
    return all;
  }
  bool asks_shared_word(const core::Packet& packet) const noexcept override {
    return hot_target(packet.source, random_.at(packet.source, packet.message)) != kNone;
  }
  /// Combined requests are fewer messages for the hot terminals than are sent to them.
  bool demands(u32 terminal, std::span<double> flits) const override {
    return !fetch_add_ && Pattern::demands(terminal, flits);
  }

  void add_shares(u32 terminal, double weight, std::span<double> shares) const override {
    double uniform = 1.0 - fraction_;
    u64 begin = 0;
    for (const Target& t : targets_) {
      const double share = fraction_ * static_cast<double>(t.below - begin) * 0x1.0p-32;
      begin = t.below;
      if (t.terminal == terminal && !include_self_) {
        uniform += share;  // a hot spot's own share is uniform
      } else {
        shares[t.terminal] += weight * share;
      }
    }
    add_uniform(terminal, weight * uniform, include_self_, shares);
  }

 private:
  [[nodiscard]] u32 target(u32 word) const noexcept {
    std::size_t i = 0;
    while (word >= targets_[i].below) ++i;  // the last target's bound is 2^32
    return targets_[i].terminal;
  }

  /// kNone: the message is one of the uniform ones, as a hot spot's own share is.
  [[nodiscard]] u32 hot_target(u32 terminal, const Words& words) const noexcept {
    if (unit_real(words[0], words[1]) >= fraction_) return kNone;
    const u32 to = target(words[2]);
    return to != terminal || include_self_ ? to : kNone;
  }

  [[nodiscard]] u32 any(u32 terminal, u32 word) const noexcept {
    if (include_self_) return below(word, terminals_);
    const u32 other = below(word, terminals_ - 1);
    return other + (other >= terminal ? 1U : 0U);
  }

  u64 seed_;
  u32 index_;
  std::vector<Target> targets_;
  double fraction_;
  u32 terminals_;
  bool include_self_;
  bool fetch_add_;
  Random random_;
};

/// Bounds in proportion to the rates.
std::vector<Target> make_targets(const std::vector<i64>& terminals, const std::vector<double>& rates) {
  const auto rate = [&](std::size_t i) { return rates[rates.size() == 1 ? 0 : i]; };
  double total = 0.0;
  for (std::size_t i = 0; i < terminals.size(); ++i) total += rate(i);
  std::vector<Target> targets;
  double sum = 0.0;
  for (std::size_t i = 0; i < terminals.size(); ++i) {
    sum += rate(i);
    targets.push_back({static_cast<u64>(sum / total * 0x1.0p32), static_cast<u32>(terminals[i])});
  }
  targets.back().below = u64{1} << 32U;
  return targets;
}

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  const std::vector<i64>& terminals = values.integers("targets");
  const std::vector<double>& rates = values.reals("rates");
  if (terminals.empty()) values.fail("targets", "there is no hot spot", "name a terminal, for example targets = [0]");
  for (const i64 t : terminals) {
    if (t < 0 || t >= i64{context.terminals}) {
      values.fail("targets", "there is no terminal " + std::to_string(t),
                  "use terminals from 0 to " + std::to_string(context.terminals - 1));
    }
  }
  if (rates.size() != 1 && rates.size() != terminals.size()) {
    values.fail("rates", std::to_string(rates.size()) + " rates for " + std::to_string(terminals.size()) + " targets",
                "give one rate per target, or one for all");
  }
  if (std::accumulate(rates.begin(), rates.end(), 0.0) <= 0.0) {
    values.fail("rates", "no target has a rate above 0", "give at least one target a rate above 0");
  }
  if (context.terminals < 2 && !values.flag("include_self")) {
    values.fail("include_self", "a network of one terminal has no other destination", "use include_self = true");
  }
  if (values.flag("fetch_add") && values.integers("reply_size") != std::vector<i64>{0}) {
    values.fail("reply_size", "the memory answers a fetch-and-add, and its answer is no message of the terminal",
                "use reply_size = [0], or fetch_add = false");
  }
  return std::make_unique<HotSpot>(values, context, make_targets(terminals, rates));
}

config::ComponentInfo info() {
  using config::Parameter;
  config::ComponentInfo row{"hot_spot",
                            "A fraction of the messages goes to one or more hot terminals, the rest is uniform",
                            "Pfister and Norton, Hot Spot Contention and Combining in Multistage Interconnection "
                            "Networks, IEEE Transactions on Computers C-34(10), 1985",
                            Pattern::parameters()};
  row.parameters.push_back(
      Parameter::real("fraction", 0.05).range(0, 1).doc("Probability that a message goes to a hot terminal, alpha"));
  row.parameters.push_back(
      Parameter::integers("targets", {0}).unit("terminals").range(0, 4294967294.0).doc("The hot terminals"));
  row.parameters.push_back(Parameter::reals("rates", {1.0})
                               .range(0, 1e12)
                               .doc("Shares of the targets, in any unit: one for all, or one per target"));
  row.parameters.push_back(Parameter::boolean("include_self", false)
                               .doc("Whether a terminal may send to itself; otherwise those that a hot terminal would "
                                    "send to itself are uniform"));
  row.parameters.push_back(
      Parameter::boolean("fetch_add", false)
          .doc("Whether messages are fetch-and-adds that come back with a value: those to a hot terminal of one memory "
               "word there, the others each of a word that nobody else asks for"));
  return row;
}

}  // namespace

extern const core::TrafficRow row_hot_spot;
const core::TrafficRow row_hot_spot{info(), &make};

}  // namespace banyan::traffic::hot_spot
