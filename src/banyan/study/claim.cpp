#include "banyan/study/claim.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "banyan/stats/student.hpp"

namespace banyan::study {
namespace {

const std::string* value_of(const Point& point, std::string_view axis) {
  if (axis == "series") return &point.series;
  for (const auto& [name, value] : point.axes) {
    if (name == axis) return &value;
  }
  return nullptr;
}

const api::Groups* groups_of(const api::Result& run, std::string_view metric) {
  const auto found =
      std::find_if(run.groups.begin(), run.groups.end(), [&](const api::Groups& g) { return g.metric == metric; });
  return found == run.groups.end() ? nullptr : &*found;
}

constexpr std::size_t kBatches = 20;

/// The groups of a metric after the warm-up, joined into batches of time; nothing where the run kept none, or too few.
std::optional<std::vector<stats::SumCount>> batches_of(const api::Result& run, std::string_view metric) {
  const api::Groups* const groups = groups_of(run, metric);
  if (groups == nullptr || groups->sums.size() < run.group_cut + kBatches) return std::nullopt;
  const std::size_t windows = groups->sums.size() - run.group_cut;
  std::vector<stats::SumCount> batches(kBatches);
  for (std::size_t i = 0; i < windows; ++i) { batches[i * kBatches / windows].merge(groups->sums[run.group_cut + i]); }
  return batches;
}

/// The ratio of two means with its interval from the jackknife over pairs of batches. Batches of two runs that do not
/// cover the same time are paired too: what the runs have in common then counts as scatter.
std::optional<Estimate> paired_ratio(const api::Result& run, std::string_view metric, const api::Result& other_run,
                                     std::string_view over) {
  constexpr double kConfidence = 0.95;
  const auto a = batches_of(run, metric);
  const auto b = batches_of(other_run, over);
  if (!a || !b) return std::nullopt;
  struct Sums {
    double sum_a = 0, count_a = 0, sum_b = 0, count_b = 0;
    void add(const Sums& o, double sign) {
      sum_a += sign * o.sum_a;
      count_a += sign * o.count_a;
      sum_b += sign * o.sum_b;
      count_b += sign * o.count_b;
    }
    [[nodiscard]] double ratio() const { return sum_a * count_b / (count_a * sum_b); }
  };
  std::vector<Sums> batches;
  Sums all;
  for (std::size_t i = 0; i < kBatches; ++i) {
    batches.push_back({static_cast<double>((*a)[i].sum), static_cast<double>((*a)[i].count),
                       static_cast<double>((*b)[i].sum), static_cast<double>((*b)[i].count)});
    all.add(batches.back(), 1);
  }
  double squares = 0.0;
  for (const Sums& batch : batches) {
    Sums others = all;
    others.add(batch, -1);
    const double change = others.ratio() - all.ratio();
    squares += change * change;
  }
  constexpr double n = kBatches;
  const double h = stats::two_sided_student(kConfidence, n - 1) * std::sqrt((n - 1) / n * squares);
  if (!std::isfinite(all.ratio()) || !std::isfinite(h)) return std::nullopt;
  return Estimate{all.ratio(), h, static_cast<u64>(all.count_a), true};
}

std::string text(const Selection& where) {
  std::string result;
  for (const auto& [name, value] : where) {
    result += (result.empty() ? "" : ", ") + (name.empty() ? value : name + " = " + value);
  }
  return result.empty() ? "everything" : result;
}

}  // namespace

void join_groups(api::Result& run) {
  std::vector<api::Groups> joined;
  double cycles = run.group_cycles;
  for (const api::Groups& groups : run.groups) {
    std::optional<std::vector<stats::SumCount>> batches = batches_of(run, groups.metric);
    if (!batches) continue;
    // The mean length of a batch; groups that are sessions keep the 0 that says so.
    cycles = run.group_cycles * static_cast<double>(groups.sums.size() - run.group_cut) / kBatches;
    joined.push_back({groups.metric, *std::move(batches)});
  }
  run.group_cycles = cycles;
  run.groups = std::move(joined);
  run.group_cut = 0;
}

std::string to_string(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::reproduced:
      return "reproduced";
    case ClaimVerdict::partly:
      return "partly";
    case ClaimVerdict::undecided:
      return "undecided";
    case ClaimVerdict::not_reproduced:
      return "not reproduced";
    case ClaimVerdict::not_tested:
      return "not tested";
  }
  return "";
}

Selection with(Selection selection, std::string axis, std::string value) {
  for (auto& [name, old] : selection) {
    if (name == axis) {
      old = std::move(value);
      return selection;
    }
  }
  selection.emplace_back(std::move(axis), std::move(value));
  return selection;
}

void Tally::add(const Selection& where, Decision decision) { entries_.push_back({where, decision}); }

std::size_t Tally::count(Decision decision) const {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.decision == decision; }));
}

