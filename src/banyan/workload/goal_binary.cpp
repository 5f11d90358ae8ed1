// GOAL as a binary file (LogGOPSim, Parser.hpp). The layout is told in program.hpp, which is made of it.
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "banyan/base/error.hpp"
#include "banyan/workload/formats.hpp"

namespace banyan::workload {
namespace goal_binary {
namespace {

bool recognizes(const std::string& path, std::string_view start) {
  static_cast<void>(path);
  u64 cookie = 0;
  if (start.size() < sizeof cookie) return false;
  std::memcpy(&cookie, start.data(), sizeof cookie);
  return cookie == kGoalCookie;
}

Program read(const std::string& path) {
  std::string why;
  std::optional<MappedFile> file = MappedFile::open(path, &why);
  if (!file) throw ConfigError({path, 0, 0, ""}, "the file cannot be read: " + why, "give a file that is there");
  return Program(std::move(*file), path);
}

}  // namespace
}  // namespace goal_binary

const Format format_goal_binary = {"goal_binary", "GOAL as a binary file (LogGOPSim)", &goal_binary::recognizes,
                                   &goal_binary::read};

}  // namespace banyan::workload
