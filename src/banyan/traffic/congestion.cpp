// Corner cases of congestion (Garcia et al. 2005, table 1): most terminals send to random destinations all the time,
// the others send to a few destinations at the full rate for a while, suddenly or one after the other.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/traffic/parts/timed.hpp"

namespace banyan::traffic::congestion {
namespace {

constexpr Stream kPlaces{"congestion: places of the sources"};
constexpr Stream kDestinations{"congestion: destinations"};
constexpr Stream kPhases{"congestion: phases"};

class Congestion final : public core::Traffic {
 public:
  Congestion(const config::Values& values, const core::TrafficContext& context)
      : seed_(context.seed),
        index_(context.index),
        terminals_(context.terminals),
        size_(values.natural("size")),
        normal_load_(values.real("normal_load")),
        limit_(values.natural("limit")),
        part_(values.text("part") == "both"     ? Part::both
              : values.text("part") == "normal" ? Part::normal
                                                : Part::congestion),
        normal_(size_, std::max(normal_load_, 1e-9), context.ticks_per_cycle),
        hot_(size_, values.real("congestion_load"), context.ticks_per_cycle),
        sources_(terminals_),
        phases_(terminals_) {
    const double end = values.real("normal_end");
    if (end > 0.0) normal_end_ = cycles_of(values, context, "normal_end", end);
    choose_sources(values, context);
  }

  void begin(u32 replication) override {
    random_ = Random(seed_, kDestinations, index_, replication);
    const Random phases(seed_, kPhases, index_, replication);
    // Sources do not beat in time: each begins somewhere in its first gap.
    for (u32 t = 0; t < terminals_; ++t) { phases_[t] = phases.at(t, 0)[0] % std::max<Tick>(normal_.gap(), 1); }
  }

  bool next(u32 terminal, u64 nth, Tick, core::Message& out) const noexcept override {
    out.flits = size_;
    out.flags = 0;
    const Source& source = sources_[terminal];
    if (source.destination != kNone) {
      if (part_ == Part::normal) return false;
      out.destination = source.destination;
      out.word = random_.at(terminal, nth)[1];
      out.birth = source.begin + hot_.at(nth);
      return out.birth < source.end;
    }
    if (normal_load_ <= 0.0 || part_ == Part::congestion) return false;
    const Words words = random_.at(terminal, nth);
    const u32 other = below(words[0], terminals_ - 1);
    out.destination = other + (other >= terminal ? 1U : 0U);
    out.word = words[1];
    out.birth = phases_[terminal] + normal_.at(nth);
    return out.birth < normal_end_;
  }

  double offered_load() const noexcept override {
    if (part_ == Part::congestion) return 0.0;
    return normal_load_ * static_cast<double>(terminals_ - congested_) / static_cast<double>(terminals_);
  }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    return {.longest_message = size_,
            .shortest_message = size_,
            .disturbance = part_ == Part::normal ? core::Disturbance{} : disturbance_,
            .streams = part_ == Part::normal ? 0 : static_cast<u32>(streams_.size())};
  }
  Stream stream(u32 number) const noexcept override { return streams_[number]; }
  u32 stream_of(const core::Packet& packet) const noexcept override { return sources_[packet.source].stream; }
  u32 waiting_limit(u32 terminal) const noexcept override {
    return sources_[terminal].destination == kNone || limit_ == 0 ? kNone : limit_ * size_;
  }

 private:
  struct Source {
    u32 destination = kNone;  ///< of a congestion source
    Tick begin = 0;
    Tick end = 0;
    u32 stream = kNone;
  };
  enum class Part { both, congestion, normal };

  void choose_sources(const config::Values& values, const core::TrafficContext& context) {
    const std::vector<i64>& destinations = values.integers("destinations");
    const std::vector<double>& shares = values.reals("shares");
    if (shares.size() != 1 && shares.size() != destinations.size()) {
      values.fail("shares", fmt::format("{} shares for {} destinations", shares.size(), destinations.size()),
                  "give one share per destination, or one for all");
    }
    const Tick start = cycles_of(values, context, "start", values.real("start"));
    const Tick duration = cycles_of(values, context, "duration", values.real("duration"));
    const Tick interval =
        values.text("kind") == "incremental" ? cycles_of(values, context, "interval", values.real("interval")) : 0;
    const std::vector<u32> order = places(values);
    std::size_t next = 0;
    for (std::size_t i = 0; i < destinations.size(); ++i) {
      if (destinations[i] < 0 || destinations[i] >= i64{terminals_}) {
        values.fail("destinations", fmt::format("there is no terminal {}", destinations[i]),
                    fmt::format("use terminals from 0 to {}", terminals_ - 1));
      }
      const double share = shares[shares.size() == 1 ? 0 : i];
      const auto count = static_cast<u32>(std::llround(share * terminals_));
      for (u32 n = 0; n < count; ++n) {
        while (next < order.size() && is_destination(destinations, order[next])) ++next;
        if (next == order.size()) {
          values.fail("shares", "there are not enough terminals for all congestion sources",
                      "use smaller shares: they add up to less than 1");
        }
        const Tick begin = start + n * interval;
        sources_[order[next++]] = {static_cast<u32>(destinations[i]), begin, begin + duration,
                                   static_cast<u32>(streams_.size())};
        streams_.push_back({begin, 0, static_cast<u32>(destinations[i]), begin + duration});
        ++congested_;
        disturbance_.from = start;
        disturbance_.to = disturbance_.to == kNever ? begin + duration : std::max(disturbance_.to, begin + duration);
      }
    }
  }

