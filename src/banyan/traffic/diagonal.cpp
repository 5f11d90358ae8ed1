// The diagonal pattern: a terminal sends to itself or to the next terminal.
#include "banyan/traffic/parts/pattern.hpp"

namespace banyan::traffic::diagonal {
namespace {

class Diagonal final : public Pattern {
 public:
  Diagonal(const config::Values& values, const core::TrafficContext& context)
      : Pattern(values, context), terminals_(context.terminals), own_(values.real("own")) {}

  u32 destination(u32 terminal, u64, const Words& words) const noexcept override {
    const bool own = static_cast<double>(words[2]) * 0x1.0p-32 < own_;
    return own ? terminal : (terminal + 1) % terminals_;
  }

  void add_shares(u32 terminal, double weight, std::span<double> shares) const override {
    shares[terminal] += weight * own_;
    shares[(terminal + 1) % terminals_] += weight * (1.0 - own_);
  }

 private:
  u32 terminals_;
  double own_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  return std::make_unique<Diagonal>(values, context);
}

config::ComponentInfo info() {
  config::ComponentInfo row{"diagonal",
                            "A terminal sends to itself with a fixed probability, otherwise to the next one",
                            "McKeown, The iSLIP Scheduling Algorithm for Input-Queued Switches, IEEE/ACM Transactions "
                            "on Networking 7(2), 1999: the loading with two outputs per input",
                            Pattern::parameters()};
  row.parameters.push_back(config::Parameter::real("own", 2.0 / 3.0)
                               .range(0, 1)
                               .doc("Probability that the destination is the terminal's own output"));
  return row;
}

}  // namespace

extern const core::TrafficRow row_diagonal;
const core::TrafficRow row_diagonal{info(), &make};

}  // namespace banyan::traffic::diagonal
