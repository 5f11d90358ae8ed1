// Do the quantiles agree with the printed tables?
#include "banyan/stats/student.hpp"

#include <gtest/gtest.h>

namespace banyan::stats::student_test {
namespace {

TEST(Student, QuantilesAgreeWithTables) {
  EXPECT_NEAR(two_sided_student(0.95, 1), 12.706, 5e-4);
  EXPECT_NEAR(two_sided_student(0.95, 10), 2.228, 5e-4);
  EXPECT_NEAR(two_sided_student(0.99, 30), 2.750, 5e-4);
  EXPECT_NEAR(student_quantile(0.9, 4), 1.533, 5e-4);
  EXPECT_NEAR(student_quantile(0.5, 7), 0.0, 1e-12);
}

TEST(Student, ApproachesTheNormalDistribution) { EXPECT_NEAR(two_sided_student(0.95, 1e7), 1.959964, 1e-6); }

}  // namespace
}  // namespace banyan::stats::student_test
