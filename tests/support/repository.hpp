// The project's own files, for tests that read them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "build_info.hpp"

namespace banyan::test {

[[nodiscard]] inline std::filesystem::path repository_root() { return BANYAN_SOURCE_DIR; }

[[nodiscard]] inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

[[nodiscard]] inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// What a shell command prints on both streams, and its exit status.
struct Output {
  std::string text;
  int status = -1;
};

[[nodiscard]] inline Output run_shell(const std::string& command) {
  Output output;
  FILE* pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a shell");
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) output.text.append(buffer.data(), n);
  const int status = pclose(pipe);
  output.status = status >= 256 ? status / 256 : status;
  return output;
}

/// Quoted for the shell.
[[nodiscard]] inline std::string quoted(const std::filesystem::path& path) {
  std::string text = "'";
  for (const char c : path.string()) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

/// A path as the name of a test: letters, digits and underscores.
[[nodiscard]] inline std::string identifier(std::string path) {
  for (char& c : path) {
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!allowed) c = '_';
  }
  return path;
}

/// The project's files relative to its root, sorted: what git tracks or would track, or, in an unpacked archive,
/// everything but build products.
[[nodiscard]] inline const std::vector<std::string>& project_files() {
  namespace fs = std::filesystem;
  static const std::vector<std::string> files = [] {
    std::vector<std::string> found;
    const Output git =
        run_shell("cd " + quoted(repository_root()) + " && git ls-files -co --exclude-standard 2>/dev/null");
    if (git.status == 0) {
      for (const std::string& file : lines_of(git.text)) {
        if (fs::is_regular_file(repository_root() / file)) found.push_back(file);
      }
    } else {
      for (auto it = fs::recursive_directory_iterator(repository_root()); it != fs::recursive_directory_iterator();
           ++it) {
        const std::string name = it->path().filename().string();
        if (it->is_directory() && (name == "build" || name == "out" || name == ".git" || name == "node_modules")) {
          it.disable_recursion_pending();
        } else if (it->is_regular_file()) {
          found.push_back(fs::relative(it->path(), repository_root()).generic_string());
        }
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }();
  return files;
}

/// The project's files below a folder ("" for all) with one of the given extensions.
[[nodiscard]] inline std::vector<std::string> project_files(std::string_view folder,
                                                            const std::vector<std::string>& extensions) {
  std::vector<std::string> chosen;
  for (const std::string& file : project_files()) {
    const std::string extension = std::filesystem::path(file).extension().string();
    if (file.rfind(folder, 0) == 0 && std::find(extensions.begin(), extensions.end(), extension) != extensions.end()) {
      chosen.push_back(file);
    }
  }
  return chosen;
}

/// A folder of its own that vanishes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "banyan-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace banyan::test
