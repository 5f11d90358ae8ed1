// Congestion trees as bytes: in the result store, and in the page that shows them. web/src/record.ts reads the same.
#pragma once

#include <string>
#include <string_view>

#include "banyan/stats/congestion.hpp"

namespace banyan::store {

/// Compressed (zlib, RFC 1950) behind four letters and the length of what is compressed.
[[nodiscard]] std::string to_bytes(const stats::CongestionRecord& record);
/// Throws std::out_of_range when this is not what to_bytes wrote.
[[nodiscard]] stats::CongestionRecord congestion_from(std::string_view bytes);

}  // namespace banyan::store
