#include "banyan/stats/student.hpp"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace banyan::stats {

double student_quantile(double p, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), p);
}

double normal_quantile(double p) { return boost::math::quantile(boost::math::normal(), p); }

double two_sided_student(double confidence, double degrees_of_freedom) {
  return student_quantile(0.5 + confidence / 2.0, degrees_of_freedom);
}

double two_sided_p_value(double t, double degrees_of_freedom) {
  const boost::math::students_t distribution(degrees_of_freedom);
  return 2.0 * boost::math::cdf(boost::math::complement(distribution, std::abs(t)));
}

}  // namespace banyan::stats
