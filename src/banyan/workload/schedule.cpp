#include "banyan/workload/schedule.hpp"

#include <utility>

namespace banyan::workload {

Schedule ScheduleBuilder::build() {
  Schedule schedule;
  schedule.ranks.reserve(ranks_.size());
  for (Rank& rank : ranks_) {
    RankSchedule& made = schedule.ranks.emplace_back();
    made.operations = std::move(rank.operations);
    made.first_dependent.assign(made.operations.size() + 1, 0);
    made.waits_for.assign(made.operations.size(), 0);
    // A sort by counting keeps the order in which the dependents of one operation were given.
    for (const Edge& edge : rank.edges) {
      ++made.first_dependent[edge.earlier + 1];
      ++made.waits_for[edge.dependent.operation];
    }
    for (std::size_t i = 0; i < made.operations.size(); ++i) made.first_dependent[i + 1] += made.first_dependent[i];
    made.dependents.resize(rank.edges.size());
    std::vector<u64> place(made.first_dependent.begin(), made.first_dependent.end() - 1);
    for (const Edge& edge : rank.edges) made.dependents[place[edge.earlier]++] = edge.dependent;
    rank = {};
  }
  ranks_.clear();
  return schedule;
}

}  // namespace banyan::workload
