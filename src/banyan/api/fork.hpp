// The table `fork` of an experiment: one warmed-up state that goes on with several values of a parameter.
//
//   fork = { after = "warmup", vary = "switch.saqs" }   # from: its value in the warm-up; otherwise the axis' first
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "banyan/api/catalog.hpp"
#include "banyan/api/draft.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/api/network.hpp"
#include "banyan/config/sweep.hpp"

namespace banyan::api {

/// The table, with the value of the warm-up.
struct ForkTable {
  std::string vary;
  Where where;  ///< of `vary`
  config::Node from;
  bool given = false;  ///< by fork.from, and not the first of an axis
};

/// The table of `base`, or nothing. `from` is looked up among the axes where the table does not say it. Throws
/// ConfigError.
[[nodiscard]] std::optional<ForkTable> read_fork(const Draft& base, const std::vector<config::Axis>& axes);

/// What makes `point` go on from the warm-up of `warm`; both were resolved from `draft`, but for the value of
/// fork.vary. Throws ConfigError where it may not.
[[nodiscard]] Fork fork_from(const ForkTable& fork, const Draft& draft, const Experiment& point, Experiment warm,
                             const Catalog& catalog);

/// Refuses an experiment whose warm-up is none. Throws ConfigError.
void require_warm_up(const Experiment& experiment, const Network& network, bool sessions);

/// The state of a network at the end of its warm-up.
struct WarmState {
  u32 cut_for = 0;  ///< threads that the network was cut for
  std::string bytes;
};

/// Warmed-up states that the points of a sweep share: the first that asks makes one, others that want the same wait.
/// A state is held as long as points will ask for it.
class WarmStates {
 public:
  /// `points`: those that will be run.
  explicit WarmStates(const std::vector<Experiment>& points);

  using Make = std::function<WarmState()>;
  /// The state of the warm-up of `warm`. Throws what `make` throws; the next one who asks makes it then.
  [[nodiscard]] std::shared_ptr<const WarmState> of(const Experiment& warm, const Make& make);
  /// Whether the state that this point goes on from is there.
  [[nodiscard]] bool has(const Experiment& point);
  /// Whether any point goes on from a state.
  [[nodiscard]] bool any() const noexcept { return any_; }

 private:
  struct Entry {
    std::mutex making;
    std::shared_ptr<const WarmState> state;
    std::size_t users = 0;
  };

  bool any_ = false;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;  ///< by configuration
};

}  // namespace banyan::api
