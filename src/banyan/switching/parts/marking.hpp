// When a switch marks a packet that leaves one of its queues: the parameters and the rule that models share.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "banyan/config/schema.hpp"
#include "banyan/core/hop_random.hpp"

namespace banyan::switching::parts {

/// Marks by the length of the queue that the packet leaves, itself included: below `low` none, from there on a share
/// that grows up to `probability` at `high`, above it the share `above`. Equal thresholds are those of DCTCP,
/// others those of random early detection, as DCQCN uses it; a share above them is InfiniBand's marking rate.
/// `root_only`: where the way ahead is free alone, as InfiniBand tells roots from victims.
struct Marking {
  u32 low = 0;
  u32 high = 0;  ///< 0: nothing is marked
  double probability = 1.0;
  double above = 1.0;
  bool root_only = false;

  [[nodiscard]] bool on() const noexcept { return high != 0; }
  [[nodiscard]] bool may_mark(u32 length, bool free) const noexcept { return length > low && (free || !root_only); }
  /// `word()`: drawn where neither none nor all are marked. `free`: the port has credit for what comes next.
  template <class Word>
  [[nodiscard]] bool marks(u32 length, bool free, Word&& word) const noexcept {
    if (!may_mark(length, free)) return false;
    if (length > high) return above >= 1.0 || static_cast<double>(word()) < above * 0x1p32;
    const double share = probability * (length - low) / (high - low);
    return static_cast<double>(word()) < share * 0x1p32;
  }
};

/// Whether some packets are marked and some not whose queues are equally long.
[[nodiscard]] inline bool draws_marks(const config::Values& values) {
  return values.natural("mark.high") != 0 &&
         (values.natural("mark.low") < values.natural("mark.high") || values.real("mark.above") < 1.0);
}

/// `own`, and the parameters of marking. `unit`: of the thresholds.
[[nodiscard]] inline std::vector<config::Parameter> with_marking(std::vector<config::Parameter> own, const char* unit) {
  using config::Parameter;
  const std::vector<Parameter> marking{
      Parameter::integer("mark.low", 0)
          .unit(unit)
          .range(0, 1'000'000'000)
          .in_flight()
          .doc("Length of the queue that a packet leaves, up to which the packet is not marked"),
      Parameter::integer("mark.high", 0)
          .unit(unit)
          .range(0, 1'000'000'000)
          .in_flight(config::InFlight::above_0)
          .doc("Length above which mark.above of them are marked; 0: no packet is marked"),
      Parameter::real("mark.probability", 1.0)
          .only_with("mark.high")
          .range(0, 1)
          .in_flight()
          .doc("Share that is marked at mark.high; from 0 at mark.low it grows evenly"),
      Parameter::real("mark.above", 1.0)
          .only_with("mark.high")
          .above(0)
          .range(0, 1)
          .in_flight()
          .doc("Share that is marked above mark.high; 1 / (1 + r) is InfiniBand's marking rate r"),
      Parameter::boolean("mark.root_only", false)
          .only_with("mark.high")
          .doc("Mark only at a port with credit for what comes next, as InfiniBand's switches do: queues that wait "
               "behind a congested port elsewhere are no cause")};
  own.insert(own.end(), marking.begin(), marking.end());
  return own;
}

/// `most`: the length that a queue can have; `ever`: with the largest buffers that the model takes.
[[nodiscard]] inline Marking read_marking(const config::Values& values, u64 most, u64 ever) {
  const Marking marking{values.natural("mark.low"), values.natural("mark.high"), values.real("mark.probability"),
                        values.real("mark.above"), values.flag("mark.root_only")};
  if (marking.high == 0 && marking.low != 0) {
    values.fail("mark.low", "mark.high = 0 marks nothing", "give mark.high too, at least as large as mark.low");
  }
  if (marking.low > marking.high) {
    values.fail("mark.low", fmt::format("mark.low = {} is above mark.high = {}", marking.low, marking.high),
                fmt::format("use mark.low = {} or less", marking.high));
  }
  if (marking.high > most) {
    constexpr double kHundred = 100.0;  // two digits behind the point, and none too few
    // A queue must be longer than mark.low, and a buffer may end with less than a packet.
    const u64 longest = std::max<u64>(marking.high, u64{marking.low} + 1);
    const double factor = std::ceil(kHundred * static_cast<double>(longest + 1) / static_cast<double>(most)) / kHundred;
    const std::string larger = longest < ever ? fmt::format("make the buffers {:.2f} times as large, or ", factor) : "";
    const u64 low = std::min(marking.low * most / marking.high, most - 1);
    values.fail(
        "mark.high", fmt::format("no queue here is longer than {}, and mark.high is {}", most, marking.high),
        fmt::format("{}cut both thresholds in proportion: mark.low = {} and mark.high = {}", larger, low, most));
  }
  if (marking.on() && marking.low >= most) {
    values.fail("mark.low", fmt::format("no queue here is longer than {}, so that nothing would be marked", most),
                fmt::format("use mark.low = {} or less, or larger buffers", most - 1));
  }
  return marking;
}

}  // namespace banyan::switching::parts
