// Flows, one by one: who sends to whom, how much, from when to when. For scenarios whose every packet has a reason.
#include <fmt/core.h>

#include <span>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/traffic/parts/timed.hpp"

namespace banyan::traffic::flows {
namespace {

constexpr Stream kWays{"flows: ways"};

class Flows final : public core::Traffic {
 public:
  Flows(const config::Values& values, const core::TrafficContext& context)
      : seed_(context.seed),
        index_(context.index),
        terminals_(context.terminals),
        size_(values.natural("size")),
        limit_(values.natural("limit")),
        at_(terminals_) {
    const std::vector<i64>& sources = values.integers("sources");
    const std::vector<i64>& destinations = values.integers("destinations");
    check_terminals(values, "sources", sources);
    check_terminals(values, "destinations", destinations);
    check_count(values, "destinations", destinations.size(), sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      Flow& flow = at_[static_cast<u32>(sources[i])];
      if (flow.destination != kNone) {
        values.fail("sources", fmt::format("terminal {} has two flows", sources[i]),
                    "give each source one flow; use a second traffic for another");
      }
      flow.destination = static_cast<u32>(destinations[destinations.size() == 1 ? 0 : i]);
      flow.gaps = EvenGaps(size_, pick(values, "loads", i, sources.size()), context.ticks_per_cycle);
      flow.begin = cycles_of(values, context, "starts", pick(values, "starts", i, sources.size()));
      const double end = pick(values, "ends", i, sources.size());
      flow.end = end <= 0.0 ? kNever : cycles_of(values, context, "ends", end);
      flow.load = pick(values, "loads", i, sources.size());
      load_ += flow.load;
    }
  }

  void begin(u32 replication) override { random_ = Random(seed_, kWays, index_, replication); }
  double offered_load() const noexcept override { return load_ / terminals_; }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    return {.longest_message = size_, .shortest_message = size_, .random = false};
  }
  bool next(u32 terminal, u64 nth, Tick, core::Message& out) const noexcept override {
    const Flow& flow = at_[terminal];
    if (flow.destination == kNone) return false;
    out.flits = size_;
    out.flags = 0;
    out.destination = flow.destination;
    out.word = random_.at(terminal, nth)[0];
    out.birth = flow.begin + flow.gaps.at(nth);
    return out.birth < flow.end;
  }
  bool demands(u32 terminal, std::span<double> flits) const override {
    const Flow& flow = at_[terminal];
    if (limit_ != 0 || (flow.destination != kNone && (flow.begin != 0 || flow.end != kNever))) return false;
    if (flow.destination != kNone) flits[flow.destination] += flow.load;
    return true;
  }
  u32 waiting_limit(u32) const noexcept override { return limit_ == 0 ? kNone : limit_ * size_; }

 private:
  struct Flow {
    u32 destination = kNone;
    EvenGaps gaps;
    double load = 0.0;  ///< flits per cycle
    Tick begin = 0;
    Tick end = 0;
  };

  void check_terminals(const config::Values& values, const char* name, const std::vector<i64>& list) const {
    if (list.empty()) values.fail(name, "there is no flow", "name a terminal, for example [0]");
    for (const i64 t : list) {
      if (t >= 0 && t < i64{terminals_}) continue;
      values.fail(name, fmt::format("there is no terminal {}", t),
                  fmt::format("use terminals from 0 to {}", terminals_ - 1));
    }
  }
  static void check_count(const config::Values& values, const char* name, std::size_t count, std::size_t flows) {
    if (count == 1 || count == flows) return;
    values.fail(name, fmt::format("{} values for {} flows", count, flows), "give one per source, or one for all");
  }
  static double pick(const config::Values& values, const char* name, std::size_t i, std::size_t flows) {
    const std::vector<double>& list = values.reals(name);
    check_count(values, name, list.size(), flows);
    return list[list.size() == 1 ? 0 : i];
  }

  u64 seed_;
  u32 index_;
  Random random_;
  u32 terminals_;
  u32 size_;
  u32 limit_;
  double load_ = 0.0;
  std::vector<Flow> at_;  ///< [terminal]
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  return std::make_unique<Flows>(values, context);
}

using config::Parameter;

}  // namespace

extern const core::TrafficRow row_flows;
const core::TrafficRow row_flows{
    {"flows",
     "Single flows: who sends to whom, how much, from when to when",
     "P. J. Garcia et al., Dynamic Evolution of Congestion Trees, DIAB-05-07-1, 2005, section 3",
     {
         Parameter::integers("sources", {1}).unit("terminals").doc("One flow each"),
         Parameter::integers("destinations", {0}).unit("terminals").doc("Per flow, or one for all"),
         Parameter::reals("loads", {1.0})
             .unit("flits/cycle")
             .above(0)
             .range(0, EvenGaps::kMostLoad)
             .doc("Per flow, or one for all"),
         Parameter::reals("starts", {0.0}).unit("ns").range(0, 1e15).doc("Per flow, or one for all"),
         Parameter::reals("ends", {0.0}).unit("ns").range(0, 1e15).doc("Per flow, or one for all; 0: never"),
         Parameter::integer("size", 64).unit("flits").range(1, 1 << 24).doc("Length of a message"),
         Parameter::integer("limit", 0)
             .unit("messages")
             .range(0, 1 << 20)
             .doc("Messages that may wait at a source; more are not generated; 0: no limit"),
     }},
    &make};

}  // namespace banyan::traffic::flows
