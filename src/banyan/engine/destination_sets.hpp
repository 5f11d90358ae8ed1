// The terminals of multidestination packets, beside the records of a pool and in chunks of as many: a bit per terminal.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/base/types.hpp"

namespace banyan::engine {

/// Two rows per record: the *header*, all that the packet is for, which whoever has the packet may read, in whatever
/// shard (it never changes, and its address does not either); and what it is *owed*, the terminals that have not told
/// the owner of the record yet that it has arrived.
class DestinationSets {
 public:
  /// `places`: records of the pool at most; `chunk_bits`: of a number of records that are made together.
  void keep(u32 terminals, u32 places, u32 chunk_bits) {
    words_ = (terminals + 63) / 64;
    chunk_bits_ = chunk_bits;
    headers_ = std::make_unique<u64*[]>(places >> chunk_bits);
  }
  [[nodiscard]] bool kept() const noexcept { return words_ != 0; }
  /// Of a row.
  [[nodiscard]] u32 words() const noexcept { return words_; }
  /// The next chunk of records is made.
  void grow() {
    if (!kept()) return;
    chunks_.emplace_back(rows_of_chunk());
    owed_.emplace_back(rows_of_chunk());
    headers_[chunks_.size() - 1] = chunks_.back().data();
  }

  /// The rows of a new packet: `fill` sets bits of an empty header.
  template <class Fill>
  void open(u32 place, Fill&& fill) {
    const std::span<u64> row{header_of(place), words_};
    std::fill(row.begin(), row.end(), 0);
    fill(row);
    std::copy(row.begin(), row.end(), owed_of(place));
    owed_by_all_ += owed(place);
  }
  /// The header of a copy of a record that another rank owns.
  void copy(u32 place, const u64* header) { std::copy_n(header, words_, header_of(place)); }
  [[nodiscard]] const u64* header(u32 place) const noexcept { return header_of(place); }
  /// A terminal has the packet. False where it was not due there.
  bool remove(u32 place, u32 terminal) noexcept {
    u64& word = owed_of(place)[terminal / 64];
    const u64 bit = u64{1} << (terminal % 64);
    const bool due = (word & bit) != 0;
    word &= ~bit;
    owed_by_all_ -= due ? 1 : 0;
    return due;
  }
  /// Terminals that do not have it.
  [[nodiscard]] u32 owed(u32 place) const noexcept {
    u32 count = 0;
    for (u32 w = 0; w < words_; ++w) count += static_cast<u32>(std::popcount(owed_of(place)[w]));
    return count;
  }

  /// The same of all packets.
  [[nodiscard]] u64 owed_by_all() const noexcept { return owed_by_all_; }
  void clear() noexcept { owed_by_all_ = 0; }

  void archive(Archive& a) { a(owed_by_all_); }
  /// Both rows of a chunk, of which there are as many as were written.
  void archive(Archive& a, u32 chunk) {
    if (!kept()) return;
    a.row(chunks_[chunk].data(), rows_of_chunk());
    a.row(owed_[chunk].data(), rows_of_chunk());
  }

 private:
  [[nodiscard]] std::size_t rows_of_chunk() const noexcept { return std::size_t{words_} << chunk_bits_; }
  [[nodiscard]] std::size_t within(u32 place) const noexcept {
    return std::size_t{place & ((1U << chunk_bits_) - 1)} * words_;
  }
  [[nodiscard]] u64* header_of(u32 place) const noexcept { return headers_[place >> chunk_bits_] + within(place); }
  [[nodiscard]] u64* owed_of(u32 place) noexcept { return owed_[place >> chunk_bits_].data() + within(place); }
  [[nodiscard]] const u64* owed_of(u32 place) const noexcept {
    return owed_[place >> chunk_bits_].data() + within(place);
  }

  u32 words_ = 0;
  u32 chunk_bits_ = 0;
  u64 owed_by_all_ = 0;
  std::vector<SmallPageVector<u64>> chunks_;  ///< of headers
  std::vector<SmallPageVector<u64>> owed_;
  std::unique_ptr<u64*[]> headers_;  ///< [chunk]: chunks_, for readers who run while there are more
};

}  // namespace banyan::engine
