#include "banyan/store/file_lock.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "banyan/base/error.hpp"

namespace banyan::store {
namespace {

[[noreturn]] void cannot_lock(const std::string& path, int error) {
  throw ConfigError({path, 0, 0, ""}, fmt::format("cannot be written: {}", std::strerror(error)),
                    "name another folder, or mend its permissions or the space on its disk");
}

std::string holder(int file) {
  char text[32] = {};
  const ssize_t size = pread(file, text, sizeof text - 1, 0);
  return size > 0 ? fmt::format(" (process {})", std::string(text, static_cast<std::size_t>(size))) : "";
}

/// False when whoever held the lock before has removed the file meanwhile: what is locked then is a ghost.
bool still_there(int file, const std::string& path) {
  struct stat mine {};
  struct stat named {};
  return fstat(file, &mine) == 0 && stat(path.c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
         mine.st_dev == named.st_dev;
}

}  // namespace

FileLock::FileLock(std::string path, const std::string& what) : path_(std::move(path)) {
  for (;;) {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) cannot_lock(path_, errno);
    int failed = 0;
    while ((failed = flock(file_, LOCK_EX | LOCK_NB)) != 0 && errno == EINTR) continue;
    const int error = errno;
    if (failed == 0 && still_there(file_, path_)) break;
    const std::string by = holder(file_);
    close(file_);
    if (failed == 0) continue;
    if (error != EWOULDBLOCK) cannot_lock(path_, error);
    throw ConfigError({what, 0, 0, ""}, fmt::format("another banyan{} is writing to this result store", by),
                      "wait until it is done, or name another folder with --out");
  }
  // This is for people only: the lock holds without it, on a full disk for instance.
  const std::string number = fmt::format("{}", getpid());
  const bool written = ftruncate(file_, 0) == 0 && pwrite(file_, number.data(), number.size(), 0) > 0;
  static_cast<void>(written);
}

FileLock::~FileLock() {
  unlink(path_.c_str());
  close(file_);
}

}  // namespace banyan::store
