// Reading whole files: what is a file, and what is not?
#include "banyan/base/file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace banyan::file_test {
namespace {

TEST(File, GivesEveryByte) {
  const std::string path = testing::TempDir() + "banyan_file_test";
  const std::string text = std::string("a\0b\n", 4) + std::string(200'000, 'x');
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(banyan::read_whole_file(path), text);
  std::ofstream(path, std::ios::binary | std::ios::trunc);
  EXPECT_EQ(banyan::read_whole_file(path), "");
  std::filesystem::remove(path);
}

TEST(File, GivesNothingForWhatCannotBeRead) {
  for (const char* path : {"/nowhere/at/all", "/", "/dev/zero", "/proc/self/mem"}) {
    EXPECT_EQ(banyan::read_whole_file(path), std::nullopt) << path;
  }
}

}  // namespace
}  // namespace banyan::file_test
