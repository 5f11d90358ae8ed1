#include "banyan/cli/output.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/report/terminal_text.hpp"

namespace banyan::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy = "name another place, or mend its permissions or the space on its disk";

[[noreturn]] void cannot_write(const std::string& path, const std::string& reason) {
  throw ConfigError({path, 0, 0, ""}, fmt::format("cannot be written: {}", reason), kRemedy);
}

}  // namespace

void require_writable_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) cannot_write(folder, error.message());
  if (!fs::is_directory(folder, error)) cannot_write(folder, "it is not a directory");
  const std::string probe = temporary_beside((fs::path(folder) / "probe").string());
  const std::string reason = write_whole_file(probe, "");
  if (!reason.empty()) cannot_write(folder, reason);
  fs::remove(probe, error);
}

void require_writable_file(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) cannot_write(path, "it is a directory");
  const fs::path parent = fs::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (!fs::exists(folder, error)) {
    throw ConfigError({path, 0, 0, ""}, fmt::format("cannot be written: there is no folder {}", folder),
                      "make the folder first, or name a file in one that is there");
  }
  require_writable_folder(folder);
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::exists(a, error) && !fs::is_regular_file(a, error)) return false;
  if (fs::equivalent(a, b, error)) return true;
  const auto canonical = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, error), error);
  };
  const fs::path one = canonical(a);
  return !error && one == canonical(b) && !error;
}

void require_outputs(const std::vector<NamedFile>& written, const std::vector<NamedFile>& read) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto& [name, path] = written[i];
    if (path.empty()) continue;
    require_writable_file(path);
    for (const NamedFile& input : read) {
      if (input.path.empty() || !is_same_file(path, input.path)) continue;
      throw ConfigError({"command line", 0, 0, name},
                        fmt::format("{} would take the place of {}, which is read", path, input.name),
                        fmt::format("give {} another file", name));
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (written[k].path.empty() || !is_same_file(path, written[k].path)) continue;
      throw ConfigError(
          {"command line", 0, 0, name},
          fmt::format("{} is what {} writes, too: one would take the place of the other", path, written[k].name),
          fmt::format("give {} another file", name));
    }
  }
}

void write_file(const std::string& path, const std::string& text) {
  const std::string reason = write_whole_file(path, text);
  if (!reason.empty()) cannot_write(path, reason);
}

std::string read_file(const std::string& path) {
  std::string why;
  std::optional<std::string> text = read_text_file(path, &why);
  if (!text) {
    throw ConfigError({path, 0, 0, ""}, fmt::format("cannot be read: {}", why),
                      "name a file that exists and may be read");
  }
  return std::move(*text);
}

void note(const std::string& text) { std::fputs(fmt::format("banyan: {}\n", with_faults_shown(text)).c_str(), stderr); }

void print(const std::string& text) {
  errno = 0;
  // A text that is longer than the stream's buffer fails in the first of the two, a shorter one in the second.
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) != 0 || !written) cannot_write("standard output", std::strerror(errno));
}

namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// COLUMNS; 0: it is not set, or to no width.
std::size_t columns_given() {
  const std::string_view text = environment("COLUMNS");
  std::size_t columns = 0;
  std::from_chars(text.data(), text.data() + text.size(), columns);
  return columns;
}

}  // namespace

std::size_t columns_of(std::FILE* stream) {
  if (const std::size_t columns = columns_given(); columns > 0) return columns;
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  constexpr std::size_t kUsual = 80;
  return kUsual;
}

namespace {

/// Open MPI gives its processes a terminal, wherever what they write goes to.
bool is_terminal(std::FILE* stream) {
  return isatty(fileno(stream)) == 1 && environment("OMPI_COMM_WORLD_RANK").empty();
}

}  // namespace

bool has_colour(std::FILE* stream) {
  return is_terminal(stream) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

void show_text(const std::string& text, std::size_t keys) {
  const bool folded = is_terminal(stdout) || columns_given() > 0;
  const std::string shown = folded ? report::fit_to_columns(text, columns_of(stdout), keys) : text;
  print(has_colour(stdout) ? report::in_colour(shown) : shown);
}

}  // namespace banyan::cli
