// Writes Chakra execution traces, byte by byte as the tools do.
#pragma once

#include <string>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::test::chakra {

inline std::string varint(u64 value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  return bytes + static_cast<char>(value);
}

inline std::string number_field(u32 field, u64 value) { return varint(field << 3U) + varint(value); }
inline std::string bytes_field(u32 field, const std::string& value) {
  return varint(field << 3U | 2U) + varint(value.size()) + value;
}
inline std::string framed(const std::string& message) { return varint(message.size()) + message; }

inline const std::string kMetadata = framed(bytes_field(1, "0.0.4"));

/// A node as the tools write it.
class Node {
 public:
  Node(u64 id, u32 type, const std::string& name)
      : bytes_(number_field(1, id) + bytes_field(2, name) + number_field(3, type)) {}
  Node& after(const std::vector<u64>& ids) {
    std::string packed;
    for (const u64 id : ids) packed += varint(id);
    bytes_ += bytes_field(5, packed);
    return *this;
  }
  Node& after_control(u64 id) {
    bytes_ += number_field(4, id);
    return *this;
  }
  Node& micros(u64 value) {
    bytes_ += number_field(7, value);
    return *this;
  }
  Node& inputs(const std::string& values) {
    bytes_ += bytes_field(8, bytes_field(1, values));
    return *this;
  }
  /// As an int64, int32 or bool.
  Node& attribute(const std::string& name, u64 value, u32 field = 9) {
    bytes_ += bytes_field(10, bytes_field(1, name) + number_field(field, value));
    return *this;
  }
  /// Of any type, in bytes.
  Node& attribute_bytes(const std::string& bytes) {
    bytes_ += bytes_field(10, bytes);
    return *this;
  }
  Node& group(const std::string& name) { return attribute_bytes(bytes_field(1, "pg_name") + bytes_field(29, name)); }
  [[nodiscard]] std::string text() const { return framed(bytes_); }

 private:
  std::string bytes_;
};

inline Node compute(u64 id, u64 micros) { return Node(id, 4, "compute").micros(micros); }
inline Node send(u64 id, u32 to, u64 size, u64 tag = 0) {
  return Node(id, 5, "send").attribute("comm_dst", to, 7).attribute("comm_size", size).attribute("comm_tag", tag, 7);
}
inline Node receive(u64 id, u32 from, u64 size, u64 tag = 0) {
  return Node(id, 6, "receive")
      .attribute("comm_src", from, 7)
      .attribute("comm_size", size)
      .attribute("comm_tag", tag, 7);
}
inline Node collective(u64 id, u64 type, u64 size) {
  return Node(id, 7, "step").attribute("is_cpu_op", 0, 27).attribute("comm_type", type).attribute("comm_size", size);
}

}  // namespace banyan::test::chakra
