// Reading whole files: what is a file, and what is not?
#include "banyan/base/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

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

TEST(File, SaysWhyItCannotBeRead) {
  const std::pair<const char*, const char*> cases[] = {{"/nowhere/at/all", "No such file or directory"},
                                                       {"/", "it is a directory"},
                                                       {"/dev/zero", "it is neither a file nor a pipe"}};
  for (const auto& [path, reason] : cases) {
    std::string why;
    EXPECT_EQ(banyan::read_whole_file(path, &why), std::nullopt);
    EXPECT_EQ(why, reason);
  }
}

class Pipe : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove(path_);
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_ = testing::TempDir() + "banyan_file_test_pipe";
};

TEST_F(Pipe, ThatNobodyWritesIntoIsGivenUp) {
  std::string why;
  EXPECT_EQ(banyan::read_whole_file(path_, &why), std::nullopt);
  EXPECT_EQ(why, "nobody writes into this pipe");
}

TEST_F(Pipe, ThatIsWrittenLateAndSlowlyIsReadToItsEnd) {
  std::thread writer([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::ofstream stream(path_, std::ios::binary);
    for (int i = 0; i < 3; ++i) {
      stream << std::string(100'000, static_cast<char>('a' + i)) << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const std::optional<std::string> text = banyan::read_whole_file(path_);
  writer.join();
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, std::string(100'000, 'a') + std::string(100'000, 'b') + std::string(100'000, 'c'));
}

TEST_F(Pipe, ThatIsClosedEmptyIsAnEmptyFile) {
  std::thread writer([this] { std::ofstream stream(path_, std::ios::binary); });
  const std::optional<std::string> text = banyan::read_whole_file(path_);
  writer.join();
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace banyan::file_test
