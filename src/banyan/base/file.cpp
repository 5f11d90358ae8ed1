#include "banyan/base/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <vector>

#include "banyan/base/hash.hpp"

namespace banyan {
namespace {

/// What a shell needs to start the program behind "mkfifo" or <(...), many times over.
constexpr int kPatience = 3'000;  // ms

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::optional<std::string> failed(std::string* why, const char* reason) {
  if (why != nullptr) *why = reason;
  return std::nullopt;
}

namespace fs = std::filesystem;

std::string last_error() { return errno != 0 ? std::strerror(errno) : "unknown reason"; }

/// The text to its end, or why not; the descriptor may be one that does not block.
std::string write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = write(file, text.data() + done, text.size() - done);
    if (size >= 0) {
      done += static_cast<std::size_t>(size);
    } else if (errno == EAGAIN) {
      pollfd waiting{file, POLLOUT, 0};
      static_cast<void>(poll(&waiting, 1, -1));
    } else if (errno != EINTR) {
      return last_error();
    }
  }
  return "";
}

/// A reader that goes away must not end the program: it is told as any other error.
class NoSignalOfPipes {
 public:
  NoSignalOfPipes() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSignalOfPipes() {
    if (sigismember(&before_, SIGPIPE) != 0) return;
    const timespec now{0, 0};
    while (sigtimedwait(&pipe_, nullptr, &now) > 0) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSignalOfPipes(const NoSignalOfPipes&) = delete;
  NoSignalOfPipes& operator=(const NoSignalOfPipes&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

std::string write_into(const std::string& path, const std::string& text) {
  const NoSignalOfPipes quiet;
  // Without O_NONBLOCK the opening of a pipe waits for its reader, who may never come.
  constexpr int kEvery = 10;  // ms
  for (int waited = 0;; waited += kEvery) {
    const Descriptor file(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (file.number() >= 0) return write_all(file.number(), text);
    if (errno != ENXIO) return last_error();
    if (waited >= kPatience) return "nobody reads from this pipe";
    std::this_thread::sleep_for(std::chrono::milliseconds(kEvery));
  }
}

/// Waits until somebody writes into a pipe or has done so; false when nobody opens it.
bool wait_for_writer(int file) {
  pollfd waiting{file, POLLIN, 0};
  int events = 0;
  while ((events = poll(&waiting, 1, kPatience)) < 0 && errno == EINTR) continue;
  return events > 0;
}

}  // namespace

std::optional<std::string> read_whole_file(const std::string& path, std::string* why) {
  // Without O_NONBLOCK the opening of a pipe waits for its writer, who may never come.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.number() < 0) return failed(why, std::strerror(errno));
  struct stat status {};
  if (fstat(file.number(), &status) != 0) return failed(why, std::strerror(errno));
  const bool pipe = S_ISFIFO(status.st_mode);
  if (S_ISDIR(status.st_mode)) return failed(why, "it is a directory");
  if (!S_ISREG(status.st_mode) && !pipe) return failed(why, "it is neither a file nor a pipe");
  std::string text;
  if (S_ISREG(status.st_mode)) text.reserve(static_cast<std::size_t>(std::min<off_t>(status.st_size, off_t{1} << 30U)));
  std::array<char, 65536> part;
  bool writer = !pipe;
  for (;;) {
    const ssize_t size = read(file.number(), part.data(), part.size());
    if (size > 0) {
      writer = true;
      text.append(part.data(), static_cast<std::size_t>(size));
    } else if (size == 0 && writer) {
      return text;
    } else if (size == 0) {
      // Nobody has the pipe open for writing: not yet, or not any more.
      if (!wait_for_writer(file.number())) return failed(why, "nobody writes into this pipe");
      writer = true;
    } else if (errno == EAGAIN) {
      writer = true;
      pollfd waiting{file.number(), POLLIN, 0};
      static_cast<void>(poll(&waiting, 1, -1));
    } else if (errno != EINTR) {
      return failed(why, std::strerror(errno));
    }
  }
}

std::string temporary_beside(const std::string& path) {
  const fs::path place(path);
  return (place.parent_path() / ("." + place.filename().string() + "." + std::to_string(getpid()) + ".tmp")).string();
}

bool is_pipe_or_device(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

std::optional<std::string> read_text_file(const std::string& path, std::string* why) {
  std::optional<std::string> text = read_whole_file(path, why);
  if (text && text->starts_with(kByteOrderMark)) text->erase(0, kByteOrderMark.size());
  return text;
}

std::string write_whole_file(const std::string& path, const std::string& text) {
  if (is_pipe_or_device(path)) return write_into(path, text);
  std::error_code error;
  fs::path place = path;
  constexpr int kMostLinks = 40;  // as the kernel follows
  for (int i = 0; i < kMostLinks && fs::is_symlink(place, error); ++i) {
    place = place.parent_path() / fs::read_symlink(place, error);
  }
  if (fs::is_symlink(place, error)) return "too many symbolic links";
  const std::string temporary = temporary_beside(place.string());
  errno = 0;
  std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  std::string reason = stream ? "" : last_error();
  if (reason.empty()) {
    fs::rename(temporary, place, error);
    if (!error) return "";
    reason = error.message();
  }
  fs::remove(temporary, error);
  return reason;
}

std::optional<u64> digest_of_file(const std::string& path) {
  // Opening a pipe may wait for ever.
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  constexpr std::size_t kPart = std::size_t{1} << 20U;
  std::vector<char> part(kPart);
  std::array<Hasher, 4> lanes;  // words in turn: one hash alone waits for its own multiplications
  Hasher rest;
  while (file) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    const std::string_view bytes(part.data(), static_cast<std::size_t>(file.gcount()));
    std::size_t i = 0;
    for (; i + 8 * lanes.size() <= bytes.size(); i += 8 * lanes.size()) {
      for (std::size_t k = 0; k < lanes.size(); ++k) lanes[k].add(word_at(bytes.data() + i + 8 * k));
    }
    rest.add(bytes.substr(i));
  }
  if (file.bad()) return std::nullopt;
  for (const Hasher& lane : lanes) rest.add(lane.value());
  return rest.value();
}

}  // namespace banyan
