// Is every file of the fuzzer's corpus read or refused with a place, in every build?
#include <gtest/gtest.h>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "support/repository.hpp"

namespace banyan::api::corpus_test {
namespace {

TEST(Corpus, IsReadOrRefused) {
  int read = 0;
  int refused = 0;
  for (const std::string& file : test::project_files("tests/fuzz/corpus/", {".toml"})) {
    try {
      const ExperimentSet set =
          read_experiments_text(test::read_file(test::repository_root() / file), "corpus.toml", {});
      EXPECT_FALSE(set.points.empty()) << file;
      ++read;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.where().file, "corpus.toml") << file;
      EXPECT_FALSE(error.remedy().empty()) << file;
      ++refused;
    }
  }
  EXPECT_GE(read, 5);
  EXPECT_GE(refused, 3);
}

}  // namespace
}  // namespace banyan::api::corpus_test
