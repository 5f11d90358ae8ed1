#include "banyan/config/toml_reader.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace banyan::config {
namespace {

namespace fs = std::filesystem;

Where place(const toml::source_region& region, const std::string& file, const std::string& key) {
  return {file, region.begin.line, region.begin.column, key};
}

std::string join(const std::string& prefix, std::string_view key) {
  return prefix.empty() ? std::string(key) : prefix + "." + std::string(key);
}

Node convert(const toml::node& source, const std::string& file, const std::string& path);

void convert_table(const toml::table& table, Node& out, const std::string& file, const std::string& path) {
  for (auto&& [key, value] : table) {
    const std::string inner = join(path, key.str());
    out.entries.push_back({std::string(key.str()), place(key.source(), file, inner), convert(value, file, inner)});
  }
  // The library sorts its keys; their places give the file's order back.
  std::stable_sort(out.entries.begin(), out.entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
  });
}

Node convert(const toml::node& source, const std::string& file, const std::string& path) {
  Where where = place(source.source(), file, path);
  if (const auto* flag = source.as_boolean()) return Node::of(flag->get(), std::move(where));
  if (const auto* integer = source.as_integer()) return Node::of(i64{integer->get()}, std::move(where));
  if (const auto* real = source.as_floating_point()) return Node::of(real->get(), std::move(where));
  if (const auto* text = source.as_string()) return Node::of(text->get(), std::move(where));
  Node node;
  node.where = where;
  if (const auto* table = source.as_table()) {
    convert_table(*table, node, file, path);
    return node;
  }
  if (const auto* array = source.as_array()) {
    node.kind = Node::Kind::array;
    for (std::size_t i = 0; i < array->size(); ++i) {
      node.items.push_back(convert(*array->get(i), file, join(path, std::to_string(i))));
    }
    return node;
  }
  throw ConfigError(std::move(where), "a date or time is no value of any parameter", "write a number or a text");
}

void place_everything_at(Node& node, const Where& where) {
  node.where = where;
  for (Node& item : node.items) place_everything_at(item, where);
  for (Entry& entry : node.entries) {
    entry.where = where;
    place_everything_at(entry.value, where);
  }
}

std::optional<Node> try_value(const std::string& text) {
  try {
    const Node root = read_toml_text("value = " + text, "");
    // A newline in the text could smuggle in further keys: one value or none.
    if (root.entries.size() == 1 && root.entries[0].key == "value") return root.entries[0].value;
  } catch (const ConfigError&) {}
  return std::nullopt;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// [full, cheap]: an array of bare words. Nested brackets and quotes are left to TOML's own syntax.
std::optional<Node> bare_array(const std::string& text, const Where& where) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  const std::string inner = text.substr(1, text.size() - 2);
  if (inner.find_first_of("[]{}\"'") != std::string::npos) return std::nullopt;
  Node node;
  node.kind = Node::Kind::array;
  for (std::size_t begin = 0; begin <= inner.size();) {
    const std::size_t end = std::min(inner.find(',', begin), inner.size());
    node.items.push_back(read_toml_value(inner.substr(begin, end - begin), where));
    begin = end + 1;
  }
  return node;
}

std::string nearby_file(const fs::path& path) {
  std::vector<std::string> stems;
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".toml") stems.push_back(it->path().stem().string());
  }
  std::sort(stems.begin(), stems.end());
  // The common ending would make any two short names look alike.
  const std::string near = nearest_name(path.stem().string(), stems);
  return near.empty() ? "" : (path.parent_path() / (near + ".toml")).string();
}

void require_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    throw ConfigError({path, 0, 0, ""}, "is a directory, not an experiment file", "name a .toml file inside it");
  }
  if (fs::exists(status)) return;
  const std::string near = nearby_file(path);
  throw ConfigError(
      {path, 0, 0, ""}, "no such file",
      near.empty() ? "check the path; an experiment is a .toml file" : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace

Node read_toml_text(const std::string& text, const std::string& name) {
  try {
    const toml::table table = toml::parse(text, name);
    Node root;
    root.where = {name, 0, 0, ""};
    convert_table(table, root, name, "");
    return root;
  } catch (const toml::parse_error& error) {
    throw ConfigError(place(error.source(), name, ""),
                      fmt::format("not valid TOML: {}", std::string(error.description())),
                      "correct the syntax at that place (https://toml.io/en/v1.0.0)");
  }
}

Node read_toml_file(const std::string& path) {
  require_file(path);
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || stream.bad()) {
    throw ConfigError({path, 0, 0, ""}, "cannot be read", "check the permissions of the file");
  }
  return read_toml_text(text, path);
}

Node read_toml_value(const std::string& text, const Where& where) {
  const std::string value = trimmed(text);
  std::optional<Node> node = try_value(value);
  if (!node) node = bare_array(value, where);
  if (!node) {
    if (value.empty() || value.find_first_of("[]{}\"'\n") != std::string::npos) {
      throw ConfigError(where, fmt::format("\"{}\" is not a value", value),
                        "write a number, true, false, a word, or TOML such as [1, 2] or \"a text\"");
    }
    node = Node::of(value, where);
  }
  place_everything_at(*node, where);
  node->raw = value;
  return *std::move(node);
}

}  // namespace banyan::config
