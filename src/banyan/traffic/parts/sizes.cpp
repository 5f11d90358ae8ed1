#include "banyan/traffic/parts/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "banyan/base/math.hpp"

namespace banyan::traffic {
bool is_changed(const config::Values& values, const std::vector<config::Parameter>& rows, std::string_view name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const config::Parameter& p) { return p.name == name; });
  return row != rows.end() && row->fallback && values.all().find(name)->second != *row->fallback;
}

std::vector<config::Parameter> Sizes::parameters() {
  using config::Parameter;
  return {
      Parameter::integer("size", 1)
          .unit("flits")
          .range(1, kLongestMessage)
          .doc("Length of every message, or its mean where size_distribution says geometric or exponential"),
      Parameter::choice("size_distribution", {"fixed", "list", "geometric", "exponential"}, "fixed")
          .doc("Lengths of messages: all alike, from a list (two-point: a list of two), or drawn with mean size; "
               "exponential lengths are rounded to the nearest flit, 1 at least"),
      Parameter::integers("sizes", {1})
          .unit("flits")
          .range(1, kLongestMessage)
          .doc("The lengths of size_distribution = \"list\""),
      Parameter::reals("size_weights", {1.0})
          .range(0, 1e12)
          .doc("How often each of the sizes is chosen, in any unit: one weight for all, or one per size"),
      Parameter::integer("size_limit", kLongestPacket)
          .unit("flits")
          .range(1, kLongestMessage)
          .doc("Longest message of a geometric or exponential distribution: longer draws are set to it"),
      Parameter::integer("max_packet", 0)
          .unit("flits")
          .range(0, kLongestPacket)
          .doc("Longest packet: longer messages are cut into packets of this length and a last one with the rest; 0: "
               "messages are not cut"),
  };
}

Sizes::Sizes(const config::Values& values, const core::TrafficContext& context)
    : seed_(context.seed), index_(context.index), size_(values.natural("size")), longest_(size_), mean_(size_) {
  const std::string& kind = values.text("size_distribution");
  if (kind == "list") {
    kind_ = Kind::list;
    read_list(values);
  } else if (kind != "fixed") {
    kind_ = kind == "geometric" ? Kind::geometric : Kind::exponential;
    read_continuous(values);
  }
  check_unused(values);
  if (values.natural("max_packet") != 0) longest_packet_ = values.natural("max_packet");
  if (longest_ > kLongestPacket && longest_packet_ == kNone) {
    const bool drawn = kind_ == Kind::geometric || kind_ == Kind::exponential;
    values.fail(drawn                 ? "size_limit"
                : kind_ == Kind::list ? "sizes"
                                      : "size",
                "a packet has at most " + std::to_string(kLongestPacket) + " flits",
                "cut the messages into packets with max_packet, or make them shorter");
  }
}

void Sizes::check_unused(const config::Values& values) const {
  const bool drawn = kind_ == Kind::geometric || kind_ == Kind::exponential;
  const auto refuse = [&](const char* name, const char* needs) {
    if (!is_changed(values, parameters(), name)) return;
    values.fail(name, "it is not used with size_distribution = \"" + values.text("size_distribution") + "\"",
                std::string("remove it, or use size_distribution = ") + needs);
  };
  if (kind_ == Kind::list) {
    refuse("size", "\"fixed\"");
  } else {
    refuse("sizes", "\"list\"");
    refuse("size_weights", "\"list\"");
  }
  if (!drawn) refuse("size_limit", "\"geometric\" or \"exponential\"");
}

void Sizes::read_list(const config::Values& values) {
  const std::vector<i64>& sizes = values.integers("sizes");
  const std::vector<double>& weights = values.reals("size_weights");
  if (sizes.empty()) values.fail("sizes", "there is no length to choose", "give at least one, for example [1, 5]");
  if (weights.size() != 1 && weights.size() != sizes.size()) {
    values.fail("size_weights",
                std::to_string(weights.size()) + " weights for " + std::to_string(sizes.size()) + " sizes",
                "give one weight per size, or one for all");
  }
  const auto weight = [&](std::size_t i) { return weights[weights.size() == 1 ? 0 : i]; };
  double total = 0.0;
  for (std::size_t i = 0; i < sizes.size(); ++i) total += weight(i);
  if (total <= 0.0) {
    values.fail("size_weights", "no size has a weight above 0", "give at least one size a weight above 0");
  }
  mean_ = 0.0;
  longest_ = 0;
  double sum = 0.0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sum += weight(i);
    mean_ += weight(i) / total * static_cast<double>(sizes[i]);
    lengths_.push_back(static_cast<u32>(sizes[i]));
    below_.push_back(static_cast<u64>(sum / total * 0x1.0p32));
    if (weight(i) > 0.0) longest_ = std::max(longest_, lengths_.back());
  }
  below_.back() = u64{1} << 32U;
}

void Sizes::read_continuous(const config::Values& values) {
  longest_ = values.natural("size_limit");
  const double m = size_;
  if (size_ > longest_) {
    values.fail("size_limit", "the mean length " + std::to_string(size_) + " is above the limit",
                "raise size_limit or lower size");
  }
  // The mean is the sum of P(length >= k) over k = 1 ... limit.
  if (kind_ == Kind::geometric) {
    geometric_ = GeometricGap(1.0 / m);
    mean_ = m * (1.0 - portable_pow(1.0 - 1.0 / m, longest_));
  } else {
    const double ratio = portable_exp(-1.0 / m);
    mean_ = 1.0 + portable_exp(-1.5 / m) * (1.0 - portable_pow(ratio, longest_ - 1.0)) / (1.0 - ratio);
  }
}

u32 Sizes::draw(u32 terminal, u64 nth) const noexcept {
  const Words words = random_.at(terminal, nth);
  const u64 word = static_cast<u64>(words[0]) << 32U | words[1];
  switch (kind_) {
    case Kind::fixed:
      break;
    case Kind::list: {
      std::size_t i = 0;
      while (words[2] >= below_[i]) ++i;
      return lengths_[i];
    }
    case Kind::geometric:
      return static_cast<u32>(std::min<u64>(geometric_(word), longest_));
    case Kind::exponential: {
      const double u = (static_cast<double>(word >> 11U) + 1.0) * 0x1.0p-53;
      const double length = 0.5 - portable_log(u) * size_;
      return length >= longest_ ? longest_ : std::max(1U, static_cast<u32>(length));
    }
  }
  return size_;
}

}  // namespace banyan::traffic
