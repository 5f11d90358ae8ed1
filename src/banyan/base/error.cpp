#include "banyan/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace banyan {
namespace {

std::string render(const Where& where, const std::string& cause, const std::string& remedy) {
  std::string text;
  if (!where.file.empty()) text += where.file + ":";
  if (where.line != 0) text += fmt::format("{}:", where.line);
  if (where.line != 0 && where.column != 0) text += fmt::format("{}:", where.column);
  if (!text.empty()) text += " ";
  if (!where.key.empty()) text += where.key + ": ";
  text += cause;
  if (!remedy.empty()) text += "\n  remedy: " + remedy;
  // what() ends at a zero, which may come from a file.
  for (std::size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) text.replace(at, 1, "\\x00");
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t columns = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * columns);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * columns + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0U : 1U);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

}  // namespace

ConfigError::ConfigError(Where where, std::string cause, std::string remedy)
    : std::runtime_error(render(where, cause, remedy)),
      where_(std::move(where)),
      cause_(std::move(cause)),
      remedy_(std::move(remedy)) {}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  // Two slips in three letters make any other word of three.
  std::size_t best_distance =
      std::min(std::max<std::size_t>(name.size() < 4 ? 1 : 2, name.size() / 3) + 1, name.size());
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace banyan
