#include "banyan/workload/formats.hpp"

#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "banyan/base/error.hpp"

namespace banyan::workload {
namespace {

const std::array kFormats = {&format_goal_binary, &format_goal_text, &format_netrace, &format_chakra,
                             &format_connections};

std::string start_of(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return {};
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    throw ConfigError({path, 0, 0, ""}, "it is a pipe or a device: a workload is read more than once",
                      "write it into a file first");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ConfigError({path, 0, 0, ""}, "the file cannot be read", "give a file that is there");
  // Text may begin with as much comment as somebody liked to write.
  std::string start(std::size_t{1} << 20U, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return start;
}

}  // namespace

std::span<const Format* const> formats() { return kFormats; }

const Format* format_of(const std::string& path) {
  const std::string start = start_of(path);
  for (const Format* format : formats()) {
    if (format->recognizes(path, start)) return format;
  }
  return nullptr;
}

Program read_workload(const std::string& path, const ChakraOptions& options) {
  if (format_of(path) == &format_chakra) return Program(read_chakra(path, options), path);
  return read_workload(path);
}

Program read_workload(const std::string& path) {
  const Format* const format = format_of(path);
  if (format != nullptr) return format->read(path);
  std::string known;
  for (const Format* f : formats()) known += fmt::format("{}{}", known.empty() ? "" : ", ", f->summary);
  throw ConfigError({path, 1, 1, ""}, "the content is of no workload format that is known",
                    fmt::format("give one of these: {}", known));
}

}  // namespace banyan::workload
