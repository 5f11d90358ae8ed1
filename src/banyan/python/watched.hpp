// Long work without the lock of the interpreter: other Python threads run meanwhile, Control-C stops it, and progress
// is told.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <functional>
#include <memory>

#include "banyan/api/experiment.hpp"

namespace banyan::python {

/// A request to stop that another thread may make.
class Stop {
 public:
  void request() noexcept { requested_.store(true); }
  [[nodiscard]] bool requested() const noexcept { return requested_.load(); }

 private:
  std::atomic<bool> requested_{false};
};

/// What work is given: progress to report, and the flag that asks it to end.
struct Attention {
  api::Progress progress;
  const bool* interrupted = nullptr;
};

/// Does the work in a thread of its own and waits for it. `progress` is called with (done, total) now and then, or is
/// None; an exception that it raises stops the work. `stop` may be nullptr. Throws what the work throws, or the
/// exception of Python that stopped it.
void watched(const std::function<void(const Attention&)>& work, const pybind11::object& progress, const Stop* stop);

}  // namespace banyan::python
