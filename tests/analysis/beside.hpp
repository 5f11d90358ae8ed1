// A model beside a simulation: short experiments that name an analysis.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"

namespace banyan::test {

inline api::Result run_toml(const std::string& text, const api::Overrides& overrides = {}) {
  return api::run(api::read_experiments_text(text, "test", overrides).points.front());
}

/// Cause of the refusal; "" when it runs.
inline std::string refused(const std::string& text, const api::Overrides& overrides = {}) {
  try {
    static_cast<void>(api::check(api::read_experiments_text(text, "test", overrides).points.front()));
  } catch (const ConfigError& error) { return error.cause(); }
  return "";
}

}  // namespace banyan::test
