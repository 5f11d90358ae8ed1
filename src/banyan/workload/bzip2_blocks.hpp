// The blocks of a bzip2 file, each of which can be decompressed without the others.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "banyan/base/types.hpp"

namespace banyan::workload {

/// Appends what the bytes of a bzip2 file hold, some blocks at once on as many threads; `decompress(stream, out)`
/// appends what a file of one block holds and says whether it is sound. False, and nothing appended, where the file has
/// fewer than two blocks or is not made of sound ones, or holds more than `most` bytes: whoever reads it from its
/// beginning learns why.
[[nodiscard]] bool decompress_blocks(std::string_view bytes, u32 threads, std::size_t most,
                                     const std::function<bool(std::string_view, std::string&)>& decompress,
                                     std::string& out);

}  // namespace banyan::workload
