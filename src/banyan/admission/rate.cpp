// A fixed rate: the packets of a flow leave their source no closer than a fraction of the channel allows.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "banyan/admission/parts/flow_key.hpp"
#include "banyan/admission/parts/times.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::admission::rate {
namespace {

using config::Parameter;

/// Time is counted in parts of a tick, so that any rate is kept exactly in the long run.
constexpr u32 kPartBits = 20;
constexpr double kLeastRate = 1e-6;

/// The terminals with a rate of their own.
using OwnRates = std::map<u32, double>;

OwnRates own_rates(const config::Values& values, u32 terminals) {
  OwnRates rates;
  for (const std::string& text : values.texts("own")) {
    std::istringstream words(text);
    u32 terminal = 0;
    double rate = 0.0;
    if (!(words >> terminal >> rate) || !(words >> std::ws).eof() || !(rate >= kLeastRate && rate <= 1.0)) {
      values.fail("own", fmt::format("\"{}\" is no terminal with its rate", text),
                  fmt::format("write \"TERMINAL RATE\", with a rate from {} up to 1", kLeastRate));
    }
    if (terminal >= terminals) {
      values.fail("own", fmt::format("there is no terminal {}", terminal),
                  fmt::format("terminals are 0 to {}", terminals - 1));
    }
    if (!rates.emplace(terminal, rate).second) {
      values.fail("own", fmt::format("terminal {} is there twice", terminal), "give it one rate");
    }
  }
  return rates;
}

class Rate final : public core::Admission {
 public:
  Rate(parts::FlowIs flow, double rate, OwnRates own) : flow_(flow), rate_(rate), own_(std::move(own)) {}

  void begin() override {
    next_.clear();
    parts_per_flit_.clear();
    terminals_.clear();
  }
  [[nodiscard]] u64 flow_key(const core::FlowMember& member) const noexcept override {
    return parts::flow_key(flow_, member);
  }
  void open(u32 end, const core::FlowEnd& flow) override {
    next_.resize(std::size_t{end} + 1);
    parts_per_flit_.resize(std::size_t{end} + 1);
    terminals_.resize(std::size_t{end} + 1);
    terminals_[end] = flow.terminal;
    parts_per_flit_[end] = parts_of(flow.terminal);
  }

  [[nodiscard]] Tick may_send(u32 end, const core::Departure&, Tick now) const noexcept override {
    return std::max(first_tick(end), now);
  }
  /// A packet that leaves at the first tick that it may leaves at its exact time, whatever the rounding. What a flow
  /// did not use is lost: it never sends a burst afterwards.
  void sent(u32 end, const core::Departure& what, Tick now, core::Pace&) noexcept override {
    if (first_tick(end) < now) next_[end] = now << kPartBits;
    next_[end] += what.flits * parts_per_flit_[end];
  }

  [[nodiscard]] bool ends_are_apart() const noexcept override { return true; }
  [[nodiscard]] u64 digest(u32 end) const noexcept override { return mix64(next_[end] + 1); }
  [[nodiscard]] std::string explain(u32 end) const override {
    return fmt::format("its next packet leaves at tick {}, at {:.3g} flits per cycle", next_[end] >> kPartBits,
                       std::ldexp(1.0, kPartBits) / static_cast<double>(parts_per_flit_[end]));
  }
  void archive(Archive& a) override { a(next_, terminals_, parts_per_flit_); }
  /// What is left of a wait for the next packet is at the new rate, where that is higher.
  void goes_on(Tick from, core::Pace& pace) noexcept override {
    for (u32 end = 0; end < next_.size(); ++end) {
      const u64 before = std::exchange(parts_per_flit_[end], parts_of(terminals_[end]));
      if (parts_per_flit_[end] >= before || first_tick(end) <= from) continue;
      next_[end] = parts::sooner(next_[end], from << kPartBits, before, parts_per_flit_[end]);
      pace.gate(end, first_tick(end));
    }
  }

 private:
  [[nodiscard]] u64 parts_of(u32 terminal) const {
    const auto own = own_.find(terminal);
    const double rate = own == own_.end() ? rate_ : own->second;
    return static_cast<u64>(std::llround(std::ldexp(1.0, kPartBits) / rate));
  }
  [[nodiscard]] Tick first_tick(u32 end) const noexcept {
    return (next_[end] + (u64{1} << kPartBits) - 1) >> kPartBits;
  }

  parts::FlowIs flow_;
  double rate_;
  OwnRates own_;
  std::vector<u64> parts_per_flit_;  ///< [end]
  std::vector<u32> terminals_;       ///< [end]
  std::vector<u64> next_;            ///< [end]: parts of ticks, when the next packet may leave; of receiving ends 0
};

std::unique_ptr<core::Admission> make(const config::Values& values, const core::AdmissionContext& context) {
  return std::make_unique<Rate>(parts::flow_is(values), values.real("rate"), own_rates(values, context.terminals));
}

}  // namespace

extern const core::AdmissionRow row_rate;
const core::AdmissionRow row_rate{
    .info = {"rate",
             "The packets of a flow leave their source at no more than a fixed rate",
             "M. Gerla, L. Kleinrock, Flow Control: A Comparative Survey, IEEE Transactions on Communications 28(4), "
             "1980, section V (input rates at the network access)",
             {parts::flow_parameter(),
              Parameter::real("rate", 1.0)
                  .unit("flits/cycle")
                  .range(kLeastRate, 1.0)
                  .in_flight()
                  .doc("Most flits of a flow per cycle; what it does not use is lost"),
              Parameter::texts("own", {}).doc("Terminals whose flows have another rate, as \"TERMINAL RATE\" each")}},
    .make = &make};

}  // namespace banyan::admission::rate
