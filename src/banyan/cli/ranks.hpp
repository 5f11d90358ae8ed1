// The processes that mpirun or srun started, where this is one of several.
#pragma once

#include <functional>
#include <optional>

#include "banyan/engine/ranks.hpp"

namespace banyan::cli {

struct Launched {
  u32 rank = 0;
  u32 size = 1;
};

/// Nothing where the environment speaks of no launcher, or of one process.
[[nodiscard]] std::optional<Launched> launched();

/// Lets all processes run `act` together on one network, of which each has a part. The first one alone prints. An error
/// ends all of them with its status, and one tells it. Returns the exit status.
[[nodiscard]] int on_ranks(const Launched& launched, const std::function<int(engine::Ranks&)>& act);

}  // namespace banyan::cli
