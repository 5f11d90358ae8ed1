#include "banyan/report/terminal_text.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace banyan::report {
namespace {

constexpr std::size_t kFewestColumns = 20;    ///< columns of a terminal that are used
constexpr std::size_t kReadableColumns = 24;  ///< columns that a text is folded into, at the least
constexpr std::size_t kGutterColumns = 2;     ///< spaces between two columns of a table

/// A line by its characters; each is one column wide.
using Line = std::vector<std::string>;

Line line_of(const std::string& text) {
  Line line;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
    if (continues && !line.empty()) {
      line.back() += c;
    } else {
      line.emplace_back(1, c);
    }
  }
  return line;
}

bool is_space(const Line& line, std::size_t at) { return at >= line.size() || line[at] == " "; }

std::size_t indent_of(const Line& line) {
  return static_cast<std::size_t>(std::find_if(line.begin(), line.end(), [](const auto& c) { return c != " "; }) -
                                  line.begin());
}

/// Whether a column of a table with this head begins where the line does.
bool begins_at_column(const Line& head, const Line& line) {
  const std::size_t at = indent_of(line);
  return at >= 2 && at > indent_of(head) && !is_space(head, at) && is_space(head, at - 1) && is_space(head, at - 2);
}

std::string text_of(const Line& line, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < std::min(end, line.size()); ++i) text += line[i];
  return text;
}

std::string without_end(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// Columns [begin, end) of a table, the gutter behind it included.
struct Column {
  std::size_t begin = 0;
  std::size_t end = 0;
};

using Block = std::vector<Line>;

std::size_t width_of(const Block& block) {
  std::size_t width = 0;
  for (const Line& line : block) width = std::max(width, line.size());
  return width;
}

/// Where the lines of a block have `gutter` spaces or more at the same place, it is a table.
std::vector<Column> columns_of(const Block& block, std::size_t gutter) {
  std::vector<Column> columns;
  const std::size_t width = width_of(block);
  std::size_t blank = 0;  // columns without a character, up to here
  for (std::size_t i = 0; i < width; ++i) {
    const bool empty = std::all_of(block.begin(), block.end(), [&](const Line& line) { return is_space(line, i); });
    if (!empty && (columns.empty() || blank >= gutter)) {
      // What is indented belongs to the first column.
      if (!columns.empty()) columns.back().end = i;
      columns.push_back({columns.empty() ? 0 : i, 0});
    }
    blank = empty ? blank + 1 : 0;
  }
  if (!columns.empty()) columns.back().end = width;
  return columns;
}

/// Columns stand two spaces apart, or one, which in so many lines of prose would hardly be at one place.
std::vector<Column> columns_of(const Block& block) {
  constexpr std::size_t kManyLines = 5;
  std::vector<Column> columns = columns_of(block, kGutterColumns);
  return columns.size() < 2 && block.size() >= kManyLines ? columns_of(block, 1) : columns;
}

/// Folds what begins at `hang` in a line, between words; the lines behind the first begin there too.
void fold(const Line& line, std::size_t hang, std::size_t columns, std::string& out) {
  std::size_t begin = 0;
  std::size_t indent = 0;  // of the present line
  while (line.size() - begin + indent > columns) {
    const std::size_t most = begin + columns - indent;
    std::size_t end = most;
    const std::size_t least = begin + (begin == 0 ? hang : 0);
    while (end > least && !is_space(line, end)) --end;
    std::size_t next = end;
    if (end <= least) {  // a word that is longer than a line goes on behind one of its parts
      for (end = most; end > least + 1 && line[end - 1] != "_" && line[end - 1] != "/";) --end;
      end = next = end > least + 1 ? end : most;
    }
    while (next < line.size() && is_space(line, next)) ++next;
    out += without_end(std::string(indent, ' ') + text_of(line, begin, end)) + "\n";
    begin = next;
    indent = hang;
    if (begin >= line.size()) return;
  }
  out += std::string(indent, ' ') + text_of(line, begin, line.size()) + "\n";
}

/// Where the lines behind the first begin when a line that is no part of a table is folded: behind its last gutter, as
/// far as that leaves room, or a little indented.
std::size_t hang_of(const Line& line, std::size_t columns) {
  std::size_t first = 0;
  while (first < line.size() && is_space(line, first)) ++first;
  std::size_t hang = first + 2;
  for (std::size_t i = first + 1; i < line.size() && i + kReadableColumns <= columns; ++i) {
    if (!is_space(line, i) && is_space(line, i - 1) && i >= first + kGutterColumns &&
        is_space(line, i - kGutterColumns))
      hang = i;
  }
  return std::min(hang, columns / 2);
}

/// Parts of the table below each other, each as wide as fits, with the first columns again.
void split(const Block& block, const std::vector<Column>& columns, std::size_t keys, std::size_t width,
           std::string& out) {
  const std::size_t key_width = columns[keys - 1].end;
  for (std::size_t first = keys; first < columns.size();) {
    std::size_t last = first + 1;
    const auto width_to = [&](std::size_t end) {
      std::size_t widest = 0;
      for (const Line& line : block) {
        std::size_t size = std::min(line.size(), columns[end - 1].end);
        while (size > columns[first].begin && is_space(line, size - 1)) --size;
        widest = std::max(widest, size);
      }
      return key_width + widest - columns[first].begin;
    };
    while (last < columns.size() && width_to(last + 1) <= width) ++last;
    if (first != keys) out += "\n";
    for (const Line& line : block) {
      std::string keyed = text_of(line, 0, key_width);
      keyed += std::string(key_width - std::min(line.size(), key_width), ' ');
      const std::string part = text_of(line, columns[first].begin, columns[last - 1].end);
      const Line whole = line_of(without_end(keyed + part));
      fold(whole, hang_of(whole, width), width, out);
    }
    first = last;
  }
}

void fit_block(const Block& block, std::size_t keys, std::size_t width, std::string& out) {
  const bool fits = width_of(block) <= width;
  const std::vector<Column> columns = fits || block.size() < 2 ? std::vector<Column>{} : columns_of(block);
  const std::size_t kept = std::min(keys, columns.size());
  // The last column alone is too wide: it is folded in its place.
  const bool explains = columns.size() > 1 && columns.back().begin + kReadableColumns <= width;
  const bool wide = columns.size() > kept + 1 && columns[kept - 1].end + kReadableColumns <= width;
  if (!fits && !explains && wide) return split(block, columns, kept, width, out);
  for (const Line& line : block) {
    if (line.size() <= width) {
      out += text_of(line, 0, line.size()) + "\n";
    } else {
      fold(line, explains ? columns.back().begin : hang_of(line, width), width, out);
    }
  }
}

// --- colours ---------------------------------------------------------------------------------------------------------

constexpr std::array<std::pair<std::string_view, const char*>, 11> kVerdictColours{{{"steady", "32"},
                                                                                    {"finished", "32"},
                                                                                    {"reproduced", "32"},
                                                                                    {"passed", "32"},
                                                                                    {"saturated", "33"},
                                                                                    {"uncertain", "33"},
                                                                                    {"partly", "33"},
                                                                                    {"undecided", "33"},
                                                                                    {"deadlocked", "31"},
                                                                                    {"not reproduced", "31"},
                                                                                    {"failed", "31"}}};

std::string marked(std::string_view text, const char* mark) {
  return "\x1b[" + std::string(mark) + "m" + std::string(text) + "\x1b[0m";
}

/// The cell as it is shown: with a colour where it is a verdict.
std::string coloured(std::string_view cell) {
  for (const auto& [verdict, colour] : kVerdictColours) {
    if (cell == verdict) return marked(cell, colour);
  }
  return std::string(cell);
}

/// Of a line that is no head of a table: cells stand two spaces apart, and a colon ends the name before a verdict.
std::string coloured_line(std::string_view line, bool first) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t gutter = line.find("  ", at);
    std::string_view cell = line.substr(at, gutter == std::string_view::npos ? gutter : gutter - at);
    at += cell.size();
    if (const std::size_t name = cell.find(": "); first && name != std::string_view::npos) {
      out += cell.substr(0, name + 2);
      cell.remove_prefix(name + 2);
      const std::size_t end = std::min(cell.find(','), cell.size());
      out += coloured(cell.substr(0, end));
      cell.remove_prefix(end);
    }
    out += coloured(cell);
    const std::size_t next = std::min(line.find_first_not_of(' ', at), line.size());
    out += line.substr(at, next - at);
    at = next;
    first = false;
  }
  return out;
}

