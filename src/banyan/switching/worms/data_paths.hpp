// How flits get from the chunks of an input buffer to the output links, register by register (Sivaram, Stunkel, Panda,
// section 5 and Figures 10 to 13). The switch model uses the times only: the first flit of a chunk that is read in
// cycle R is on the link in cycle R + 1 over a chunk-wide path, and in R + 2 over the two others.
#pragma once

#include "banyan/base/types.hpp"

namespace banyan::switching {

enum class DataPath : u8 { chunk_wide, register_staircase, split_ram };

/// Cycles from a chunk's read until its first flit is on the link.
[[nodiscard]] constexpr u32 cycles_to_link(DataPath path) { return path == DataPath::chunk_wide ? 1 : 2; }

}  // namespace banyan::switching