std::size_t Tally::open() const { return count(Decision::likely) + count(Decision::undecided); }

ClaimVerdict Tally::verdict() const {
  const std::size_t held = count(Decision::holds);
  const std::size_t failed = count(Decision::fails);
  const std::size_t likely = count(Decision::likely);
  const std::size_t against = failed + count(Decision::undecided);
  if (points() == 0 || 2 * open() > points()) return ClaimVerdict::undecided;
  if (against == 0) return ClaimVerdict::reproduced;
  if (held > 0 && against <= held + likely) return ClaimVerdict::partly;
  return 2 * failed >= against ? ClaimVerdict::not_reproduced : ClaimVerdict::undecided;
}

std::string Tally::summary() const {
  const std::size_t held = count(Decision::holds);
  if (held == points()) {
    return points() == 1   ? "holds"
           : points() == 2 ? "holds at both points"
                           : fmt::format("holds at all {} points", held);
  }
  std::string text = fmt::format("holds at {} of {} points", held, points());
  if (const std::size_t failed = count(Decision::fails); failed > 0) text += fmt::format(", fails at {}", failed);
  if (open() > 0) text += fmt::format(", undecided at {}", open());
  return text;
}

std::string Tally::places(Decision decision, Decision or_this) const {
  // Places that differ in their last axis only share one mention: "σ = 100, γ = 0.1, 0.2".
  std::vector<std::pair<std::string, std::string>> groups;
  for (const Entry& entry : entries_) {
    if ((entry.decision != decision && entry.decision != or_this) || entry.where.empty()) continue;
    Selection head = entry.where;
    const auto [last_name, last_value] = head.back();
    head.pop_back();
    const std::string prefix = (head.empty() ? "" : text(head) + ", ") + (last_name.empty() ? "" : last_name + " = ");
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == prefix; });
    if (found == groups.end()) {
      groups.emplace_back(prefix, last_value);
    } else {
      found->second += ", " + last_value;
    }
  }
  std::string result;
  for (const auto& [prefix, values] : groups) result += (result.empty() ? "" : "; ") + prefix + values;
  return result;
}

std::string Tally::exceptions() const {
  std::string result;
  if (const std::string failed = places(Decision::fails, Decision::fails); !failed.empty())
    result = "fails at " + failed;
  if (const std::string open = places(Decision::likely, Decision::undecided); !open.empty()) {
    result += (result.empty() ? "" : "; ") + ("within the intervals at " + open);
  }
  return result;
}

Outcome Tally::outcome(const std::string& detail) const {
  return {verdict(), (detail.empty() ? "" : detail + "; ") + summary(), exceptions(), open()};
}

Outcome compare_number(double paper, const Estimate& ours, double tolerance, const std::string& unit) {
  const Estimate deviation = (1.0 / paper) * (ours - Estimate::exactly(paper));
  const std::string measured = fmt::format("{}{}{} (paper: {}, {:+.1f} %)", to_string(ours), unit.empty() ? "" : " ",
                                           unit, paper, 100 * deviation.mean);
  return graded(inside(deviation, -tolerance, tolerance), inside(deviation, -3 * tolerance, 3 * tolerance),
                ours.known ? measured : "not measured");
}

Outcome graded(Decision whole, Decision part, const std::string& measured, const std::string& note) {
  Outcome outcome{ClaimVerdict::undecided, measured, note, 1};
  if (whole == Decision::holds) outcome.verdict = ClaimVerdict::reproduced;
  if (whole == Decision::fails && part == Decision::holds) outcome.verdict = ClaimVerdict::partly;
  if (whole == Decision::fails && part == Decision::fails) outcome.verdict = ClaimVerdict::not_reproduced;
  if (outcome.verdict != ClaimVerdict::undecided) outcome.undecided = 0;
  return outcome;
}

bool View::has(std::string_view id) const {
  return std::any_of(figures_->begin(), figures_->end(), [&](const FigureResult& f) { return f.spec.id == id; });
}

const FigureResult& View::figure(std::string_view id) const {
  for (const FigureResult& candidate : *figures_) {
    if (candidate.spec.id == id) return candidate;
  }
  throw std::logic_error(fmt::format("claims: figure '{}' was not run", id));
}

std::vector<const Point*> View::matching(const FigureResult& figure, const Selection& where) const {
  std::vector<const Point*> result;
  for (const Point& candidate : figure.points) {
    bool fits = true;
    for (const auto& [axis, wanted] : where) {
      const std::string* value = value_of(candidate, axis);
      if (value == nullptr) {
        throw std::logic_error(fmt::format("claims: figure '{}' has no axis '{}'", figure.spec.id, axis));
      }
      fits = fits && same_value(*value, wanted);
    }
    if (fits) result.push_back(&candidate);
  }
  return result;
}

