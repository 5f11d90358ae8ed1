// A configuration as it was written: an ordered tree in which every key and every value knows its place.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/base/types.hpp"

namespace banyan::config {

struct Entry;

/// One value. Only the members that belong to `kind` mean something.
struct Node {
  enum class Kind { boolean, integer, real, text, array, table };

  Kind kind = Kind::table;
  Where where;  ///< of the value; `where.key` is the dotted path from the root
  bool flag = false;
  i64 integer = 0;
  double real = 0.0;
  std::string text;
  std::vector<Node> items;     ///< of an array
  std::vector<Entry> entries;  ///< of a table, in the order of the file
  std::string raw;             ///< as typed on the command line, where quotes are optional; empty in a file

  [[nodiscard]] const Entry* find(std::string_view key) const;
  /// "text", "table" ...: for messages.
  [[nodiscard]] const char* kind_name() const;

  static Node of(bool value, Where where);
  static Node of(i64 value, Where where);
  static Node of(double value, Where where);
  static Node of(std::string value, Where where);
};

/// One key of a table.
struct Entry {
  std::string key;
  Where where;  ///< of the key
  Node value;
};

/// A scalar as the user would write it; arrays and tables in TOML's inline form.
[[nodiscard]] std::string to_text(const Node& node);

/// The last of equal keys wins: replaces the value of `key` or appends it.
void assign(std::vector<Entry>& entries, Entry entry);

}  // namespace banyan::config
