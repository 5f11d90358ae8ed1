// Every claim of a study against results in which its sentence is plainly false, just false and just true. A world is a
// study's own figures with values in which the paper is right; a counter-figure is the smallest change of it that
// decides one sentence.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "study/fake_study.hpp"

namespace banyan::test {

/// The half width of every value of a world, as a part of its mean: narrow enough to decide a difference of 1 %.
inline constexpr double kNarrow = 0.002;
/// "Just": 1 % to this or the other side of what decides the sentence.
inline constexpr double kJustBelow = 0.99;
inline constexpr double kJustAbove = 1.01;

/// Results of all figures of a study, to be changed and judged.
class World {
 public:
  World(const std::string& slug, const study::Runner& run) : row_(study::find_study(slug).row) {
    study::StudyOptions options;
    options.mode = study::Mode::full;
    options.run = run;
    // Without the claims: they could not be judged before the world has its values.
    const study::StudyRow empty{slug, no_claims};
    result_ = study::run_study(study::Study{&empty, study::find_study(slug).files}, options);
    // A world is copied for every counter-figure; no claim reads these.
    for (api::Result& result : result_.runs) {
      result.configuration.clear();
      result.version.clear();
      result.compiler.clear();
    }
  }

  [[nodiscard]] study::StudyResult& result() { return result_; }
  [[nodiscard]] study::View view() const { return result_.view(); }

  /// Every point of the figure that the selection leaves.
  [[nodiscard]] std::vector<const study::Point*> points(const std::string& figure,
                                                        const study::Selection& where) const {
    std::vector<const study::Point*> found;
    for (const study::Point& point : view().figure(figure).points) {
      const bool fits = std::all_of(where.begin(), where.end(), [&](const auto& wanted) {
        return study::same_value(axis(point, wanted.first), wanted.second);
      });
      if (fits) found.push_back(&point);
    }
    EXPECT_FALSE(found.empty()) << "no point of figure " << figure;
    return found;
  }

  /// The value of an axis at a point; "series" is the variant.
  [[nodiscard]] static std::string axis(const study::Point& point, const std::string& name) {
    if (name == "series") return point.series;
    for (const auto& [other, value] : point.axes) {
      if (other == name) return value;
    }
    ADD_FAILURE() << "no axis " << name;
    return "";
  }
  [[nodiscard]] static double number(const study::Point& point, const std::string& name) {
    return std::strtod(axis(point, name).c_str(), nullptr);
  }

  [[nodiscard]] double get(const study::Point& point, const std::string& metric) const {
    const stats::Metric* found = result_.runs.at(point.run).find(metric);
    EXPECT_NE(found, nullptr) << metric;
    return found == nullptr ? 0.0 : found->mean;
  }
  void set(const study::Point& point, const std::string& metric, double mean) {
    api::Result& run = result_.runs.at(point.run);
    for (stats::Metric& candidate : run.metrics) {
      if (candidate.name != metric) continue;
      candidate.mean = mean;
      if (candidate.half_width) candidate.half_width = kNarrow * std::fabs(mean);
      return;
    }
    run.metrics.push_back(test::metric(metric, mean, kNarrow * std::fabs(mean)));
  }
  [[nodiscard]] double get(const std::string& figure, const study::Selection& where, const std::string& metric) const {
    return get(*points(figure, where).front(), metric);
  }
  void set(const std::string& figure, const study::Selection& where, const std::string& metric, double mean) {
    for (const study::Point* point : points(figure, where)) set(*point, metric, mean);
  }
  void scale(const std::string& figure, const study::Selection& where, const std::string& metric, double factor) {
    std::set<std::size_t> done;
    for (const study::Point* point : points(figure, where)) {
      if (result_.runs.at(point->run).find(metric) == nullptr) continue;  // beyond saturation
      if (done.insert(point->run).second) set(*point, metric, factor * get(*point, metric));
    }
  }
  /// The point that differs from this one in what the selection says.
  [[nodiscard]] const study::Point& partner(const std::string& figure, const study::Point& point,
                                            const study::Selection& differs) const {
    study::Selection where{{"series", point.series}};
    for (const auto& [name, value] : point.axes) where.emplace_back(name, value);
    for (const auto& [name, value] : differs) where = study::with(where, name, value);
    return view().point(figure, where);
  }
  /// Gives `metric` at every point of `where` the value `factor` times `other_metric` of the partner.
  void relate(const std::string& figure, const study::Selection& where, const std::string& metric,
              const study::Selection& partner_differs, const std::string& other_metric, double factor) {
    for (const study::Point* point : points(figure, where)) {
      set(*point, metric, factor * get(partner(figure, *point, partner_differs), other_metric));
    }
  }
  /// Makes runs say this verdict; beyond saturation no latency is reported.
  void saturate(const std::string& figure, const study::Selection& where, const std::vector<std::string>& without) {
    for (const study::Point* point : points(figure, where)) {
      api::Result& run = result_.runs.at(point->run);
      run.verdict = api::Verdict::saturated;
      std::erase_if(run.metrics, [&](const stats::Metric& m) {
        return std::find(without.begin(), without.end(), m.name) != without.end();
      });
    }
  }

