// Do the three data paths of an input buffer move flits as in the paper's Figure 12, cell by cell?
#include "banyan/switching/worms/data_paths.hpp"

#include <gtest/gtest.h>

#include "switching/data_path_pipeline.hpp"

namespace banyan::data_paths_test {
namespace {

using namespace banyan;
using switching::DataPath;
using test::DataPathPipeline;
using Cell = DataPathPipeline::Cell;

TEST(DataPaths, Figure12TheRegisterStaircaseOfAFourByFourSwitchCellByCell) {
  DataPathPipeline pipeline(DataPath::register_staircase, 4, {1, 2, 3, 4});
  const Cell first{"reads chunk into R0"};
  const Cell second{"reads first flit from R0", "R1 <- Remaining flits from R0"};
  const Cell third{"puts 1st flit on output link", "reads next flit from R1", "R2 <- Remaining flits from R1"};
  const Cell fourth{"puts 2nd flit on output link", "reads next flit from R2", "R3 <- Remaining flits from R2"};
  const Cell fifth{"puts 3rd flit on output link", "reads next flit from R3", "and next chunk into R0"};
  const std::vector<Cell> figure{first, second, third, fourth, fifth};
  for (u32 cycle = 1; cycle <= 5; ++cycle) {
    const std::vector<Cell> cells = pipeline.cycle();
    for (u32 o = 0; o < 4; ++o) {
      EXPECT_EQ(cells[o], cycle > o ? figure[cycle - 1 - o] : Cell{}) << "O" << o + 1 << " in cycle " << cycle;
    }
  }
  EXPECT_FALSE(pipeline.clash());
}

TEST(DataPaths, AllSendAFlitPerCycleAndTheNarrowOnesACycleLater) {
  for (const u32 k : {2U, 4U, 8U}) {
    // In any order, one per cycle.
    const std::vector<u32> start = k == 2   ? std::vector<u32>{2, 1}
                                   : k == 4 ? std::vector<u32>{2, 4, 1, 3}
                                            : std::vector<u32>{4, 1, 2, 8, 5, 7, 3, 6};
    for (const DataPath path : {DataPath::chunk_wide, DataPath::register_staircase, DataPath::split_ram}) {
      DataPathPipeline pipeline(path, k, start);
      for (u32 cycle = 1; cycle <= 6 * k; ++cycle) {
        pipeline.cycle();
        for (u32 o = 0; o < k; ++o) {
          const u32 begin = start[o] + cycles_to_link(path);
          EXPECT_EQ(pipeline.on_link(o), cycle < begin ? kNone : cycle - begin) << k << " " << o << " " << cycle;
        }
      }
      EXPECT_FALSE(pipeline.clash());
    }
  }
}

}  // namespace
}  // namespace banyan::data_paths_test
