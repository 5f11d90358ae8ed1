// Whatever is changed in a file that an experiment reads: is it read, or refused with one clear error?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/booksim/booksim.hpp"
#include "cli/program.hpp"
#include "support/repository.hpp"

namespace banyan::cli::damaged_files_test {
namespace {

using Edits = std::vector<std::pair<u32, u32>>;

/// A text with some of its bytes replaced by pieces that mean something in one of the formats, or in none.
std::string edited(std::string text, const Edits& edits) {
  static const std::vector<std::string> kPieces{"0",
                                                "-1",
                                                "4294967296",
                                                "1e308",
                                                " ",
                                                "\n",
                                                "#",
                                                "//",
                                                "{",
                                                "}",
                                                ";",
                                                "=",
                                                ",",
                                                "(",
                                                "after",
                                                "link",
                                                "one_way",
                                                "latency=",
                                                "\x1b[31m",
                                                "\xff",
                                                "\xe2\x80\xae",
                                                std::string(1, '\0'),
                                                "18446744073709551616"};
  for (const auto& [at, piece] : edits) {
    text.replace(at % text.size(), piece / 32 % 6, kPieces[piece % kPieces.size()]);
    if (text.empty()) text = " ";
  }
  return text;
}

/// Everything is well, or one error with cause and remedy. Internal errors are neither.
template <class Act>
void expect_answer(const Act& act) {
  try {
    act();
  } catch (const ConfigError& error) {
    RC_ASSERT(!error.cause().empty());
    RC_ASSERT(!error.remedy().empty());
  }
}

void check_with(const std::string& name, const std::string& content, const std::string& toml) {
  std::filesystem::create_directories(scratch());
  write_text(name, content);
  write_text("experiment.toml", toml);
  expect_answer([] {
    for (const api::Experiment& point : api::read_experiments((scratch() / "experiment.toml").string(), {}).points) {
      static_cast<void>(api::check(point));
    }
  });
}

const std::string kGraph =
    "switch a  # the first\nswitch b\nswitch c\nterminal 0 a latency=2\nterminal 1 b\nterminal 2 c\n"
    "link a b latency=3 cycles_per_flit=2\nlink b c\nlink c a one_way\nlink a c\n";
const std::string kRest = "switch = \"vc_router\"\nrouting = \"up_down\"\ntraffic = \"uniform\"\n";

RC_GTEST_PROP(DamagedFiles, AGraph, (const Edits& edits)) {
  check_with("graph.txt", edited(kGraph, edits),
             "topology = { name = \"graph_file\", file = \"graph.txt\" }\n" + kRest);
}

RC_GTEST_PROP(DamagedFiles, ARoutingTable, (const Edits& edits)) {
  check_with("table.txt", edited("0 1 1\n0 2 1\n1 0 1\n1 2 2 0 1\n2 0 1\n2 1 1\n", edits),
             "topology = { name = \"mesh\", size = [3] }\nswitch = \"vc_router\"\n"
             "routing = { name = \"table\", file = \"table.txt\" }\ntraffic = \"uniform\"\n");
}

RC_GTEST_PROP(DamagedFiles, ATrace, (const Edits& edits)) {
  check_with("small.trace",
             edited("# banyan trace 1\n7 0 1 2 5\n3 12 2 1 1 after 7\n9 1 2 0 4 after 7+20 3+1\n", edits),
             "topology = { name = \"mesh\", size = [3] }\nswitch = \"vc_router\"\nrouting = \"dimension_order\"\n"
             "traffic = { name = \"trace\", file = \"small.trace\" }\n");
}

RC_GTEST_PROP(DamagedFiles, ABookSim2Configuration, (const std::string& which, const Edits& edits)) {
  static const std::vector<std::string> kFiles{"mesh", "torus", "requests", "batch"};
  const std::string name = kFiles[which.size() % kFiles.size()];
  const std::string text = edited(test::read_file(test::repository_root() / "tests/booksim" / name), edits);
  expect_answer([&] {
    const booksim::Conversion conversion = booksim::convert(booksim::read_settings(text, name), name);
    static_cast<void>(api::read_experiments_text(conversion.toml, "converted.toml", {}));
  });
}

}  // namespace
}  // namespace banyan::cli::damaged_files_test
