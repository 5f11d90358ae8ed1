// Samples of a traffic, for tests against its definition.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/core/traffic.hpp"

namespace banyan::test {

using Settings = std::vector<std::pair<std::string, config::Value>>;

inline std::unique_ptr<core::Traffic> make_traffic(const core::TrafficRow& row, const Settings& settings, u32 terminals,
                                                   const core::Topology* topology = nullptr) {
  config::Values values(row.info.name, {});
  for (const config::Parameter& p : row.info.parameters) {
    if (p.fallback) values.set(p.name, *p.fallback, {}, false);
  }
  for (const auto& [name, value] : settings) values.set(name, value);
  auto traffic = row.make(values, {topology, terminals, 0, 11, 1});
  traffic->begin(0);
  return traffic;
}

/// The first messages of a terminal.
inline std::vector<core::Message> messages_of(const core::Traffic& traffic, u32 terminal, u64 count) {
  std::vector<core::Message> all;
  core::Message message;
  Tick previous = kNever;
  for (u64 nth = 0; nth < count && traffic.next(terminal, nth, previous, message); ++nth) {
    previous = message.birth;
    all.push_back(message);
  }
  return all;
}

/// Share of a terminal's messages that each terminal gets.
inline std::vector<double> shares_of(const core::Traffic& traffic, u32 terminal, u32 terminals, u64 count) {
  std::vector<double> shares(terminals, 0.0);
  for (const core::Message& m : messages_of(traffic, terminal, count)) {
    shares.at(m.destination) += 1.0 / static_cast<double>(count);
  }
  return shares;
}

/// |measured - p| within five standard deviations of a binomial share of n draws.
inline void expect_share(double measured, double p, double n) {
  EXPECT_NEAR(measured, p, 5.0 * std::sqrt(p * (1.0 - p) / n) + 1e-9);
}

/// Flits per cycle of a terminal, up to its last message.
inline double measured_load(const std::vector<core::Message>& messages) {
  double flits = 0.0;
  for (const core::Message& m : messages) flits += m.flits;
  return flits / static_cast<double>(messages.back().birth + 1);
}

}  // namespace banyan::test
