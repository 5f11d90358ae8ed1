// Quantiles of the Student t and the normal distribution.
#pragma once

namespace banyan::stats {

/// Quantile of Student's t with `degrees_of_freedom` > 0 (real: Welch) at probability p in (0, 1).
[[nodiscard]] double student_quantile(double p, double degrees_of_freedom);

/// Quantile of the standard normal distribution at probability p in (0, 1).
[[nodiscard]] double normal_quantile(double p);

/// The factor of a two-sided interval: student_quantile((1 + confidence) / 2, degrees_of_freedom).
[[nodiscard]] double two_sided_student(double confidence, double degrees_of_freedom);

/// Probability that |T| exceeds |t|: the two-sided p-value of a t statistic.
[[nodiscard]] double two_sided_p_value(double t, double degrees_of_freedom);

}  // namespace banyan::stats
