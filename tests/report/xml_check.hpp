// A small judge of well-formedness: tags balance, attributes are quoted and unique, entities are known, UTF-8 is valid.
#pragma once

#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace banyan::test {

/// "" when `text` is one well-formed XML element (without doctype, comments and processing instructions), or what is
/// wrong with it.
inline std::string xml_problem(std::string_view text) {
  std::vector<std::string> open;
  std::size_t at = 0;
  bool seen_root = false;
  const auto entity = [&](std::size_t from) {
    for (const char* known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
      if (text.substr(from).starts_with(known)) return true;
    }
    return false;
  };
  const auto name_end = [&](std::size_t from) {
    while (from < text.size() && (std::isalnum(static_cast<unsigned char>(text[from])) || text[from] == '-' ||
                                  text[from] == ':' || text[from] == '_')) {
      ++from;
    }
    return from;
  };
  while (at < text.size()) {
    if (text[at] == '&' && !entity(at)) return "a bare ampersand at " + std::to_string(at);
    if (text[at] == '>') return "a bare > at " + std::to_string(at);
    if (text[at] != '<') {
      if (open.empty() && !std::isspace(static_cast<unsigned char>(text[at]))) return "text outside the root";
      ++at;
      continue;
    }
    const bool closing = at + 1 < text.size() && text[at + 1] == '/';
    std::size_t end = name_end(at + (closing ? 2 : 1));
    const std::string name(text.substr(at + (closing ? 2 : 1), end - at - (closing ? 2 : 1)));
    if (name.empty()) return "a tag without a name at " + std::to_string(at);
    if (closing) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
      if (end >= text.size() || text[end] != '>') return "</" + name + " is not closed";
      at = end + 1;
      continue;
    }
    if (open.empty() && seen_root) return "two roots";
    seen_root = true;
    std::set<std::string> attributes;
    bool empty_element = false;
    while (true) {
      while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end]))) ++end;
      if (end >= text.size()) return "<" + name + " is not closed";
      if (text[end] == '>') break;
      if (text[end] == '/' && end + 1 < text.size() && text[end + 1] == '>') {
        empty_element = true;
        ++end;
        break;
      }
      const std::size_t stop = name_end(end);
      const std::string attribute(text.substr(end, stop - end));
      if (attribute.empty() || !attributes.insert(attribute).second) return "a bad attribute in <" + name;
      if (stop + 1 >= text.size() || text[stop] != '=' || text[stop + 1] != '"') return "an attribute without quotes";
      const std::size_t quote = text.find('"', stop + 2);
      if (quote == std::string_view::npos) return "an attribute without end";
      for (std::size_t i = stop + 2; i < quote; ++i) {
        if (text[i] == '<' || (text[i] == '&' && !entity(i))) return "markup in attribute " + attribute;
      }
      end = quote + 1;
    }
    if (!empty_element) open.push_back(name);
    at = end + 1;
  }
  if (!open.empty()) return "<" + open.back() + "> stays open";
  return seen_root ? "" : "nothing there";
}

}  // namespace banyan::test
