#include "banyan/config/toml_reader.hpp"

#include <fmt/format.h>

// The library would end the program where its parser meets what it did not expect.
namespace banyan::config {
struct UnexpectedSyntax {};
[[noreturn]] static void unexpected_syntax() { throw UnexpectedSyntax{}; }
}  // namespace banyan::config
#define TOML_ASSERT(expr) ((expr) ? void() : ::banyan::config::unexpected_syntax())
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "banyan/base/file.hpp"

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

/// Refuses what the library (toml++ 3.3) has no answer to, instead of an error: characters beyond ASCII where TOML
/// allows none, which is everywhere but in texts and comments, and headers of tables that do not begin with a key.
class SyntaxGuard {
 public:
  SyntaxGuard(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void require() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // byte order mark
    bool line_begins = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        skip_line();
      } else if (c == '"' || c == '\'') {
        skip_text(c);
      } else if (c == '[' && line_begins && depth_ == 0) {
        skip_header();
      } else {
        require_ascii();
        if (c == '\n') dots_ = 0;
        if (c == '.' && ++dots_ > kMostDots) refuse("not valid TOML: a name of very many parts", "use fewer tables");
        if (c == '[' || c == '{') ++depth_;
        if ((c == ']' || c == '}') && depth_ > 0) --depth_;
        ++at_;
      }
      line_begins = c == '\n' || (line_begins && (c == ' ' || c == '\t'));
    }
  }

 private:
  [[noreturn]] void refuse(const char* cause, const char* remedy) const {
    const std::string_view before = text_.substr(0, at_);
    const std::string_view line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    throw ConfigError({file_, static_cast<u32>(1 + lines), static_cast<u32>(1 + columns), ""}, cause, remedy);
  }

  void require_ascii() const {
    if (static_cast<unsigned char>(text_[at_]) < 0x80) return;
    refuse("not valid TOML: a character that is not ASCII, outside of a text", "remove it, or put the text in quotes");
  }

  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void skip_header() {
    for (int brackets = 0; brackets < 2 && at_ < text_.size() && text_[at_] == '['; ++brackets) {
      ++depth_;
      ++at_;
    }
    at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size());
    if (at_ == text_.size()) return;
    const char c = text_[at_];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || c == '_' || c == '-' || c == '"' || c == '\'' || c == ']') return;
    refuse("not valid TOML: a table's header does not begin with a name", "write it as in [run] or [[traffic]]");
  }

  void skip_text(char quote) {
    const std::string many(3, quote);
    const bool multi_line = text_.substr(at_).starts_with(many);
    at_ += multi_line ? 3 : 1;
    while (at_ < text_.size()) {
      if (text_[at_] == '\\' && quote == '"') {
        skip_escape(multi_line);
      } else if (multi_line ? text_.substr(at_).starts_with(many) : text_[at_] == quote) {
        at_ += multi_line ? 3 : 1;
        return;
      } else if (text_[at_] == '\n' && !multi_line) {
        return;  // the text does not end: the parser says so
      } else {
        ++at_;
      }
    }
  }

  /// The character behind a backslash; in a text of many lines the first one that is no white space.
  void skip_escape(bool multi_line) {
    const std::size_t escaped = at_ + 1;
    at_ = multi_line ? std::min(text_.find_first_not_of(" \t\r\n", escaped), text_.size()) : escaped;
    if (at_ >= text_.size()) return;
    require_ascii();
    if (at_ == escaped && text_[at_] != '\n') ++at_;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  u64 depth_ = 0;  ///< of brackets
  /// Points of a line outside of texts: a name a.b.c is a table in a table, which the parser and everybody after it
  /// walks by recursion. Lists of numbers have points too, so the bound is generous.
  static constexpr u32 kMostDots = 2000;
  u32 dots_ = 0;
};

}  // namespace

Node read_toml_text(const std::string& text, const std::string& name) {
  SyntaxGuard(text, name).require();
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
  } catch (const UnexpectedSyntax&) {
    throw ConfigError({name, 0, 0, ""}, "not valid TOML", "correct its syntax (https://toml.io/en/v1.0.0)");
  }
}

Node read_toml_file(const std::string& path) {
  require_file(path);
  const std::optional<std::string> text = read_whole_file(path);
  if (!text) throw ConfigError({path, 0, 0, ""}, "cannot be read", "check the permissions of the file");
  return read_toml_text(*text, path);
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
