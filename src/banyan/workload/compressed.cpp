#include "banyan/workload/compressed.hpp"

#include <bzlib.h>
#include <zlib.h>

#include <algorithm>
#include <thread>

#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"
#include "banyan/workload/bzip2_blocks.hpp"

namespace banyan::workload {
namespace compressed {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18U;
constexpr std::size_t kMost = std::size_t{1} << 36U;

enum class End : u8 { whole, cut, damaged, too_long };

/// Appends what `bytes` hold, of any number of streams behind each other.
End inflate_all(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    z_stream stream{};
    if (inflateInit2(&stream, 15 + 16) != Z_OK) return End::damaged;
    int status = Z_OK;
    std::size_t used = 0;
    while (status == Z_OK) {
      const std::size_t before = out.size();
      out.resize(before + kChunk);
      const std::size_t piece = std::min(bytes.size() - used, std::size_t{1} << 30U);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + used));
      stream.avail_in = static_cast<uInt>(piece);
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream.avail_out = static_cast<uInt>(kChunk);
      status = inflate(&stream, Z_NO_FLUSH);
      used += piece - stream.avail_in;
      out.resize(before + kChunk - stream.avail_out);
      if (out.size() > kMost) {
        inflateEnd(&stream);
        return End::too_long;
      }
    }
    inflateEnd(&stream);
    if (status == Z_BUF_ERROR) return End::cut;
    if (status != Z_STREAM_END) return End::damaged;
    bytes.remove_prefix(used);
  }
  return End::whole;
}

End decompress_all(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    bz_stream stream{};
    if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) return End::damaged;
    int status = BZ_OK;
    std::size_t used = 0;
    while (status == BZ_OK) {
      const std::size_t before = out.size();
      out.resize(before + kChunk);
      const std::size_t piece = std::min(bytes.size() - used, std::size_t{1} << 30U);
      stream.next_in = const_cast<char*>(bytes.data() + used);
      stream.avail_in = static_cast<unsigned>(piece);
      stream.next_out = out.data() + before;
      stream.avail_out = static_cast<unsigned>(kChunk);
      status = BZ2_bzDecompress(&stream);
      used += piece - stream.avail_in;
      const bool nothing = stream.avail_out == kChunk && piece == stream.avail_in;
      out.resize(before + kChunk - stream.avail_out);
      if (status == BZ_OK && nothing && used == bytes.size()) {
        BZ2_bzDecompressEnd(&stream);
        return End::cut;
      }
      if (out.size() > kMost) {
        BZ2_bzDecompressEnd(&stream);
        return End::too_long;
      }
    }
    BZ2_bzDecompressEnd(&stream);
    if (status != BZ_STREAM_END) return End::damaged;
    bytes.remove_prefix(used);
  }
  return End::whole;
}

End uncompress(std::string_view bytes, std::string& out) {
  if (is_gzip(bytes)) return inflate_all(bytes, out);
  const auto one = [](std::string_view block, std::string& part) { return decompress_all(block, part) == End::whole; };
  if (decompress_blocks(bytes, std::max(1U, std::thread::hardware_concurrency()), kMost, one, out)) return End::whole;
  return decompress_all(bytes, out);
}

}  // namespace
}  // namespace compressed

bool is_gzip(std::string_view start) noexcept { return start.substr(0, 3) == "\x1f\x8b\x08"; }

bool is_bzip2(std::string_view start) noexcept {
  return start.size() >= 10 && start.substr(0, 3) == "BZh" && start[3] >= '1' && start[3] <= '9' &&
         start.substr(4, 6) == "\x31\x41\x59\x26\x53\x59";
}

std::string read_uncompressed(const std::string& path) {
  std::string why;
  std::optional<std::string> bytes = read_whole_file(path, &why);
  if (!bytes) throw ConfigError({path, 0, 0, ""}, "cannot read the file: " + why, "give a file that is there");
  if (!is_gzip(*bytes) && !is_bzip2(*bytes)) return std::move(*bytes);
  std::string out;
  const compressed::End end = compressed::uncompress(*bytes, out);
  if (end == compressed::End::whole) return out;
  const std::string kind = is_gzip(*bytes) ? "gzip" : "bzip2";
  const std::string after = " after " + std::to_string(out.size()) + " uncompressed bytes";
  if (end == compressed::End::cut) {
    throw ConfigError(
        {path, 0, 0, ""},
        "the " + kind + " file is cut short: it ends at byte " + std::to_string(bytes->size()) + "," + after,
        "give the whole file");
  }
  throw ConfigError({path, 0, 0, ""},
                    end == compressed::End::too_long ? "the " + kind + " file holds more than 64 GiB"
                                                     : "the " + kind + " file is damaged" + after,
                    end == compressed::End::too_long ? "give a smaller one" : "fetch or make the file again");
}

std::string uncompressed_start(std::string_view start) {
  if (!is_gzip(start) && !is_bzip2(start)) return std::string(start);
  constexpr std::size_t kFew = std::size_t{1} << 16U;  // of bytes that may become a thousand times as many
  std::string out;
  static_cast<void>(compressed::uncompress(start.substr(0, kFew), out));
  return out;
}

}  // namespace banyan::workload