const Point& View::point(std::string_view id, const Selection& where) const {
  const std::vector<const Point*> found = matching(figure(id), where);
  if (found.size() != 1) {
    throw std::logic_error(fmt::format("claims: figure '{}' has {} points at {}", id, found.size(), text(where)));
  }
  return *found.front();
}

bool View::has_point(std::string_view id, const Selection& where) const {
  return has(id) && matching(figure(id), where).size() == 1;
}

const api::Result& View::result(std::string_view id, const Selection& where) const {
  return runs_->at(point(id, where).run);
}

Estimate View::at(std::string_view id, const Selection& where, std::string_view metric) const {
  const std::string name(metric);
  const api::Result& found = result(id, where);
  for (const stats::Metric& candidate : found.metrics) {
    if (candidate.name == name) {
      // A mean over samples without an interval (one session) tells nothing about its error, unless all sessions are
      // equal by construction: then it is exact.
      const bool exact = candidate.counter || found.find(api::kDeterministic) != nullptr;
      const bool known = std::isfinite(candidate.mean) && (exact || candidate.half_width.has_value());
      return {candidate.mean, candidate.half_width.value_or(0.0), candidate.count, known};
    }
  }
  const FigureResult& all = figure(id);
  const bool elsewhere = std::any_of(all.points.begin(), all.points.end(), [&](const Point& p) {
    const auto& metrics = runs_->at(p.run).metrics;
    return std::any_of(metrics.begin(), metrics.end(), [&](const stats::Metric& m) { return m.name == name; });
  });
  if (!elsewhere) throw std::logic_error(fmt::format("claims: figure '{}' has no metric '{}'", id, name));
  return {0.0, 0.0, 0, false};
}

Estimate View::ratio(std::string_view id, const Selection& where, std::string_view metric,
                     std::string_view over) const {
  const Estimate independent = at(id, where, metric) / at(id, where, over);
  if (!independent.known) return independent;
  return paired_ratio(result(id, where), metric, result(id, where), over).value_or(independent);
}

Estimate View::ratio(std::string_view id, const Selection& where, const Selection& other,
                     std::string_view metric) const {
  const Estimate independent = at(id, where, metric) / at(id, other, metric);
  if (!independent.known) return independent;
  return paired_ratio(result(id, where), metric, result(id, other), metric).value_or(independent);
}

const stats::Series& View::series(std::string_view id, const Selection& where, std::string_view name) const {
  for (const stats::Series& candidate : result(id, where).series) {
    if (candidate.name == name) return candidate;
  }
  throw std::logic_error(fmt::format("claims: figure '{}' recorded no series '{}'", id, name));
}

std::vector<std::string> View::values(std::string_view id, std::string_view axis, const Selection& among) const {
  std::vector<std::string> result;
  for (const Point* candidate : matching(figure(id), among)) {
    const std::string* value = value_of(*candidate, axis);
    if (value == nullptr) throw std::logic_error(fmt::format("claims: figure '{}' has no axis '{}'", id, axis));
    if (std::find(result.begin(), result.end(), *value) == result.end()) result.push_back(*value);
  }
  return result;
}

std::vector<Selection> View::grid(std::string_view id, const std::vector<std::string>& axes,
                                  const Selection& among) const {
  std::vector<Selection> result;
  for (const Point* candidate : matching(figure(id), among)) {
    Selection combination;
    for (const std::string& axis : axes) {
      const std::string* value = value_of(*candidate, axis);
      if (value == nullptr) throw std::logic_error(fmt::format("claims: figure '{}' has no axis '{}'", id, axis));
      combination.emplace_back(axis, *value);
    }
    if (std::find(result.begin(), result.end(), combination) == result.end()) result.push_back(std::move(combination));
  }
  return result;
}

std::vector<Estimate> View::along(std::string_view id, std::string_view axis, const Selection& fixed,
                                  std::string_view metric) const {
  std::vector<Estimate> result;
  for (const std::string& value : values(id, axis, fixed)) {
    result.push_back(at(id, with(fixed, std::string(axis), value), metric));
  }
  return result;
}

Selection View::symbols(const Selection& where) const {
  Selection result;
  for (const auto& [name, value] : where) {
    if (name == "series") {
      const SeriesSpec* found = spec_->find_series(value);
      result.emplace_back("", found == nullptr ? value : found->label);
    } else if (name == "measure") {
      const MetricSpec* found = spec_->metric(value);
      std::string symbol = found == nullptr ? value : found->symbol;
      std::erase_if(symbol, [](char c) { return c == '{' || c == '}'; });
      result.emplace_back("", symbol);
    } else {
      const AxisSpec* found = spec_->axis(name);
      result.emplace_back(found == nullptr ? name : found->symbol, value);
    }
  }
  return result;
}

}  // namespace banyan::study
