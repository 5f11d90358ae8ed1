// The bytes of a file without a copy of it: mapped where the file is a regular one, read where it is a pipe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace banyan {

class MappedFile {
 public:
  /// Nothing when it can be neither mapped nor read; `why` then gets the reason, for people.
  [[nodiscard]] static std::optional<MappedFile> open(const std::string& path, std::string* why = nullptr);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { unmap(); }

  [[nodiscard]] std::string_view bytes() const noexcept {
    return mapping_ == nullptr ? std::string_view(read_) : std::string_view(mapping_, size_);
  }
  /// What was read of a mapped file so far takes no memory any more; it is read again when it is asked for.
  void release_pages() const noexcept;

 private:
  void unmap() noexcept;

  const char* mapping_ = nullptr;
  std::size_t size_ = 0;
  std::string read_;
};

}  // namespace banyan
