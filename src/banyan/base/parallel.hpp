// Independent pieces of work over several threads.
#pragma once

#include <cstddef>
#include <functional>

#include "banyan/base/types.hpp"

namespace banyan {

/// Calls work(0) ... work(count - 1), taken in order by `threads` threads, the calling one included. After an error no
/// further index is taken; those below it were taken before, so that the error of the lowest index, which is thrown
/// again, is the same however threads are scheduled.
void in_parallel(std::size_t count, u32 threads, const std::function<void(std::size_t)>& work);

}  // namespace banyan
