// Do the processes generate at the moments that their definitions say?
#include "banyan/traffic/parts/injection.hpp"

#include <array>
#include <cmath>
#include <numeric>

#include "banyan/base/error.hpp"
#include "component_rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::injection_test {
namespace {

using test::make_traffic;
using test::messages_of;
using test::Settings;

constexpr u64 kMessages = 200000;

Settings process(const char* name, double load, i64 size = 1) {
  return {{"process", std::string(name)}, {"load", load}, {"size", size}};
}

/// Messages generated in each cycle, up to the last message's.
std::vector<u32> per_cycle(const std::vector<core::Message>& messages) {
  std::vector<u32> counts(messages.back().birth + 1, 0);
  for (const core::Message& m : messages) ++counts[m.birth];
  return counts;
}

/// Distances are no whole numbers of cycles, and those below 0 are set to 0: neither changes the load.
TEST(Injection, NormalDistancesOfferTheirLoadWhateverTheirSpread) {
  for (const double load : {0.02, 0.3, 0.67, 0.7, 0.97, 1.0}) {
    for (const double spread : {0.0, 0.05, 0.1, 0.5, 1.0, 4.0}) {
      for (const char* is : {"deviation", "variance"}) {
        Settings settings = process("normal", load);
        settings.emplace_back("spread", spread);
        settings.emplace_back("spread_is", std::string(is));
        const auto traffic = make_traffic(traffic::uniform::row_uniform, settings, 16);
        EXPECT_NEAR(traffic->offered_load(), load, 1e-9) << load << ", " << spread << ", " << is;
        const auto messages = messages_of(*traffic, 2, kMessages);
        // The deviation of a distance is at most the spread times its mean, or the root of that.
        const double deviation = std::max(spread, std::sqrt(spread * load)) / std::sqrt(kMessages);
        EXPECT_NEAR(test::measured_load(messages), load, load * (5 * deviation + 1e-4))
            << load << ", " << spread << ", " << is;
      }
    }
  }
}

TEST(Injection, EveryProcessOffersItsLoad) {
  for (const double load : {0.02, 0.3}) {
    for (const char* name : {"bernoulli", "poisson", "on_off"}) {
      const auto messages =
          messages_of(*make_traffic(traffic::uniform::row_uniform, process(name, load, 4), 16), 2, kMessages);
      // Bursts of 10 cycles: the deviation of the number of messages is at most about sqrt(10) times Poisson's.
      const double deviation = std::sqrt((std::string(name) == "on_off" ? 10.0 : 1.0) / kMessages);
      EXPECT_NEAR(test::measured_load(messages), load, load * 5 * deviation) << name;
    }
  }
}

TEST(Injection, PoissonCountsPerCycleHaveThePoissonDistribution) {
  const double rate = 0.7;
  const auto counts =
      per_cycle(messages_of(*make_traffic(traffic::uniform::row_uniform, process("poisson", rate), 16), 2, kMessages));
  const double n = static_cast<double>(counts.size());
  double p = std::exp(-rate);
  for (u32 k = 0; k <= 4; ++k) {
    test::expect_share(static_cast<double>(std::count(counts.begin(), counts.end(), k)) / n, p, n);
    p *= rate / (k + 1);
  }
  // Neighbouring cycles are independent.
  double both = 0.0;
  for (std::size_t i = 1; i < counts.size(); ++i) both += counts[i - 1] == 0 && counts[i] == 0 ? 1.0 : 0.0;
  EXPECT_NEAR(both / n, std::exp(-2 * rate), 5 * std::sqrt(2 * std::exp(-2 * rate) / n));
}

TEST(Injection, BurstsAndPausesHaveTheirMeanLengths) {
  // A load of burst / (burst + pause) means a message in every cycle of a burst: bursts can be seen.
  Settings settings = process("on_off", 0.25);
  settings.insert(settings.end(), {{"burst", 5.0}, {"pause", 15.0}});
  const auto messages = messages_of(*make_traffic(traffic::uniform::row_uniform, settings, 16), 9, kMessages);
  std::vector<Tick> bursts;
  std::vector<Tick> pauses;
  Tick begin = messages.front().birth;
  for (std::size_t i = 1; i < messages.size(); ++i) {
    const Tick gap = messages[i].birth - messages[i - 1].birth;
    if (gap == 1) continue;
    bursts.push_back(messages[i - 1].birth + 1 - begin);
    pauses.push_back(gap - 1);
    begin = messages[i].birth;
  }
  const auto expect_geometric = [](const std::vector<Tick>& lengths, double mean) {
    const double n = static_cast<double>(lengths.size());
    double sum = 0.0;
    for (const Tick t : lengths) sum += static_cast<double>(t);
    EXPECT_NEAR(sum / n, mean, 5 * mean / std::sqrt(n));
    test::expect_share(static_cast<double>(std::count(lengths.begin(), lengths.end(), Tick{1})) / n, 1.0 / mean, n);
  };
  expect_geometric(bursts, 5.0);
  expect_geometric(pauses, 15.0);
}

TEST(Injection, AtTheStartTerminalsAreInBurstsAsOftenAsLater) {
  Settings settings = process("on_off", 0.25);
  settings.insert(settings.end(), {{"burst", 50.0}, {"pause", 150.0}});
  constexpr u32 kTerminals = 20000;
  const auto traffic = make_traffic(traffic::uniform::row_uniform, settings, kTerminals);
  double at_zero = 0.0;
  for (u32 t = 0; t < kTerminals; ++t) at_zero += messages_of(*traffic, t, 1).front().birth == 0 ? 1.0 : 0.0;
  test::expect_share(at_zero / kTerminals, 0.25, kTerminals);
}

TEST(Injection, BirthsNeverGoBackAndRepeatForOneAddress) {
  for (const char* name : {"bernoulli", "poisson", "on_off"}) {
    const auto traffic = make_traffic(traffic::uniform::row_uniform, process(name, 0.4), 16);
    const auto once = messages_of(*traffic, 4, 5000);
    const auto again = messages_of(*traffic, 4, 5000);
    const auto other = messages_of(*traffic, 5, 5000);
    u64 equal = 0;
    for (std::size_t i = 0; i < once.size(); ++i) {
      EXPECT_EQ(once[i].birth, again[i].birth);
      EXPECT_GE(once[i].birth, once[i == 0 ? 0 : i - 1].birth);
      equal += once[i].birth == other[i].birth ? 1U : 0U;
    }
    EXPECT_LT(equal, 500U) << name;
  }
}

Settings normal(double spread, double load, i64 size = 1) {
  Settings settings = process("normal", load, size);
  settings.push_back({"spread", spread});
  return settings;
}

/// Births of many terminals, by cycle.
std::vector<u32> births_per_cycle(const Settings& settings, u32 terminals, Tick cycles) {
  const auto traffic = make_traffic(traffic::uniform::row_uniform, settings, terminals);
  std::vector<u32> counts(cycles, 0);
  for (u32 t = 0; t < terminals; ++t) {
    core::Message message;
    Tick previous = kNever;
    for (u64 nth = 0; traffic->next(t, nth, previous, message) && message.birth < cycles; ++nth) {
      previous = message.birth;
      ++counts[message.birth];
    }
  }
  return counts;
}

/// Variance over mean of the births per cycle: 1 for Poisson's counts, the number of terminals when they beat in time.
double dispersion(const std::vector<u32>& counts) {
  const double n = static_cast<double>(counts.size());
  double sum = 0.0;
  double squares = 0.0;
  for (const u32 c : counts) {
    sum += c;
    squares += static_cast<double>(c) * c;
  }
  return (squares / n - sum / n * (sum / n)) / (sum / n);
}

TEST(Injection, TerminalsDoNotBeatInTime) {
  constexpr u32 kTerminals = 64;
  for (const double load : {0.02, 0.2}) {
    for (const char* name : {"bernoulli", "poisson"}) {
      EXPECT_LT(dispersion(births_per_cycle(process(name, load), kTerminals, 20'000)), 1.2) << name;
    }
    // Ten cycles of a burst make its terminal's own births come together.
    EXPECT_LT(dispersion(births_per_cycle(process("on_off", load), kTerminals, 20'000)), 1.2);
    for (const double spread : {0.0, 0.001, 0.05, 0.5, 2.0}) {
      // Fixed phases of 64 terminals are as uneven as 64 draws: 1 +- 5 sqrt(2 / 50).
      EXPECT_LT(dispersion(births_per_cycle(normal(spread, load), kTerminals, 20'000)), 3.0) << spread;
    }
  }
}

/// The share of terminals whose first message comes in cycle t is that of a process without a beginning: with gaps X,
/// the integral of P(X > u) over the cycle, divided by E[X].
TEST(Injection, NormalDistancesBeginInTheirStationaryState) {
  constexpr u32 kTerminals = 40'000;
  constexpr int kParts = 50;  // of a cycle, in the integral
  for (const double spread : {0.0, 0.2, 1.0}) {
    const double distance = 20.0;
    const auto traffic = make_traffic(traffic::uniform::row_uniform, normal(spread, 1.0 / distance), kTerminals);
    std::vector<double> first(400, 0.0);
    for (u32 t = 0; t < kTerminals; ++t) {
      core::Message message;
      ASSERT_TRUE(traffic->next(t, 0, kNever, message));
      if (message.birth < first.size()) first[message.birth] += 1.0 / kTerminals;
    }
    // The normal numbers have the mean with which E max(0, X) is the distance.
    const auto phi = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); };
    const double density = std::exp(-0.5 / (spread * spread)) / std::sqrt(2.0 * M_PI);
    const double mean = spread > 0.0 ? distance / (phi(1.0 / spread) + spread * density) : distance;
    for (std::size_t t = 0; t < first.size(); ++t) {
      double longer = 0.0;
      for (int i = 0; i < kParts; ++i) {
        const double u = static_cast<double>(t) + (i + 0.5) / kParts;
        longer += (spread > 0.0 ? phi((mean - u) / (spread * mean)) : u < mean ? 1.0 : 0.0) / kParts;
      }
      test::expect_share(first[t], longer / distance, kTerminals);
    }
    // So there is no rush at the begin, and no lull after it.
    const auto counts = births_per_cycle(normal(spread, 1.0 / distance), kTerminals, 60);
    const double expected = kTerminals / distance;
    for (std::size_t t = 0; t < counts.size(); ++t) EXPECT_NEAR(counts[t], expected, 6.0 * std::sqrt(expected)) << t;
  }
}

/// However small a rate is, half of the terminals have their first message before the time that it says, nothing goes
/// back in time, and nobody works without end for a message that comes after the end of every run.
TEST(Injection, TinyRatesKeepTheirLaw) {
  constexpr u32 kTerminals = 2000;
  for (const double load : {1e-3, 1e-7, 1e-12, 3e-15, 1e-17, 1e-300, 5e-324}) {
    for (const char* name : {"bernoulli", "poisson", "normal", "on_off"}) {
      Settings settings = process(name, load);
      if (std::string(name) == "on_off") settings.insert(settings.end(), {{"burst", 1.0}, {"pause", 1.0}});
      for (const Tick ticks : {Tick{1}, Tick{4}}) {
        config::Values values = config::Values::defaults(traffic::uniform::row_uniform.info);
        for (const auto& [key, value] : settings) values.set(key, value);
        const auto traffic = traffic::uniform::row_uniform.make(values, {nullptr, kTerminals, 0, 11, ticks});
        traffic->begin(0);
        // Exponential, nearly; of normal distances the first one is half of one, nearly.
        const double median = (std::string(name) == "normal" ? 0.5 : std::log(2.0)) / load * static_cast<double>(ticks);
        double before = 0.0;
        for (u32 t = 0; t < kTerminals; ++t) {
          core::Message message;
          if (!traffic->next(t, 0, kNever, message)) continue;
          before += static_cast<double>(message.birth) < median ? 1.0 : 0.0;
          const Tick birth = message.birth;
          EXPECT_LT(birth, Tick{1} << 62U) << name << " " << load;
          const bool second = traffic->next(t, 1, birth, message);
          EXPECT_TRUE(!second || message.birth >= birth) << name << " " << load;
        }
        if (load >= 3e-15) {
          EXPECT_NEAR(before / kTerminals, 0.5, 0.06) << name << ", " << load << " in " << ticks << " ticks";
        } else if (load < 1e-20) {
          EXPECT_EQ(before, 0.0) << name << ", " << load << " in " << ticks << " ticks";
        }
      }
    }
  }
}

/// Long gaps of bursts are drawn in two ways, one after the other: together they have the law of the chain of bursts
/// and pauses, cycle by cycle.
TEST(Injection, LongGapsOfBurstsHaveTheLawOfTheirChain) {
  constexpr u64 kGaps = 4000;
  for (const auto& [burst, pause, load] : {std::array{2.0, 3.0, 2e-4}, std::array{1.0, 1.0, 1e-4}}) {
    Settings settings = process("on_off", load);
    settings.insert(settings.end(), {{"burst", burst}, {"pause", pause}});
    const auto messages = messages_of(*make_traffic(traffic::uniform::row_uniform, settings, 16), 3, kGaps + 1);
    const double rate = load * (burst + pause) / burst;
    double in_burst = 1.0;  // without a message so far
    double in_pause = 0.0;
    for (Tick t = 1; t <= 40'000; ++t) {
      const double next = in_burst * (1 - 1 / burst) * (1 - rate) + in_pause / pause * (1 - rate);
      in_pause = in_burst / burst + in_pause * (1 - 1 / pause);
      in_burst = next;
      if (t != 3 && t != 2000 && t != 12'001 && t != 25'000 && t != 40'000) continue;
      double longer = 0.0;
      for (u64 i = 1; i <= kGaps; ++i) longer += messages[i].birth - messages[i - 1].birth > t ? 1.0 : 0.0;
      test::expect_share(longer / kGaps, in_burst + in_pause, kGaps);
    }
  }
}

TEST(Injection, NoLoadIsNoMessage) {
  for (const char* name : {"bernoulli", "poisson", "on_off"}) {
    EXPECT_TRUE(messages_of(*make_traffic(traffic::uniform::row_uniform, process(name, 0.0), 16), 0, 3).empty())
        << name;
  }
}

TEST(Injection, BurstsThatCannotCarryTheLoadAreRefused) {
  Settings settings = process("on_off", 0.5);
  settings.insert(settings.end(), {{"burst", 5.0}, {"pause", 15.0}});
  EXPECT_THROW(make_traffic(traffic::uniform::row_uniform, settings, 16), ConfigError);
  EXPECT_THROW(make_traffic(traffic::uniform::row_uniform, {{"burst", 5.0}}, 16), ConfigError);
  EXPECT_THROW(make_traffic(traffic::uniform::row_uniform, {{"process", std::string("poisson")}, {"pause", 5.0}}, 16),
               ConfigError);
}

}  // namespace
}  // namespace banyan::traffic::injection_test
