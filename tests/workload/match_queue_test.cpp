// Is what is taken from a match queue always the first that fits, as a walk along a list would find it?
#include "banyan/workload/match_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "banyan/workload/partly_free.hpp"
#include "workload/files.hpp"

namespace banyan::workload::match_queue_test {
namespace {

struct Listed {
  u32 rank, peer, tag, value;
};

RC_GTEST_PROP(MatchQueue, TakesWhatAListWouldTake, (const std::vector<u32>& numbers)) {
  MatchQueue<u32> queue(2);
  std::vector<Listed> list;
  u32 value = 0;
  for (const u32 n : numbers) {
    const u32 rank = n % 2;
    const u32 peer = n / 2 % 5 == 0 ? kAnyPeer : n / 2 % 3;
    const u32 tag = n / 16 % 5 == 0 ? kAnyTag : n / 16 % 3;
    if (n / 128 % 3 != 0) {
      queue.push(rank, peer, tag, ++value);
      list.push_back({rank, peer, tag, value});
      continue;
    }
    const auto fits = [&](const Listed& l) {
      return l.rank == rank && (peer == kAnyPeer || l.peer == kAnyPeer || l.peer == peer) &&
             (tag == kAnyTag || l.tag == kAnyTag || l.tag == tag);
    };
    const auto found = std::find_if(list.begin(), list.end(), fits);
    u32 taken = 0;
    RC_ASSERT(queue.take(rank, peer, tag, taken) == (found != list.end()));
    if (found == list.end()) continue;
    RC_ASSERT(taken == found->value);
    list.erase(found);
    RC_ASSERT(queue.size() == list.size());
  }
}

RC_GTEST_PROP(PartlyFree, TheLastReleaseFreesAtTheLatestTime, (const std::vector<u32>& numbers)) {
  ScheduleBuilder builder(1);
  constexpr u32 kOperations = 400;
  for (u32 i = 0; i <= kOperations; ++i) builder.calculate(0, 1);
  std::vector<u32> waits(kOperations, 0);
  for (u32 i = 0; i < numbers.size(); ++i) {
    builder.after_end(0, numbers[i] % kOperations, kOperations);
    ++waits[numbers[i] % kOperations];
  }
  const Program program(builder.build(), "made");
  PartlyFree free(program);
  std::vector<u64> latest(kOperations, 0);
  for (u32 i = 0; i < numbers.size(); ++i) {
    const u32 operation = numbers[i] % kOperations;
    u64 at = mix64(i) % 1000;
    latest[operation] = std::max(latest[operation], at);
    RC_ASSERT(free.release(0, operation, at) == (--waits[operation] == 0));
    if (waits[operation] == 0) RC_ASSERT(at == latest[operation]);
  }
}

}  // namespace
}  // namespace banyan::workload::match_queue_test
