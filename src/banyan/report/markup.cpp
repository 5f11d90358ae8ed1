#include "banyan/report/markup.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "banyan/base/types.hpp"

namespace banyan::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length of the well-formed UTF-8 sequence at the front, or 0 (RFC 3629: no overlong forms, no surrogates).
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) -> u32 { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const u32 first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

/// Escaped text in which every "_{x}" stands between the given marks.
std::string with_subscripts(std::string_view text, std::string_view open, std::string_view close) {
  std::string result;
  while (!text.empty()) {
    const std::size_t begin = text.find("_{");
    const std::size_t end = begin == std::string_view::npos ? begin : text.find('}', begin);
    if (end == std::string_view::npos) return result + escape(text);
    result += escape(text.substr(0, begin));
    result += open;
    result += escape(text.substr(begin + 2, end - begin - 2));
    result += close;
    text.remove_prefix(end + 1);
  }
  return result;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence(text);
    const char c = text.front();
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
    if (length == 0 || control || c == 0x7F) {
      result += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result;
}

std::string html_label(std::string_view text) { return with_subscripts(text, "<sub>", "</sub>"); }

std::string foldable(const std::string& markup) {
  std::string result;
  bool tag = false;
  for (std::size_t i = 0; i < markup.size(); ++i) {
    const char c = markup[i];
    result += c;
    tag = c == '<' || (tag && c != '>');
    const auto letter = [&](std::size_t at) { return at < markup.size() && markup[at] >= 'a' && markup[at] <= 'z'; };
    const bool word = letter(i + 1) && letter(i + 2);
    if (!tag && (c == '_' || ((c == '/' || c == '.') && word))) result += "<wbr/>";
  }
  return result;
}

std::string svg_label(std::string_view text) {
  // A second, empty shift returns to the line: "baseline-shift" is not drawn everywhere.
  return with_subscripts(text, "<tspan dy=\"4\" font-size=\"75%\">", "</tspan><tspan dy=\"-4\">\xE2\x80\x8B</tspan>");
}

std::string plain_label(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_' && i + 1 < text.size() && text[i + 1] == '{') {
      const std::size_t end = text.find('}', i);
      if (end != std::string_view::npos) {
        result += " " + std::string(text.substr(i + 2, end - i - 2));
        i = end;
        continue;
      }
    }
    result += text[i];
  }
  return result;
}

std::size_t columns_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string cut_in_the_middle(const std::string& text, std::size_t most) {
  if (columns_of(text) <= most) return text;
  const std::size_t ahead = most / 3;
  const std::size_t behind = columns_of(text) - (most - ahead - 1);
  std::string cut;
  std::size_t at = 0;
  for (const char c : text) {
    if ((c & 0xC0) != 0x80) {
      if (at == ahead) cut += "\xE2\x80\xA6";
      ++at;
    }
    if (at <= ahead || at > behind) cut += c;
  }
  return cut;
}

namespace {

using Words = std::vector<std::string>;
constexpr std::string_view kParting = "_ ,=/-";

/// A name as words, each with what parts it from the next.
Words words_of(const std::string& name) {
  Words words;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t parting = std::min(name.find_first_of(kParting, begin), name.size());
    const std::size_t end = std::min(name.find_first_not_of(kParting, parting), name.size());
    words.push_back(name.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::string joined(Words::const_iterator begin, Words::const_iterator end) {
  return std::accumulate(begin, end, std::string());
}

std::string trimmed(const std::string& name) {
  const std::size_t begin = name.find_first_not_of(kParting);
  return begin == std::string::npos ? "" : name.substr(begin, name.find_last_not_of(kParting) + 1 - begin);
}

/// Words that all begin with, when at least one of each is to be left.
std::ptrdiff_t common_start(const std::vector<Words>& all) {
  std::size_t count = 0;
  const auto is_common = [&](const Words& words) {
    return count + 1 < words.size() && words[count] == all.front()[count];
  };
  while (std::all_of(all.begin(), all.end(), is_common)) ++count;
  return static_cast<std::ptrdiff_t>(count);
}

bool is_number(const std::string& word) {
  return !word.empty() && std::string_view("-+.0123456789").find(word[0]) < 13;
}

/// Without the words that all have in common.
std::vector<std::string> without_common(const std::vector<std::string>& names) {
  std::vector<Words> all;
  for (const std::string& name : names) all.push_back(words_of(name));
  auto start = common_start(all);
  // A number needs to be told of what.
  const auto begins_with_number = [&](const Words& words) { return is_number(words[static_cast<std::size_t>(start)]); };
  if (start > 0 && std::any_of(all.begin(), all.end(), begins_with_number)) --start;
  for (Words& words : all) {
    words.erase(words.begin(), words.begin() + start);
    std::reverse(words.begin(), words.end());
  }
  const auto end = common_start(all);
  std::vector<std::string> kept;
  for (Words& words : all) {
    std::reverse(words.begin(), words.end());
    kept.push_back(trimmed(joined(words.begin(), words.end() - end)));
  }
  return kept;
}

/// As many of the last words as have room, behind a sign for those before; of a longer word its begin and end.
std::string last_words(const std::string& name, std::size_t most) {
  if (columns_of(name) <= most) return name;
  const Words words = words_of(name);
  auto first = words.begin();
  while (first != words.end() && columns_of(joined(first, words.end())) >= most) ++first;
  return first == words.end() ? cut_in_the_middle(name, most) : "\xE2\x80\xA6" + joined(first, words.end());
}

std::size_t different(const std::vector<std::string>& names) {
  return std::set<std::string>(names.begin(), names.end()).size();
}

}  // namespace

std::vector<std::string> fit_names(const std::vector<std::string>& names, std::size_t most) {
  if (std::all_of(names.begin(), names.end(), [&](const auto& name) { return columns_of(name) <= most; })) return names;
  std::vector<std::string> kept = names;
  if (different(names) > 1 && std::find(names.begin(), names.end(), "") == names.end()) {
    std::vector<std::string> rest = without_common(names);
    if (different(rest) == different(names)) kept = std::move(rest);
  }
  std::vector<std::string> ends;
  for (const std::string& name : kept) ends.push_back(last_words(name, most));
  if (different(ends) == different(kept)) return ends;
  for (std::string& name : kept) name = cut_in_the_middle(name, most);
  return kept;
}

std::string percent_encode(std::string_view bytes) {
  std::string result;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '~' || c == ',';
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return result;
}

}  // namespace banyan::report
