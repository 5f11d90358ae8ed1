#include "banyan/python/watched.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace banyan::python {
namespace {

namespace py = pybind11;

constexpr std::chrono::milliseconds kLook{50};

/// What the worker and the waiting thread share.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool finished = false;
  std::exception_ptr error;
  std::atomic<u64> done{0};
  std::atomic<u64> total{0};
  alignas(std::atomic_ref<bool>::required_alignment) bool interrupted = false;
};

void work_on(Shared& shared, const std::function<void(const Attention&)>& work) noexcept {
  Attention attention;
  attention.progress = [&shared](u64 done, u64 total) {
    shared.total.store(total);
    shared.done.store(done);
  };
  attention.interrupted = &shared.interrupted;
  std::exception_ptr error;
  try {
    work(attention);
  } catch (...) { error = std::current_exception(); }
  {
    const std::lock_guard lock(shared.mutex);
    shared.error = error;
    shared.finished = true;
  }
  shared.changed.notify_all();
}

/// Asks Python what it has to say: a signal, or an exception of the progress display.
std::optional<py::error_already_set> ask(const py::object& progress, u64 done, u64 total) {
  if (PyErr_CheckSignals() != 0) return py::error_already_set();
  if (progress.is_none() || total == 0) return std::nullopt;
  try {
    progress(done, total);
  } catch (py::error_already_set& error) { return std::move(error); }
  return std::nullopt;
}

}  // namespace

void watched(const std::function<void(const Attention&)>& work, const py::object& progress, const Stop* stop) {
  Shared shared;
  std::optional<py::error_already_set> said;
  {
    const py::gil_scoped_release released;
    std::thread worker([&] { work_on(shared, work); });
    const auto interrupt = [&] { std::atomic_ref<bool>(shared.interrupted).store(true); };
    for (;;) {
      std::unique_lock lock(shared.mutex);
      if (shared.changed.wait_for(lock, kLook, [&] { return shared.finished; })) break;
      lock.unlock();
      if (stop != nullptr && stop->requested()) interrupt();
      if (said) continue;
      const py::gil_scoped_acquire acquired;
      said = ask(progress, shared.done.load(), shared.total.load());
      if (said) interrupt();
    }
    worker.join();
  }
  if (said) throw std::move(*said);
  if (shared.error) std::rethrow_exception(shared.error);
  if (!progress.is_none() && shared.total.load() != 0) progress(shared.total.load(), shared.total.load());
}

}  // namespace banyan::python
