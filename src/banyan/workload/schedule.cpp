#include "banyan/workload/schedule.hpp"

#include <utility>

namespace banyan::workload {

RankSchedule ScheduleBuilder::build(u32 number) {
  Rank rank = std::exchange(ranks_[number], {});
  RankSchedule made;
  made.first_dependent.assign(rank.operations.size() + 1, 0);
  made.waits_for.assign(rank.operations.size(), 0);
  // A sort by counting keeps the order in which the dependents of one operation were given.
  for (const Edge& edge : rank.edges) {
    ++made.first_dependent[edge.earlier + 1];
    ++made.waits_for[edge.dependent.operation];
  }
  for (std::size_t i = 0; i < rank.operations.size(); ++i) made.first_dependent[i + 1] += made.first_dependent[i];
  made.dependents.resize(rank.edges.size());
  std::vector<u64> place(made.first_dependent.begin(), made.first_dependent.end() - 1);
  for (const Edge& edge : rank.edges) made.dependents[place[edge.earlier]++] = edge.dependent;
  made.operations = std::move(rank.operations);
  return made;
}

Schedule ScheduleBuilder::build() {
  Schedule schedule;
  schedule.ranks.reserve(ranks_.size());
  for (u32 r = 0; r < ranks_.size(); ++r) schedule.ranks.push_back(build(r));
  ranks_.clear();
  return schedule;
}

}  // namespace banyan::workload
