#include "banyan/cli/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace banyan::cli {
namespace {

alignas(std::atomic_ref<bool>::required_alignment) bool interrupted = false;  // signal

extern "C" void on_interrupt(int) { std::atomic_ref<bool>(interrupted).store(true); }

}  // namespace

const bool* watch_interrupt() {
  static_assert(std::atomic_ref<bool>::is_always_lock_free);
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Control-C ends the program at once
  sigaction(SIGINT, &action, nullptr);
  return &interrupted;
}

}  // namespace banyan::cli
