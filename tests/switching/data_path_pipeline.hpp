// The three data paths of an input buffer, register by register, as the paper draws them: the switch model uses the
// times only.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "banyan/switching/worms/data_paths.hpp"

namespace banyan::test {

using switching::DataPath;

/// What outputs that read from one input buffer do, cycle by cycle. Output o begins in cycle `start[o]` and reads a
/// chunk of k flits every k cycles.
class DataPathPipeline {
 public:
  /// What an output does in a cycle, in the words of Figure 12.
  using Cell = std::vector<std::string>;

  DataPathPipeline(DataPath path, u32 k, std::vector<u32> start)
      : path_(path), k_(k), start_(std::move(start)), registers_(k), buffers_(start_.size()) {}

  /// Runs the next cycle. `clash`: two outputs used one memory or register.
  std::vector<Cell> cycle() {
    std::vector<Cell> cells(start_.size());
    std::vector<Flits> next(k_);
    std::vector<Flits> next_buffers(buffers_.size());
    links_.assign(start_.size(), kNone);
    for (u32 o = 0; o < start_.size(); ++o) {
      put(o, cells[o]);
      take(o, next, next_buffers[o], cells[o]);
      read(o, next, next_buffers[o], cells[o]);
    }
    registers_ = next;
    buffers_ = next_buffers;
    ++now_;
    return cells;
  }
  /// Flit that an output has put on its link in the last cycle, counted from the first one; kNone: none.
  [[nodiscard]] u32 on_link(u32 o) const { return links_[o]; }
  [[nodiscard]] bool clash() const { return clash_; }

 private:
  /// Flits [first, last) of an output's stream.
  struct Flits {
    u32 output = kNone;
    u32 first = 0;
    u32 last = 0;
  };

  static std::string ordinal(u32 n) {
    return fmt::format("{}{}", n, n == 1 ? "st" : n == 2 ? "nd" : n == 3 ? "rd" : "th");
  }

  void put(u32 o, Cell& cell) {
    Flits& buffer = buffers_[o];
    if (buffer.output == kNone) return;
    links_[o] = buffer.first;
    cell.push_back(fmt::format("puts {} flit on output link", ordinal(buffer.first + 1)));
    ++buffer.first;
  }

  /// Flits move on from the registers between memory and outputs.
  void take(u32 o, std::vector<Flits>& next, Flits& next_buffer, Cell& cell) {
    if (path_ == DataPath::chunk_wide) {
      if (buffers_[o].output != kNone && buffers_[o].first < buffers_[o].last) next_buffer = buffers_[o];
      return;
    }
    for (u32 r = 0; r < k_; ++r) {
      const Flits& held = registers_[r];
      if (held.output != o) continue;
      next_buffer = {o, held.first, held.first + 1};
      const bool first = held.first % k_ == 0;
      cell.push_back(fmt::format("reads {} flit from R{}", first ? "first" : "next", r));
      if (path_ == DataPath::split_ram || r + 1 == k_) continue;
      cell.push_back(fmt::format("R{} <- Remaining flits from R{}", r + 1, r));
      store(next[r + 1], {o, held.first + 1, held.last});
    }
  }

  /// The memory: a whole chunk every k cycles, or a flit of one of k narrow memories in every cycle.
  void read(u32 o, std::vector<Flits>& next, Flits& next_buffer, Cell& cell) {
    if (now_ < start_[o]) return;
    const u32 since = now_ - start_[o];
    if (path_ == DataPath::split_ram) {
      cell.push_back(fmt::format("reads flit from FWR{0} into R{0}", since % k_));
      store(next[since % k_], {o, since, since + 1});
      return;
    }
    if (since % k_ != 0) return;
    const Flits chunk{o, since, since + k_};
    if (path_ == DataPath::chunk_wide) {
      cell.push_back("reads chunk");
      next_buffer = chunk;
    } else {
      cell.push_back(since == 0 ? "reads chunk into R0" : "and next chunk into R0");
      store(next[0], chunk);
    }
    clash_ |= last_read_ == now_;
    last_read_ = now_;
  }

  void store(Flits& place, const Flits& what) {
    clash_ |= place.output != kNone;
    place = what;
  }

  DataPath path_;
  u32 k_;
  std::vector<u32> start_;
  std::vector<Flits> registers_;
  std::vector<Flits> buffers_;  ///< of the outputs
  std::vector<u32> links_;
  u32 now_ = 1;  ///< the figure counts from 1
  u32 last_read_ = 0;
  bool clash_ = false;
};

}  // namespace banyan::test
