#include "banyan/config/tree.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace banyan::config {
namespace {

Node blank(Node::Kind kind, Where where) {
  Node node;
  node.kind = kind;
  node.where = std::move(where);
  return node;
}

std::string list_text(const Node& node) {
  std::string text = "[";
  for (const Node& item : node.items) text += (text.size() > 1 ? ", " : "") + to_text(item);
  return text + "]";
}

std::string table_text(const Node& node) {
  std::string text = "{";
  for (const Entry& entry : node.entries) {
    text += (text.size() > 1 ? ", " : "") + entry.key + " = " + to_text(entry.value);
  }
  return text + "}";
}

}  // namespace

const Entry* Node::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

const char* Node::kind_name() const {
  switch (kind) {
    case Kind::boolean:
      return "true or false";
    case Kind::integer:
      return "an integer";
    case Kind::real:
      return "a real number";
    case Kind::text:
      return "a text";
    case Kind::array:
      return "an array";
    case Kind::table:
      break;
  }
  return "a table";
}

Node Node::of(bool value, Where where) {
  Node node = blank(Kind::boolean, std::move(where));
  node.flag = value;
  return node;
}
Node Node::of(i64 value, Where where) {
  Node node = blank(Kind::integer, std::move(where));
  node.integer = value;
  return node;
}
Node Node::of(double value, Where where) {
  Node node = blank(Kind::real, std::move(where));
  node.real = value;
  return node;
}
Node Node::of(std::string value, Where where) {
  Node node = blank(Kind::text, std::move(where));
  node.text = std::move(value);
  return node;
}

std::string to_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::boolean:
      return node.flag ? "true" : "false";
    case Node::Kind::integer:
      return fmt::format("{}", node.integer);
    case Node::Kind::real:
      return fmt::format("{}", node.real);
    case Node::Kind::text:
      return node.text;
    case Node::Kind::array:
      return list_text(node);
    case Node::Kind::table:
      break;
  }
  return table_text(node);
}

void assign(std::vector<Entry>& entries, Entry entry) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == entry.key; });
  if (found == entries.end()) {
    entries.push_back(std::move(entry));
  } else {
    *found = std::move(entry);
  }
}

}  // namespace banyan::config
