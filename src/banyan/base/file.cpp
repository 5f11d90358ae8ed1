#include "banyan/base/file.hpp"

#include <array>
#include <filesystem>
#include <fstream>

namespace banyan {

std::optional<std::string> read_whole_file(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (error || !(std::filesystem::is_regular_file(status) || std::filesystem::is_fifo(status))) return std::nullopt;
  std::ifstream stream(path, std::ios::binary);
  if (!stream.is_open()) return std::nullopt;
  std::string text;
  std::array<char, 65536> part;
  // read() reports what goes wrong below it in the stream's state; its iterators would throw.
  while (stream.read(part.data(), part.size()) || stream.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) return std::nullopt;
  return text;
}

}  // namespace banyan
