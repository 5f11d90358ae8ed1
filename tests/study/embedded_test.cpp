// Does the program carry the studies' folders as they are?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "banyan/study/study.hpp"
#include "build_info.hpp"

namespace banyan::study::embedded_test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(EmbeddedStudies, AreAllFoldersWithClaims) {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(fs::path(BANYAN_SOURCE_DIR) / "studies")) {
    if (fs::exists(entry.path() / "claims.cpp")) folders.insert(entry.path().filename().string());
  }
  std::set<std::string> slugs;
  std::string previous;
  for (const Study& study : studies()) {
    EXPECT_LT(previous, study.row->slug);
    previous = study.row->slug;
    slugs.insert(previous);
  }
  EXPECT_EQ(folders, slugs);
  EXPECT_TRUE(slugs.contains("extra-stage-cube"));
}

TEST(EmbeddedStudies, HoldTheTextsOfTheirFolders) {
  for (const Study& study : studies()) {
    const fs::path folder = fs::path(BANYAN_SOURCE_DIR) / "studies" / study.row->slug;
    std::set<std::string> texts;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".toml" || extension == ".md") texts.insert(entry.path().filename().string());
    }
    std::set<std::string> embedded;
    for (const EmbeddedFile& file : study.files) {
      embedded.emplace(file.name);
      EXPECT_EQ(file.text, read(folder / file.name)) << file.name;
    }
    EXPECT_EQ(texts, embedded);
    EXPECT_TRUE(embedded.contains("study.toml"));
    EXPECT_TRUE(embedded.contains("README.md"));
  }
}

}  // namespace
}  // namespace banyan::study::embedded_test
