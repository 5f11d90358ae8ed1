#include "banyan/stats/student.hpp"

#include <boost/math/distributions/students_t.hpp>

namespace banyan::stats {

double student_quantile(double p, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), p);
}

double two_sided_student(double confidence, double degrees_of_freedom) {
  return student_quantile(0.5 + confidence / 2.0, degrees_of_freedom);
}

}  // namespace banyan::stats
