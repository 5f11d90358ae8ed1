#include "banyan/base/archive.hpp"

#include <cstring>

namespace banyan {
namespace {

constexpr std::size_t kPage = 4096;

[[nodiscard]] bool is_zero(const char* data, std::size_t size) {
  return size == 0 || (data[0] == 0 && std::memcmp(data, data + 1, size - 1) == 0);
}

}  // namespace

void Archive::same(u64 value) {
  u64 written = value;
  member(written);
  if (written != value) throw ArchiveMismatch("the state is that of another network");
}

void Archive::block(void* data, std::size_t size) {
  if (size < 2 * kPage) {
    if (size != 0) bytes(data, size);
    return;
  }
  char* at = static_cast<char*>(data);
  char* const end = at + size;
  const auto page_at = [&](char* from) { return std::min<std::size_t>(kPage, static_cast<std::size_t>(end - from)); };
  while (at != end) {
    // Pages of zeros, and then as many that are not.
    u64 zeros = 0;
    u64 filled = 0;
    if (!reading_) {
      char* next = at;
      for (; next != end && is_zero(next, page_at(next)); next += page_at(next)) ++zeros;
      for (; next != end && !is_zero(next, page_at(next)); next += page_at(next)) ++filled;
    }
    member(zeros);
    member(filled);
    if (zeros + filled == 0) throw ArchiveMismatch("the state is that of another network");
    for (; zeros != 0 && at != end; --zeros, at += page_at(at)) {
      if (reading_ && !is_zero(at, page_at(at))) std::memset(at, 0, page_at(at));
    }
    const std::size_t bytes_filled = std::min<std::size_t>(filled * kPage, static_cast<std::size_t>(end - at));
    if (bytes_filled != 0) bytes(at, bytes_filled);
    at += bytes_filled;
  }
}

void ArchiveOfText::bytes(void* data, std::size_t size) {
  if (size > text_.size() - at_) throw ArchiveMismatch("the state ends too early");
  std::memcpy(data, text_.data() + at_, size);
  at_ += size;
}

}  // namespace banyan
