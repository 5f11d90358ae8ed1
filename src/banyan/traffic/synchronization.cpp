// Global synchronization (Wang, Siegel, Nichols, Abraham 1992, section 3): every terminal but the coordinator sends it
// one message, at a normally distributed time. A terminal's hot-spot flag is set from its message's generation to the
// end of the session (section 4.2).
#include <cmath>
#include <vector>

#include "banyan/base/math.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/core/traffic.hpp"

namespace banyan::traffic::synchronization {
namespace {

constexpr Stream kBirths{"synchronization: births"};

class Synchronization final : public core::Traffic {
 public:
  Synchronization(const config::Values& values, const core::TrafficContext& context)
      : seed_(context.seed),
        index_(context.index),
        ticks_per_cycle_(context.ticks_per_cycle),
        coordinator_(values.natural("coordinator")),
        mean_(values.real("mean")),
        deviation_(values.real("deviation")),
        fetch_add_(values.flag("fetch_add")),
        births_(context.terminals, kNever),
        words_(context.terminals) {}

  void begin(u32 replication) override {
    const Random random(seed_, kBirths, index_, replication);
    for (u32 t = 0; t < births_.size(); ++t) {
      if (t == coordinator_) continue;
      for (u64 attempt = 0;; ++attempt) {
        const Words words = random.at(t, attempt);
        // 0.5 ulp keeps the uniform inside (0, 1).
        const double u = unit_real(words[0], words[1]) + 0x1.0p-54;
        const double time = std::floor(mean_ + deviation_ * normal_quantile(u) + 0.5);
        if (time < 0.0) continue;  // before the start: redrawn
        births_[t] = static_cast<Tick>(time) * ticks_per_cycle_;
        words_[t] = words[2];
        break;
      }
    }
  }

  bool next(u32 terminal, u64 nth, Tick, core::Message& out) const noexcept override {
    if (nth != 0 || births_[terminal] == kNever) return false;
    out = {births_[terminal], coordinator_, 1, words_[terminal], core::kSynchronization};
    return true;
  }

  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    core::TrafficTraits traits{
        .fetch_adds = fetch_add_, .finite = true, .total_messages = births_.size() - 1, .hot_spot = coordinator_};
    traits.random = deviation_ > 0.0;
    return traits;
  }
  bool asks_shared_word(const core::Packet&) const noexcept override { return true; }
  bool pending(u32 terminal, Tick at) const noexcept override { return births_[terminal] <= at; }

 private:
  u64 seed_;
  u32 index_;
  Tick ticks_per_cycle_;
  u32 coordinator_;
  double mean_;
  double deviation_;
  bool fetch_add_;
  std::vector<Tick> births_;
  std::vector<u32> words_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  if (values.natural("coordinator") >= context.terminals) {
    values.fail("coordinator", "there is no such terminal",
                "use a terminal from 0 to " + std::to_string(context.terminals - 1));
  }
  if (context.terminals < 2) {
    values.fail("coordinator", "a synchronization needs at least 2 terminals", "use a larger network");
  }
  // One draw in 740 is not redrawn at three deviations below the start; further down it takes ever longer.
  if (values.real("mean") + 3.0 * values.real("deviation") < 0.0) {
    values.fail("mean", "practically every message would be generated before the start",
                "use a mean of at least -3 deviations");
  }
  return std::make_unique<Synchronization>(values, context);
}

using config::Parameter;

}  // namespace

extern const core::TrafficRow row_synchronization;
const core::TrafficRow row_synchronization{
    {"synchronization",
     "One global synchronization: every other terminal sends the coordinator one message at a normally distributed "
     "time",
     "Wang, Siegel, Nichols, Abraham 1992, section 3; Abraham and Padmanabhan 1989",
     {Parameter::integer("coordinator", 0)
          .unit("terminals")
          .range(0, 4294967294.0)
          .doc("The hot spot: the terminal that collects the messages"),
      Parameter::real("mean", 3000)
          .unit("cycles")
          .range(-1e12, 1e12)
          .doc("Mean of the generation times, mu; rounded to cycles, redrawn when before the start"),
      Parameter::real("deviation", 10)
          .unit("cycles")
          .range(0, 1e12)
          .doc("Standard deviation of the generation times, sigma"),
      Parameter::boolean("fetch_add", false)
          .doc("Whether messages are fetch-and-adds of one memory word at the coordinator, each of which comes back "
               "with a value; the session ends when the last one is back")}},
    &make};

}  // namespace banyan::traffic::synchronization