/// Whether a cell of the line begins with a digit.
bool has_number(std::string_view line) {
  for (std::size_t at = line.find_first_of("0123456789"); at < line.size();
       at = line.find_first_of("0123456789", at + 1)) {
    const std::size_t sign = at > 0 && line[at - 1] == '-' ? at - 1 : at;
    if (line.substr(0, sign).empty() || (sign > 1 && line.substr(sign - 2, 2) == "  ")) return true;
  }
  return false;
}

/// The first of several lines that are indented alike, of two columns or more, without the numbers that those below it
/// have.
bool is_head(const std::vector<std::string_view>& lines, std::size_t at) {
  const auto indent = [](std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); };
  const std::size_t own = indent(lines[at]);
  if (lines[at].empty() || has_number(lines[at]) || lines[at].find("  ", own) == std::string_view::npos) return false;
  const std::string_view above = at == 0 ? std::string_view() : lines[at - 1];
  if (indent(above) == own && above.find("  ", own) != std::string_view::npos) return false;
  for (std::size_t i = at + 1; i < lines.size() && !lines[i].empty() && indent(lines[i]) == own; ++i) {
    if (has_number(lines[i])) return true;
  }
  return false;
}

}  // namespace

std::string in_colour(const std::string& text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += (is_head(lines, i) ? marked(lines[i], "1") : coloured_line(lines[i], i == 0)) + "\n";
  if (!text.ends_with('\n') && !out.empty()) out.pop_back();
  return out;
}

std::string fit_to_columns(const std::string& text, std::size_t columns, std::size_t keys) {
  const std::size_t width = std::max(columns, kFewestColumns);
  std::string out;
  Block block;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    Line line = line_of(text.substr(begin, end - begin));
    // A title, or a sentence above a table, is indented otherwise; so is a row without its first cells.
    const bool continues =
        block.empty() || indent_of(line) == indent_of(block.front()) || begins_at_column(block.front(), line);
    if (line.empty() || !continues) {
      fit_block(block, std::max<std::size_t>(keys, 1), width, out);
      block.clear();
    }
    if (line.empty()) {
      out += "\n";
    } else {
      block.push_back(std::move(line));
    }
    begin = end + 1;
  }
  fit_block(block, std::max<std::size_t>(keys, 1), width, out);
  return out;
}

}  // namespace banyan::report
