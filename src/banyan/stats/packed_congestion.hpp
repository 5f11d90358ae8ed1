// Congestion trees as bytes: in a result, in the store, and in the page that shows them. web/src/record.ts reads the
// same.
#pragma once

#include <string>
#include <string_view>

#include "banyan/stats/congestion.hpp"

namespace banyan::stats {

/// Compressed (zlib, RFC 1950) behind four letters and the length of what is compressed.
[[nodiscard]] std::string to_bytes(const CongestionRecord& record);
/// Throws std::out_of_range when this is not what to_bytes wrote.
[[nodiscard]] CongestionRecord congestion_from(std::string_view bytes);

/// What a finished run keeps of its record. A study keeps hundreds of runs until its page is written, and packed they
/// take about a twentieth of their room.
class PackedCongestion {
 public:
  explicit PackedCongestion(const CongestionRecord& record) : bytes_(to_bytes(record)) {}
  /// Throws std::out_of_range when these are not the bytes of a record.
  explicit PackedCongestion(std::string bytes) : bytes_(std::move(bytes)) { static_cast<void>(record()); }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] CongestionRecord record() const { return congestion_from(bytes_); }
  /// Another zlib may pack the same record into other bytes.
  bool operator==(const PackedCongestion& other) const { return bytes_ == other.bytes_ || record() == other.record(); }

 private:
  std::string bytes_;
};

}  // namespace banyan::stats
