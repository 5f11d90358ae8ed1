// Quantiles of the Student t distribution.
#pragma once

namespace banyan::stats {

/// Quantile of Student's t with `degrees_of_freedom` > 0 (real: Welch) at probability p in (0, 1).
[[nodiscard]] double student_quantile(double p, double degrees_of_freedom);

/// The factor of a two-sided interval: student_quantile((1 + confidence) / 2, degrees_of_freedom).
[[nodiscard]] double two_sided_student(double confidence, double degrees_of_freedom);

}  // namespace banyan::stats
