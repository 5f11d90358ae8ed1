// Small workload files for tests, and what is said about bad ones.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "banyan/base/error.hpp"
#include "banyan/workload/formats.hpp"

namespace banyan::workload {

/// Writes a file of the running test and returns its path.
inline std::string file_of(std::string_view content, const std::string& name = "a") {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "banyan_workload" /
                                       (std::string(test->test_suite_name()) + "." + test->name());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << content;
  return (folder / name).string();
}

inline Program program_of(std::string_view content) { return read_workload(file_of(content)); }

/// "LINE:COLUMN: CAUSE" of the error that reading gives; empty: none.
inline std::string refusal_of(std::string_view content) {
  try {
    static_cast<void>(program_of(content));
  } catch (const ConfigError& error) {
    return std::to_string(error.where().line) + ":" + std::to_string(error.where().column) + ": " + error.cause();
  }
  return "";
}

}  // namespace banyan::workload
