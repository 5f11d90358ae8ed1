#include "banyan/workload/bzip2_blocks.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "banyan/base/parallel.hpp"

namespace banyan::workload {
namespace bzip2_blocks {
namespace {

// Layout: a stream is "BZh" and a digit, its blocks, the mark of its end and the checksum of its blocks' checksums, and
// bits up to the next byte. A block begins, at any bit, with a mark and its checksum (32 bits). Streams follow each
// other.
constexpr u64 kBlock = 0x314159265359;
constexpr u64 kEnd = 0x177245385090;
constexpr u32 kMark = 48;      ///< bits
constexpr u32 kChecksum = 32;  ///< bits
constexpr u64 kHeader = 32;    ///< bits

/// `count` bits, at most 57, from bit `at` on; 0 behind the end.
u64 bits_at(std::string_view bytes, u64 at, u32 count) noexcept {
  u64 word = 0;
  for (u64 k = 0; k < 8; ++k) {
    const u64 byte = at / 8 + k;
    word = word << 8U | (byte < bytes.size() ? static_cast<unsigned char>(bytes[byte]) : 0U);
  }
  return word << at % 8 >> (64 - count);
}

struct Mark {
  u64 at = 0;  ///< bit
  bool end = false;
};

std::vector<Mark> marks_of(std::string_view bytes) {
  std::vector<Mark> marks;
  u64 seen = 0;  // the last 64 bits
  for (u64 i = 0; i < bytes.size(); ++i) {
    seen = seen << 8U | static_cast<unsigned char>(bytes[i]);
    for (u32 after = 8; after-- > 0;) {  // bits behind the last one of the mark
      const u64 found = seen >> after & ((u64{1} << kMark) - 1);
      if (found != kBlock && found != kEnd) continue;
      if (8 * (i + 1) < kMark + after) continue;
      marks.push_back({8 * (i + 1) - after - kMark, found == kEnd});
    }
  }
  return marks;
}

/// Writes bits behind each other.
class BitWriter {
 public:
  void put(u64 value, u32 count) {
    while (count-- > 0) {
      if (free_ == 0) {
        bytes_ += '\0';
        free_ = 8;
      }
      bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) | (value >> count & 1U) << --free_);
    }
  }
  /// Only where whole bytes were put before.
  void put_from(std::string_view bytes, u64 begin, u64 end) {
    bytes_.reserve(bytes_.size() + (end - begin) / 8 + 16);
    for (; end - begin >= 8; begin += 8) bytes_ += static_cast<char>(bits_at(bytes, begin, 8));
    if (begin < end) put(bits_at(bytes, begin, static_cast<u32>(end - begin)), static_cast<u32>(end - begin));
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
  u32 free_ = 0;
};

/// The block between two marks as a file of its own: its only checksum is that of the stream.
std::string alone(std::string_view bytes, u64 begin, u64 end) {
  BitWriter out;
  for (const char c : {'B', 'Z', 'h', '9'}) out.put(static_cast<unsigned char>(c), 8);
  out.put_from(bytes, begin, end);
  out.put(kEnd, kMark);
  out.put(bits_at(bytes, begin + kMark, kChecksum), kChecksum);
  return out.bytes();
}

/// Whether streams with these marks fill the file, and their checksums are those of their blocks.
bool fits(std::string_view bytes, const std::vector<Mark>& marks) {
  u64 expected = kHeader;  // where a stream has its first mark
  u32 sum = 0;
  bool begun = false;
  for (const Mark& mark : marks) {
    if (!begun && (mark.at != expected || bits_at(bytes, mark.at - kHeader, 24) != 0x425A68)) return false;
    begun = !mark.end;
    const auto checksum = static_cast<u32>(bits_at(bytes, mark.at + kMark, kChecksum));
    if (!mark.end) {
      sum = std::rotl(sum, 1) ^ checksum;
      continue;
    }
    if (checksum != sum) return false;
    sum = 0;
    expected = (mark.at + kMark + kChecksum + 7) / 8 * 8 + kHeader;
  }
  return !begun && expected == 8 * bytes.size() + kHeader;
}

}  // namespace
}  // namespace bzip2_blocks

bool decompress_blocks(std::string_view bytes, u32 threads, std::size_t most,
                       const std::function<bool(std::string_view, std::string&)>& decompress, std::string& out) {
  const std::vector<bzip2_blocks::Mark> marks = bzip2_blocks::marks_of(bytes);
  std::vector<std::size_t> blocks;  // their marks
  for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
    if (!marks[i].end) blocks.push_back(i);
  }
  if (blocks.size() < 2 || !bzip2_blocks::fits(bytes, marks)) return false;
  const std::size_t before = out.size();
  const std::size_t at_once = std::size_t{8} * threads;  // so many of some 900 KB wait to be appended
  std::vector<std::string> parts(std::min(at_once, blocks.size()));
  std::vector<char> sound(parts.size());
  for (std::size_t first = 0; first < blocks.size(); first += parts.size()) {
    const std::size_t count = std::min(parts.size(), blocks.size() - first);
    in_parallel(count, threads, [&](std::size_t k) {
      const std::size_t mark = blocks[first + k];
      parts[k].clear();
      sound[k] = decompress(bzip2_blocks::alone(bytes, marks[mark].at, marks[mark + 1].at), parts[k]) ? 1 : 0;
    });
    // The rest take so much if they are as long as the first ones.
    if (first == 0) out.reserve(before + parts[0].size() * blocks.size());
    for (std::size_t k = 0; k < count; ++k) {
      if (sound[k] == 0 || out.size() - before + parts[k].size() > most) {
        out.resize(before);
        return false;
      }
      out += parts[k];
    }
  }
  return true;
}

}  // namespace banyan::workload
