// Numbers as bytes, the same on every machine: whole numbers in groups of seven bits (LEB128, small ones take one
// byte), reals as their eight bytes, the lowest first.
#pragma once

#include <bit>
#include <stdexcept>
#include <string>
#include <string_view>

#include "banyan/base/types.hpp"

namespace banyan {

class BlobWriter {
 public:
  void add(u64 value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>((value & 0x7fU) | 0x80U);
    bytes_ += static_cast<char>(value);
  }
  void add_fixed(u64 value) {
    for (u32 i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xffU);
  }
  void add(double value) { add_fixed(std::bit_cast<u64>(value)); }

  void add_bytes(std::string_view bytes) { bytes_ += bytes; }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads what BlobWriter wrote. Throws std::out_of_range when the bytes end too early or a number is too long.
class BlobReader {
 public:
  explicit BlobReader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool done() const { return bytes_.empty(); }
  [[nodiscard]] u64 natural() {
    u64 value = 0;
    for (u32 shift = 0; shift < 64; shift += 7) {
      const u64 byte = next();
      value |= (byte & 0x7fU) << shift;
      if (byte < 0x80) return value;
    }
    throw std::out_of_range("a number of more than 64 bits");
  }
  [[nodiscard]] u64 fixed() {
    u64 value = 0;
    for (u32 i = 0; i < 8; ++i) value |= next() << (8 * i);
    return value;
  }
  [[nodiscard]] std::string_view bytes(std::size_t count) {
    if (bytes_.size() < count) throw std::out_of_range("too few bytes");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  [[nodiscard]] std::string_view rest() const { return bytes_; }
  [[nodiscard]] double real() { return std::bit_cast<double>(fixed()); }

 private:
  [[nodiscard]] u64 next() {
    if (bytes_.empty()) throw std::out_of_range("too few bytes");
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }

  std::string_view bytes_;
};

}  // namespace banyan
