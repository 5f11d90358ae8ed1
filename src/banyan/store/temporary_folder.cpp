#include "banyan/store/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "banyan/base/error.hpp"

namespace banyan::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "banyan-joined-";

/// Opens a folder of this user and locks it. A lock ends with its process, however that ends, and is seen from other
/// containers too, where numbers of processes are others. -1: somebody holds it, or none can be had there; errno tells.
int locked(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return -1;
  struct stat status {};
  const bool own = fstat(file, &status) == 0 && status.st_uid == geteuid();
  if (own && flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  const int error = own ? errno : EPERM;
  close(file);
  errno = error;
  return -1;
}

/// Those of processes that are gone.
void remove_abandoned(const fs::path& place) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(place, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with(kPrefix)) found.push_back(entry->path());
  }
  for (const fs::path& folder : found) {
    const int lock = locked(folder.string());
    if (lock < 0) continue;
    fs::remove_all(folder, error);
    close(lock);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const fs::path place = fs::temp_directory_path();
  remove_abandoned(place);
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    path_ = (place / (std::string(kPrefix) + "XXXXXX")).string();
    if (mkdtemp(path_.data()) == nullptr) break;
    lock_ = locked(path_);
    std::error_code error;
    // Before it was locked another process may have taken it for one that is left behind.
    const bool lost = lock_ < 0 ? errno == EWOULDBLOCK || errno == ENOENT : !fs::exists(path_, error);
    if (!lost) return;
    if (lock_ >= 0) close(lock_);
    lock_ = -1;
  }
  throw ConfigError({place.string(), 0, 0, ""}, "no temporary folder can be made there",
                    "make room there, or set TMPDIR to a folder that can be written");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace banyan::store
