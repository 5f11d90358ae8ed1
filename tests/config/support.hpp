// Shared by the tests of the config room: an example component, and the error that a piece of code throws.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "banyan/base/error.hpp"
#include "banyan/config/schema.hpp"

namespace banyan::config {

inline const ComponentInfo& example() {
  static const ComponentInfo info{"example",
                                  "An example",
                                  "none",
                                  {
                                      Parameter::integer("buffer", 12).unit("packets").range(1, 65535).doc("Places"),
                                      Parameter::integer("size", 64).unit("bytes").range(1, 1e12).doc("Size"),
                                      Parameter::real("speed", 8.0).unit("Gbps").above(0).doc("Speed"),
                                      Parameter::real("delay", 1.0).unit("ns").range(0, 1e15).doc("Delay"),
                                      Parameter::real("load", 0.5).range(0, 1).doc("Load"),
                                      Parameter::real("share", 10.0).unit("%").range(0, 100).doc("Share"),
                                      Parameter::boolean("include_self", true).doc("Flag"),
                                      Parameter::choice("order", {"ascending", "permuted"}, "ascending").doc("Order"),
                                      Parameter::text("label", "").doc("Label"),
                                      Parameter::integers("faults", {}).range(0, 99).doc("Faults"),
                                      Parameter::reals("weights", {1.0}).doc("Weights"),
                                      Parameter::texts("names", {}).doc("Names"),
                                  }};
  return info;
}

/// The ConfigError that `act` throws; fails the test when it throws none.
template <typename Act>
ConfigError error_of(Act act) {
  try {
    act();
  } catch (const ConfigError& error) { return error; }
  ADD_FAILURE() << "no error was thrown";
  return {{}, "", ""};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace banyan::config
