// Do Banyan's numbers agree with those of an independent simulator of the same rules?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "build_info.hpp"

namespace banyan::api::independent_test {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

std::vector<Row> rows() {
  std::ifstream file(std::string(BANYAN_SOURCE_DIR) + "/tests/golden/extra_stage_cube.csv");
  std::vector<std::string> names;
  std::vector<Row> result;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> cells = split(line);
    if (names.empty()) {
      names = cells;
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells.at(i);
    result.push_back(row);
  }
  return result;
}

/// `mean` 600: as good as the paper's 3000 where the network is stable, and five times faster.
Result simulate(const Row& row, u32 sessions) {
  const std::string scheme = row.at("scheme");
  const bool bypass = scheme == "bypass";
  const std::map<std::string, std::string> routings{
      {"bypass", "\"destination_tag\""},
      {"iso_bg", "\"isolated_background\""},
      {"iso_hs", "\"isolated_hot_spot\""},
      {"hot_section", "{ name = \"hot_section\", sections = " + row.at("K") + " }"}};
  const std::string text = fmt::format(
      "topology = {{ name = \"extra_stage_cube\", terminals = {}, radix = {}, input_stage = \"{}\" }}\n"
      "switch = {{ name = \"output_queued\", buffer = {} }}\n"
      "routing = {}\n"
      "traffic = [{{ name = \"synchronization\", mean = {}, deviation = {} }},\n"
      "           {{ name = \"uniform\", load = {}, include_self = true }}]\n"
      "run = {{ sessions = {}, seed = 77 }}\n",
      row.at("N"), row.at("n"), bypass ? "bypassed" : "enabled", row.at("S"), routings.at(scheme),
      row.at("S") == "4" ? 3000 : 600, row.at("sigma"), row.at("gamma"), sessions);
  return run(read_experiments_text(text, "independent", {}).points.at(0));
}

void expect_agreement(const Row& row, u32 sessions) {
  const Result result = simulate(row, sessions);
  for (const char* name : {"mu_syn", "mu_bg_tot", "mu_bg_hs"}) {
    const stats::Metric& metric = result.at(name);
    const double difference = metric.mean - std::stod(row.at(name));
    const double joint = std::hypot(metric.half_width.value(), std::stod(row.at(std::string(name) + "_hw")));
    // The joint half width is about two standard errors. Four of them: one false alarm in about 100 runs of all rows.
    EXPECT_LT(std::fabs(difference), 2.0 * joint)
        << name << " at " << row.at("scheme") << " N=" << row.at("N") << " n=" << row.at("n") << " S=" << row.at("S")
        << " sigma=" << row.at("sigma") << " gamma=" << row.at("gamma") << " K=" << row.at("K");
  }
}

TEST(Independent, SmallNetworksAgree) {
  u32 compared = 0;
  for (const Row& row : rows()) {
    if (row.at("N") != "64") continue;
    ++compared;
    expect_agreement(row, 200);
  }
  EXPECT_GE(compared, 4U);
}

TEST(Independent, ThePapersNetworkAgreesAtOneLoadInAllSchemes) {
  u32 compared = 0;
  for (const Row& row : rows()) {
    if (row.at("N") != "256" || row.at("n") != "4" || row.at("S") != "12" || row.at("sigma") != "10" ||
        row.at("gamma") != "0.5") {
      continue;
    }
    ++compared;
    expect_agreement(row, 40);
  }
  EXPECT_GE(compared, 4U);
}

TEST(SlowIndependent, EveryRowAgrees) {
  for (const Row& row : rows()) expect_agreement(row, 125);
}

}  // namespace
}  // namespace banyan::api::independent_test
