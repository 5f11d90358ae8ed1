// Reading and writing whole files: what is a file, and what is not?
#include "banyan/base/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
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

TEST_F(Pipe, ThatNobodyReadsIsGivenUp) {
  EXPECT_EQ(banyan::write_whole_file(path_, "text"), "nobody reads from this pipe");
  EXPECT_TRUE(banyan::is_pipe_or_device(path_)) << "and stays a pipe";
}

TEST_F(Pipe, ThatIsReadLateAndSlowlyGetsEveryByte) {
  const std::string text = std::string(100'000, 'a') + std::string(200'000, 'b');
  std::string got;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    got = banyan::read_whole_file(path_).value_or("nothing");
  });
  EXPECT_EQ(banyan::write_whole_file(path_, text), "");
  reader.join();
  EXPECT_EQ(got, text);
}

TEST_F(Pipe, WhoseReaderGoesAwayIsAnErrorAndNoSignal) {
  std::thread reader([&] { std::ifstream(path_).get(); });
  EXPECT_EQ(banyan::write_whole_file(path_, std::string(1'000'000, 'a')), "Broken pipe");
  reader.join();
}

TEST(File, IsWrittenAsAWholeOrNotAtAll) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "banyan_file_test_folder";
  fs::remove_all(folder);
  fs::create_directory(folder);
  const std::string file = folder / "a";
  const std::string link = folder / "link";
  EXPECT_EQ(banyan::write_whole_file(file, "one"), "");
  fs::create_symlink("a", link);
  EXPECT_EQ(banyan::write_whole_file(link, "two"), "");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(banyan::read_whole_file(file), "two");
  fs::create_symlink("loop", folder / "loop");
  EXPECT_EQ(banyan::write_whole_file(folder / "loop", "x"), "too many symbolic links");
  EXPECT_NE(banyan::write_whole_file(folder / "nowhere" / "b", "x"), "");
  EXPECT_NE(banyan::write_whole_file(folder, "x"), "") << "a folder";
  EXPECT_EQ(banyan::write_whole_file("/dev/null", "x"), "");
  EXPECT_EQ(banyan::write_whole_file("/dev/full", "x"), "No space left on device");
  EXPECT_TRUE(banyan::is_pipe_or_device("/dev/null") && banyan::is_pipe_or_device("/dev/full"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 3) << "and nothing temporary";
  fs::remove_all(folder);
}

}  // namespace
}  // namespace banyan::file_test