  [[nodiscard]] study::Outcome judge(const std::string& id) const {
    for (const study::Claim& claim : row_->claims()) {
      if (claim.id == id) return claim.check(view());
    }
    ADD_FAILURE() << "no claim " << id;
    return {};
  }

 private:
  const study::StudyRow* row_;
  study::StudyResult result_;
};

using Change = std::function<void(World&)>;

struct CounterFigure {
  std::string claim;
  Change plainly_false;
  Change just_false;
  Change just_true;
};

/// A comparison "metric of `where` < limit * other metric of its partner" at every point: false by a factor of two,
/// false by 1 % at a single point or at all, true by 1 %.
inline std::vector<CounterFigure> comparison(const std::string& claim, const std::string& figure,
                                             const study::Selection& where, const std::string& metric,
                                             const study::Selection& differs, const std::string& other, double limit) {
  const auto with_ratio = [=](double factor) {
    return [=](World& world) { world.relate(figure, where, metric, differs, other, limit * factor); };
  };
  const auto at_one_point = [=](World& world) {
    const study::Point& last = *world.points(figure, where).back();
    world.set(last, metric, limit * kJustAbove * world.get(world.partner(figure, last, differs), other));
  };
  return {{claim, with_ratio(2.0), with_ratio(kJustAbove), with_ratio(kJustBelow)},
          {claim, with_ratio(1.2), at_one_point, with_ratio(kJustBelow)}};
}

inline Change together(const std::vector<Change>& changes) {
  return [=](World& world) {
    for (const Change& change : changes) change(world);
  };
}
/// Where the counter-figures of a claim change single points: the results in which it is false at all of them.
inline void everywhere(std::vector<CounterFigure>& figures, const std::string& claim, const Change& change) {
  for (CounterFigure& figure : figures) {
    if (figure.claim != claim) continue;
    figure.plainly_false = change;
    return;
  }
  ADD_FAILURE() << "no counter-figures of '" << claim << "'";
}

/// Gives a metric along one axis the values first ... last of a straight line.
inline Change line(const std::string& figure, const study::Selection& where, const std::string& axis,
                   const std::string& metric, double from, double to) {
  return [=](World& world) {
    double low = 1e9, high = -1e9;
    for (const study::Point* point : world.points(figure, where)) {
      low = std::min(low, World::number(*point, axis));
      high = std::max(high, World::number(*point, axis));
    }
    for (const study::Point* point : world.points(figure, where)) {
      const double part = (World::number(*point, axis) - low) / (high - low);
      world.set(*point, metric, from + part * (to - from));
    }
  };
}
/// A trend: the opposite one; no change but 1 % the wrong way; 1 % the right way, or `least` where a margin is asked
/// for.
inline CounterFigure trend(const std::string& claim, const std::string& figure, const study::Selection& where,
                           const std::string& axis, const std::string& metric, bool falls, double margin = 0.0) {
  const double end = falls ? 1.0 - margin : 1.0 + margin;
  const double wrong = falls ? end + 0.01 : end - 0.01;
  const double right = falls ? end - 0.02 : end + 0.02;
  return {claim, line(figure, where, axis, metric, 100, falls ? 150 : 50),
          line(figure, where, axis, metric, 100, 100 * wrong), line(figure, where, axis, metric, 100, 100 * right)};
}
/// A level: the last value doubles; exceeds the tolerance by 1 %; stays 1 % within it.
inline CounterFigure flat(const std::string& claim, const std::string& figure, const study::Selection& where,
                          const std::string& axis, const std::string& metric, double tolerance) {
  const double most = 1.0 / (1.0 - tolerance);
  return {claim, line(figure, where, axis, metric, 100, 200), line(figure, where, axis, metric, 100, 100 * most * 1.01),
          line(figure, where, axis, metric, 100, 100 * most * 0.99)};
}

/// Rank of a verdict, of which fewer data may only give a lower one. Neither of the last two is the better one.
inline int rank(study::ClaimVerdict verdict) {
  using enum study::ClaimVerdict;
  return verdict == reproduced ? 2 : verdict == partly ? 1 : 0;
}

/// A world with fewer data: intervals of a run become wider, and some of its values are missing.
inline World thinned(World world, const std::vector<std::string>& keep, std::mt19937& random) {
  std::uniform_int_distribution<int> die(0, 9);
  bool first = true;
  for (api::Result& run : world.result().runs) {
    const double factor = die(random) < 5 ? 1.0 : std::pow(10.0, die(random) / 3.0);
    for (stats::Metric& metric : run.metrics) {
      if (metric.half_width) metric.half_width = *metric.half_width * factor;
    }
    const bool erase = !first && die(random) == 0;  // the first keeps its values: a metric that nobody has is an error
    first = false;
    if (!erase) continue;
    std::erase_if(run.metrics, [&](const stats::Metric& m) {
      return std::none_of(keep.begin(), keep.end(),
                          [&](const std::string& start) { return m.name.starts_with(start); });
    });
  }
  return world;
}

/// A study's world, its counter-figures, and the metrics that every run has however short it is.
struct CounterStudy {
  std::string slug;
  std::function<World()> world;
  std::vector<CounterFigure> figures;
  std::vector<std::string> always;  ///< with what their names start
};

/// Those of all studies, which each study's test file adds to.
inline std::set<std::string>& studies_with_counter_figures() {
  static std::set<std::string> slugs;
  return slugs;
}

inline void every_claim_has_counter_figures(const CounterStudy& study) {
  std::set<std::string> known;
  for (const study::Claim& claim : study::find_study(study.slug).row->claims()) {
    known.insert(claim.id);
    const bool covered = std::any_of(study.figures.begin(), study.figures.end(),
                                     [&](const CounterFigure& f) { return f.claim == claim.id; });
    EXPECT_TRUE(covered) << study.slug << ": claim '" << claim.id << "' has no counter-figures";
  }
  for (const CounterFigure& figure : study.figures) {
    EXPECT_TRUE(known.contains(figure.claim)) << study.slug << " has no claim '" << figure.claim << "'";
    EXPECT_TRUE(figure.plainly_false && figure.just_false && figure.just_true) << figure.claim;
  }
}

inline std::string words(const study::Outcome& outcome) {
  return study::to_string(outcome.verdict) + ": " + outcome.measured + " | " + outcome.note;
}

inline void claims_can_fail(const CounterStudy& study) {
  using enum study::ClaimVerdict;
  const World base = study.world();
  std::set<std::string> seen;
  std::set<std::string> refuted;
  for (const CounterFigure& figure : study.figures) {
    const auto judge = [&](const Change& change) {
      World world = base;
      change(world);
      return world.judge(figure.claim);
    };
    if (seen.insert(figure.claim).second) {
      const study::Outcome as_it_is = base.judge(figure.claim);
      EXPECT_TRUE(as_it_is.verdict == reproduced) << figure.claim << " where the paper is right: " << words(as_it_is);
    }
    const study::Outcome plainly = judge(figure.plainly_false);
    EXPECT_FALSE(plainly.verdict == reproduced) << figure.claim << " where it is plainly false: " << words(plainly);
    if (plainly.verdict == not_reproduced) refuted.insert(figure.claim);
    const study::Outcome barely = judge(figure.just_false);
    EXPECT_FALSE(barely.verdict == reproduced) << figure.claim << " where it is just false: " << words(barely);
    const study::Outcome just = judge(figure.just_true);
    EXPECT_FALSE(just.verdict == not_reproduced) << figure.claim << " where it is just true: " << words(just);
  }
  // What is false at all points is refuted, and not called in part true.
  for (const std::string& claim : seen) {
    EXPECT_TRUE(refuted.contains(claim)) << claim << ": none of its plainly false results refutes it";
  }
}

inline void fewer_data_are_never_better(const CounterStudy& study, u32 repetitions) {
  const World base = study.world();
  std::mt19937 random(1);
  for (const CounterFigure& figure : study.figures) {
    for (const Change& change : {Change([](World&) {}), figure.plainly_false, figure.just_false, figure.just_true}) {
      World full = base;
      change(full);
      const study::Outcome all = full.judge(figure.claim);
      World before = full;
      study::Outcome had = all;
      for (u32 i = 0; i < repetitions; ++i) {
        World after = thinned(before, study.always, random);
        const study::Outcome fewer = after.judge(figure.claim);
        EXPECT_LE(rank(fewer.verdict), rank(had.verdict))
            << figure.claim << " becomes better with fewer data: " << words(had) << " -> " << words(fewer);
        const bool again = i % 4 == 3;  // thinned step by step, and then again from all data
        before = again ? full : std::move(after);
        had = again ? all : fewer;
      }
    }
  }
}

/// Gives every run windows of time in which all of its metrics scatter together, so that a ratio of two of them is
/// known far better than either: their own intervals become wide.
inline void record_windows(World& world) {
  constexpr u64 kWindows = 57;  // not a multiple of the batches
  constexpr double kWide = 0.3;
  for (api::Result& run : world.result().runs) {
    run.configuration = "{}";
    run.group_cycles = 10.0;
    run.group_cut = 4;
    run.groups.clear();
    for (stats::Metric& metric : run.metrics) {
      if (metric.counter || !metric.half_width || !(metric.mean > 0.0)) continue;
      metric.half_width = kWide * metric.mean;
      api::Groups& groups = run.groups.emplace_back(api::Groups{metric.name, {}});
      for (u64 i = 0; i < kWindows; ++i) {
        const u64 count = 1000 * (5 + i * i % 7);
        groups.sums.push_back({static_cast<u64>(metric.mean * static_cast<double>(count) * 100.0), 100 * count});
      }
    }
  }
}

/// What is stored is enough to judge: the file of a study gives the verdicts of the run, word for word.
inline void a_stored_study_is_judged_like_the_run(const CounterStudy& study) {
  World world = study.world();
  record_windows(world);
  const study::StudyRow& row = *study::find_study(study.slug).row;
  const std::vector<study::ClaimResult> as_run = judge(row, world.result());
  const std::vector<study::ClaimResult> as_stored = judge(row, study::load(dump(world.result())));
  ASSERT_EQ(as_run.size(), as_stored.size());
  ASSERT_EQ(as_run.size(), row.claims().size());
  for (std::size_t i = 0; i < as_run.size(); ++i) {
    EXPECT_EQ(study::to_string(as_run[i].verdict), study::to_string(as_stored[i].verdict)) << as_run[i].id;
    EXPECT_EQ(as_run[i].measured, as_stored[i].measured) << as_run[i].id;
    EXPECT_EQ(as_run[i].note, as_stored[i].note) << as_run[i].id;
    EXPECT_EQ(as_run[i].undecided, as_stored[i].undecided) << as_run[i].id;
  }
}

}  // namespace banyan::test
