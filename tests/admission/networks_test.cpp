// Do the tests of admissions see every switch model?
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "admission/admissions.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::admission_networks_test {
namespace {

TEST(AdmissionNetworks, HoldEverySwitchModel) {
  for (const core::SwitchRow* row : core::switching_rows()) {
    const auto& all = test::networks();
    EXPECT_TRUE(std::any_of(
        all.begin(), all.end(),
        [&](const test::Network& network) { return std::string(network.model).starts_with(row->info.name); }))
        << "tests/admission/admissions.hpp has no network with the switch " << row->info.name;
  }
}

}  // namespace
}  // namespace banyan::admission_networks_test
