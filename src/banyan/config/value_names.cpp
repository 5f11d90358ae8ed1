#include "banyan/config/value_names.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace banyan::config {
namespace {

/// The scalars of a value by their path, in the order of the file.
using Leaves = std::vector<std::pair<std::string, std::string>>;

std::string joined_path(const std::string& prefix, const std::string& key) {
  return prefix.empty() ? key : prefix + "." + key;
}

void collect_leaves(const Node& node, const std::string& path, Leaves& leaves) {
  if (node.kind == Node::Kind::table) {
    for (const Entry& entry : node.entries) collect_leaves(entry.value, joined_path(path, entry.key), leaves);
    return;
  }
  const auto is_table = [](const Node& item) { return item.kind == Node::Kind::table; };
  if (node.kind == Node::Kind::array && std::any_of(node.items.begin(), node.items.end(), is_table)) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const Entry* name = is_table(node.items[i]) ? node.items[i].find("name") : nullptr;
      collect_leaves(node.items[i], joined_path(path, name != nullptr ? name->value.text : std::to_string(i)), leaves);
    }
    return;
  }
  leaves.emplace_back(path, to_text(node));
}

std::string last_word(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// "routing" and "switch.routing" differ in more than their last words: whoever names a leaf says as much as is needed.
std::string name_of(const Leaves& leaves, const std::set<std::string>& differing) {
  std::string name;
  for (const auto& [path, value] : leaves) {
    if (!differing.contains(path)) continue;
    const bool bare = path.empty() || last_word(path) == "name";
    name += (name.empty() ? "" : ", ") + (bare ? value : last_word(path) + " = " + value);
  }
  return name;
}

}  // namespace

std::vector<std::string> value_names(std::span<const Node> values) {
  std::vector<Leaves> leaves(values.size());
  std::map<std::string, std::set<std::string>> seen;
  std::map<std::string, std::size_t> count;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // A component that is given by its name alone is the table that has nothing else.
    const bool table_among =
        std::any_of(values.begin(), values.end(), [](const Node& node) { return node.kind == Node::Kind::table; });
    const bool bare_name = table_among && values[i].kind == Node::Kind::text;
    collect_leaves(values[i], bare_name ? "name" : "", leaves[i]);
    for (const auto& [path, value] : leaves[i]) {
      seen[path].insert(value);
      ++count[path];
    }
  }
  std::set<std::string> differing;
  for (const auto& [path, texts] : seen) {
    if (texts.size() > 1 || count[path] < values.size()) differing.insert(path);
  }
  // Names of components are enough where they are all different.
  std::vector<std::string> names(values.size());
  const auto all_differ = [&] { return std::set<std::string>(names.begin(), names.end()).size() == names.size(); };
  if (differing.contains("name")) {
    for (std::size_t i = 0; i < values.size(); ++i) names[i] = name_of(leaves[i], {"name"});
    if (all_differ() && std::find(names.begin(), names.end(), "") == names.end()) return names;
  }
  for (std::size_t i = 0; i < values.size(); ++i) names[i] = name_of(leaves[i], differing);
  // Where a value lacks all that the others have, or last words are not enough, its text says what it is.
  if (!all_differ()) {
    for (std::size_t i = 0; i < values.size(); ++i) names[i] = to_text(values[i]);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (names[i].empty()) names[i] = values.size() == 1 ? to_text(values[i]) : "otherwise";
  }
  return names;
}

}  // namespace banyan::config
