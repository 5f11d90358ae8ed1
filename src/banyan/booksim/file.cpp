#include <fmt/core.h>

#include <cctype>
#include <optional>

#include "banyan/base/printable.hpp"
#include "banyan/booksim/booksim.hpp"

namespace banyan::booksim {
namespace {

/// Comments and spaces are no part of a setting; lines are counted.
class Scanner {
 public:
  Scanner(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  [[nodiscard]] bool at_end() {
    skip_space();
    return at_ >= text_.size();
  }
  [[nodiscard]] Where where() const { return {name_, line_, static_cast<u32>(at_ - line_begin_) + 1, ""}; }

  std::string key() {
    std::string word;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      word += text_[at_++];
    }
    if (word.empty()) {
      throw ConfigError(where(), fmt::format("\"{}\" begins no setting", with_faults_shown(first_shown())),
                        "write key = value;");
    }
    return word;
  }
  void expect(char c, const std::string& after) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) {
      throw ConfigError(where(), fmt::format("there is no \"{}\" after {}", c, after), "write key = value;");
    }
    ++at_;
  }
  /// Up to the semicolon. Spaces inside a value stand between two of its parts, in braces only.
  std::string value() {
    skip_space();
    std::string word;
    std::string open;  // brackets
    while (at_ < text_.size() && text_[at_] != ';') {
      const char c = text_[at_];
      if (c == '{' || c == '(') open.push_back(c);
      if (c == '}' || c == ')') close(c, open);
      if (starts_space()) {
        skip_space();
        const bool ends = at_ >= text_.size() || text_[at_] == ';';
        if (open.empty() && !ends) {
          throw ConfigError(where(), fmt::format("\"{}\" does not end with a semicolon", word), "write key = value;");
        }
        continue;
      }
      word += c;
      ++at_;
    }
    if (!open.empty()) {
      throw ConfigError(where(), fmt::format("\"{}\" does not close its {}", with_faults_shown(word), open.back()),
                        fmt::format("write the {} that closes it", open.back() == '{' ? '}' : ')'));
    }
    // A value becomes part of names and messages; comments may hold anything.
    if (const std::optional<TextFault> fault = text_fault(word)) {
      throw ConfigError(where(), fmt::format("\"{}\" has {}", with_faults_shown(word), fault->what),
                        "write it with characters that can be seen, in UTF-8");
    }
    return word;
  }

 private:
  void close(char c, std::string& open) const {
    const char opens = c == '}' ? '{' : '(';
    if (open.empty() || open.back() != opens) {
      throw ConfigError(where(), fmt::format("a {} closes nothing", c), fmt::format("write a {} before it", opens));
    }
    open.pop_back();
  }
  /// The character here, whole when it takes several bytes.
  [[nodiscard]] std::string_view first_shown() const {
    std::size_t bytes = 1;
    while (bytes < 4 && at_ + bytes < text_.size() && (static_cast<unsigned char>(text_[at_ + bytes]) & 0xc0U) == 0x80U)
      ++bytes;
    return text_.substr(at_, bytes);
  }
  [[nodiscard]] bool starts_space() const {
    return std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_.substr(at_, 2) == "//";
  }
  void skip_space() {
    while (at_ < text_.size() && starts_space()) {
      if (text_[at_] == '/') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        continue;
      }
      if (text_[at_++] != '\n') continue;
      ++line_;
      line_begin_ = at_;
    }
  }

  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  u32 line_ = 1;
};

}  // namespace

std::vector<Setting> read_settings(std::string_view text, const std::string& name) {
  Scanner scan(text, name);
  std::vector<Setting> settings;
  while (!scan.at_end()) {
    Setting setting;
    setting.where = scan.where();
    setting.key = scan.key();
    scan.expect('=', setting.key);
    setting.value = scan.value();
    scan.expect(';', setting.key + " = " + setting.value);
    if (setting.value.empty()) {
      throw ConfigError(setting.where, fmt::format("{} has no value", setting.key), "write key = value;");
    }
    settings.push_back(std::move(setting));
  }
  return settings;
}

Setting read_override(const std::string& text) {
  const std::vector<Setting> settings = read_settings(text + ";", "command line");
  if (settings.size() != 1) {
    throw ConfigError({"command line", 0, 0, ""}, fmt::format("\"{}\" is not one setting", text),
                      "write key=value, such as injection_rate=0.2");
  }
  Setting setting = settings.front();
  setting.where.line = setting.where.column = 0;
  return setting;
}

std::vector<std::string> elements_of(const std::string& value, const Where& where) {
  if (value.empty() || value.front() != '{') return {value};
  std::vector<std::string> elements(1);
  int depth = 0;
  for (std::size_t i = 1; i + 1 < value.size(); ++i) {
    const char c = value[i];
    if (c == '{' || c == '(') ++depth;
    if (c == '}' || c == ')') --depth;
    if (depth < 0) {
      throw ConfigError(where, fmt::format("{} is no vector", value), "put all elements into one pair of braces");
    }
    if (c == ',' && depth == 0) {
      elements.emplace_back();
    } else {
      elements.back() += c;
    }
  }
  return elements;
}

std::string to_text(const Remark& remark) {
  const Where& where = remark.setting.where;
  std::string place = where.file;
  if (where.line != 0) place += fmt::format(":{}", where.line);
  const char* kind = remark.kind == Remark::Kind::unmapped  ? "not mapped"
                     : remark.kind == Remark::Kind::differs ? "differs"
                                                            : "no effect";
  return fmt::format("{}: {} = {}: {}: {}", place, remark.setting.key, remark.setting.value, kind, remark.reason);
}

}  // namespace banyan::booksim
