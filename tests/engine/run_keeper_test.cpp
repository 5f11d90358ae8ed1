// Is a checkpoint of another program refused by name?
#include "banyan/engine/run_keeper.hpp"

#include <gtest/gtest.h>

#include "banyan/base/error.hpp"
#include "support/repository.hpp"

namespace banyan::engine::run_keeper_test {
namespace {

TEST(RunKeeper, ACheckpointOfAnotherProgramIsRefusedByName) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "state").string();
  RunKeeper keeper(
      {.file = file, .resume = "", .header = {.program = "1.1.0 (GNU 12, sources 0123)", .configuration = "{}"}});
  keeper.save();
  EXPECT_EQ(read_checkpoint_header(file, "1.1.0 (GNU 12, sources 0123)").configuration, "{}");
  try {
    static_cast<void>(read_checkpoint_header(file, "1.1.0 (GNU 12, sources 4567)"));
    FAIL() << "it was read";
  } catch (const ConfigError& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("was written by Banyan 1.1.0 (GNU 12, sources 0123), and this is Banyan 1.1.0 (GNU 12, sources "
                        "4567)"),
              std::string::npos)
        << said;
  }
}

}  // namespace
}  // namespace banyan::engine::run_keeper_test