  static bool is_destination(const std::vector<i64>& destinations, u32 terminal) {
    return std::find(destinations.begin(), destinations.end(), i64{terminal}) != destinations.end();
  }

  /// All terminals, in the order in which they become congestion sources.
  [[nodiscard]] std::vector<u32> places(const config::Values& values) const {
    std::vector<u32> order(terminals_);
    std::iota(order.begin(), order.end(), 0U);
    const std::string& placement = values.text("placement");
    if (placement == "random") {
      const i64 own = values.integer("placement_seed");
      // The same places for the same placement_seed, whatever the traffic's number; so for both parts of one.
      const Random random = own == 0 ? Random(seed_, kPlaces, part_ == Part::both ? index_ + 1 : 1, 0)
                                     : Random(static_cast<u64>(own), kPlaces, 0, 0);
      for (u32 n = terminals_; n > 1; --n) std::swap(order[n - 1], order[below(random.at(n, 0)[0], n)]);
    } else if (placement == "spread") {
      // Digit reversal in base 2: every beginning of the sequence is spread evenly.
      const u32 bits = static_cast<u32>(std::bit_width(terminals_ - 1));
      const auto reversed = [&](u32 t) {
        u32 r = 0;
        for (u32 b = 0; b < bits; ++b) r |= (t >> b & 1U) << (bits - 1 - b);
        return r;
      };
      std::sort(order.begin(), order.end(), [&](u32 a, u32 b) { return reversed(a) < reversed(b); });
    }
    return order;
  }

  u64 seed_;
  u32 index_;
  u32 terminals_;
  u32 size_;
  double normal_load_;
  u32 limit_;
  Part part_;
  Tick normal_end_ = kNever;
  EvenGaps normal_;
  EvenGaps hot_;
  u32 congested_ = 0;
  core::Disturbance disturbance_;
  std::vector<Source> sources_;  ///< [terminal]
  std::vector<Stream> streams_;
  std::vector<Tick> phases_;  ///< [terminal]
  Random random_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  if (context.terminals < 2) {
    values.fail("destinations", "a network of one terminal has no other destination", "use a larger network");
  }
  return std::make_unique<Congestion>(values, context);
}

using config::Parameter;

}  // namespace

extern const core::TrafficRow row_congestion;
const core::TrafficRow row_congestion{
    {"congestion",
     "Random traffic of most terminals, and congestion sources that send to a few destinations for a while",
     "P. J. Garcia et al., Dynamic Evolution of Congestion Trees, DIAB-05-07-1, 2005, table 1",
     {
         Parameter::real("normal_load", 1.0)
             .range(0, 1)
             .unit("flits/cycle")
             .doc("What each of the other terminals sends to random destinations, beside itself"),
         Parameter::real("normal_end", 0).unit("ns").range(0, 1e15).doc("When they stop; 0: never"),
         Parameter::real("congestion_load", 1.0)
             .above(0)
             .range(0, EvenGaps::kMostLoad)
             .unit("flits/cycle")
             .doc("What each congestion source sends while it is on"),
         Parameter::integers("destinations", {32}).unit("terminals").doc("One congestion tree grows to each"),
         Parameter::reals("shares", {0.25})
             .range(0, 1)
             .doc("Fraction of the terminals that are congestion sources, per destination or one for all"),
         Parameter::choice("part", {"both", "congestion", "normal"}, "both")
             .doc("What this traffic is: congestion sources and the other terminals; or one of them alone, so that two "
                  "traffics with the same parameters but this are both, and are counted apart"),
         Parameter::choice("kind", {"sudden", "incremental"}, "sudden")
             .doc("All congestion sources of a tree start together, or one after the other"),
         Parameter::real("start", 800'000).unit("ns").range(0, 1e15).doc("When the first congestion source starts"),
         Parameter::real("duration", 300'000).unit("ns").range(0, 1e15).doc("How long each congestion source sends"),
         Parameter::real("interval", 20'000)
             .only_with("kind", {"incremental"})
             .unit("ns")
             .range(0, 1e15)
             .doc("Time between two starts of incremental congestion"),
         Parameter::choice("placement", {"random", "spread", "clustered"}, "random")
             .doc("Which terminals are congestion sources: random ones, evenly spread, or the first"),
         Parameter::integer("placement_seed", 0)
             .only_with("placement", {"random"})
             .range(0, 1e15)
             .doc("Seed of a random placement; 0: the run's"),
         Parameter::integer("size", 64).unit("flits").range(1, 1 << 24).doc("Length of a message"),
         Parameter::integer("limit", 64)
             .unit("messages")
             .range(0, 1 << 20)
             .doc("Messages that may wait at a congestion source; more are not generated; 0: no limit. A fit: it lets "
                  "the "
                  "tree end with the sources"),
     }},
    &make};

}  // namespace banyan::traffic::congestion
