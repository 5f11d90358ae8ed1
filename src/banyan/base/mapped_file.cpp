#include "banyan/base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "banyan/base/file.hpp"

namespace banyan {
namespace {

/// Linux maps a large page of its cache whole, 2 MiB for each place at which a file is read: 1,000 ranks of a schedule
/// would hold all of it. It maps nothing beyond the mapping, so neighbours are made to differ in a flag that nothing
/// else heeds. Where that fails, the file is held in larger pieces.
void keep_faults_small(char* mapping, std::size_t size) noexcept {
#ifdef MADV_DONTDUMP
  constexpr std::size_t kPieces = 32'768;  // half of the mappings that a process may have (vm.max_map_count)
  constexpr std::size_t kSmall = std::size_t{1} << 29U;  // a file that may be held whole
  std::size_t piece = std::size_t{1} << 17U;
  if (size <= kSmall) return;
  while (size / piece > kPieces) piece *= 2;
  for (std::size_t at = 0; at < size; at += 2 * piece) {
    if (madvise(mapping + at, std::min(piece, size - at), MADV_DONTDUMP) != 0) return;
  }
#endif
}

}  // namespace

std::optional<MappedFile> MappedFile::open(const std::string& path, std::string* why) {
  MappedFile made;
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    made.size_ = static_cast<std::size_t>(status.st_size);
    void* const mapping = mmap(nullptr, made.size_, PROT_READ, MAP_SHARED, file, 0);
    if (mapping != MAP_FAILED) {
      made.mapping_ = static_cast<const char*>(mapping);
      keep_faults_small(static_cast<char*>(mapping), made.size_);
    }
  }
  if (file >= 0) close(file);
  if (made.mapping_ != nullptr) return made;
  std::optional<std::string> text = read_whole_file(path, why);
  if (!text) return std::nullopt;
  made.read_ = std::move(*text);
  return made;
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  mapping_ = std::exchange(other.mapping_, nullptr);
  size_ = std::exchange(other.size_, 0);
  read_ = std::move(other.read_);
  return *this;
}

void MappedFile::release_pages() const noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the system's function has no const
  if (mapping_ != nullptr) madvise(const_cast<char*>(mapping_), size_, MADV_DONTNEED);
}

void MappedFile::unmap() noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): likewise
  if (mapping_ != nullptr) munmap(const_cast<char*>(mapping_), size_);
  mapping_ = nullptr;
}

}  // namespace banyan
