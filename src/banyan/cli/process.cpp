#include "banyan/cli/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>  // environ, with GNU's extensions, which g++ and clang++ define

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace banyan::cli {
namespace {

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "a pipe");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int end(std::size_t which) const { return ends_[which]; }
  void close_end(std::size_t which) {
    if (ends_[which] >= 0) close(ends_[which]);
    ends_[which] = -1;
  }
  /// False at the end of what is written.
  bool read_into(std::string& text) {
    std::array<char, 4096> part{};
    const ssize_t size = ::read(ends_[0], part.data(), part.size());
    if (size > 0) text.append(part.data(), static_cast<std::size_t>(size));
    return size > 0 || (size < 0 && errno == EINTR);
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

void read_both(Pipe& out, Pipe& err, ProgramSaid& said) {
  std::array<pollfd, 2> files{pollfd{out.end(0), POLLIN, 0}, pollfd{err.end(0), POLLIN, 0}};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    if (poll(files.data(), files.size(), -1) < 0 && errno != EINTR) return;
    if (files[0].fd >= 0 && files[0].revents != 0 && !out.read_into(said.out)) files[0].fd = -1;
    if (files[1].fd >= 0 && files[1].revents != 0 && !err.read_into(said.err)) files[1].fd = -1;
  }
}

}  // namespace

ProgramSaid run_program(const std::vector<std::string>& words) {
  ProgramSaid said;
  Pipe out;
  Pipe err;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.end(1), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.end(1), STDERR_FILENO);
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv.front(), &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return said;
  said.found = true;
  out.close_end(1);
  err.close_end(1);
  read_both(out, err, said);
  int raw = 0;
  while (waitpid(child, &raw, 0) < 0 && errno == EINTR) continue;
  said.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  return said;
}

std::string own_path() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "banyan" : path.string();
}

std::string quoted_for_shell(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace banyan::cli
