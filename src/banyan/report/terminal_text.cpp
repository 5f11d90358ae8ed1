#include "banyan/report/terminal_text.hpp"

#include <algorithm>
#include <array>
#include <numeric>
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

/// FoundColumns [begin, end) of a table, the gutter behind it included.
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
    // Cells that stand so near have a name above them; prose has not.
    const bool named = gutter >= kGutterColumns || !is_space(block.front(), i);
    if (!empty && (columns.empty() || (blank >= gutter && named))) {
      // What is indented belongs to the first column.
      if (!columns.empty()) columns.back().end = i;
      columns.push_back({columns.empty() ? 0 : i, 0});
    }
    blank = empty ? blank + 1 : 0;
  }
  if (!columns.empty()) columns.back().end = width;
  return columns;
}

struct FoundColumns {
  std::vector<Column> columns;
  std::size_t gutter = kGutterColumns;
};

/// FoundColumns stand two spaces apart, or one, which in so many lines of prose would hardly be at one place.
FoundColumns columns_of(const Block& block) {
  constexpr std::size_t kManyLines = 5;
  std::vector<Column> columns = columns_of(block, kGutterColumns);
  if (columns.size() < 2 && block.size() >= kManyLines) return {columns_of(block, 1), 1};
  return {std::move(columns), kGutterColumns};
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

// --- tables ----------------------------------------------------------------------------------------------------------

/// A table, cell by cell. Names and units may be folded behind their parts ("flits/cycle/" "terminal"), and between
/// words where a column is prose; numbers are not.
struct CellTable {
  std::vector<std::vector<Line>> rows;  ///< [row][column], without the spaces behind a cell
  std::vector<std::size_t> width;       ///< [column]
  std::size_t gutter = kGutterColumns;
  std::vector<bool> prose;  ///< [column]
};

Line without_blank_end(Line line) {
  while (!line.empty() && line.back() == " ") line.pop_back();
  return line;
}

bool is_prose(const Line& cell) {
  constexpr std::size_t kWords = 4;
  std::size_t words = 0;
  for (std::size_t i = 0; i < cell.size(); ++i)
    words += !is_space(cell, i) && (i == 0 || is_space(cell, i - 1)) ? 1 : 0;
  return words >= kWords;
}

CellTable table_of(const Block& block, const FoundColumns& found) {
  CellTable table;
  table.gutter = found.gutter;
  table.width.assign(found.columns.size(), 0);
  table.prose.assign(found.columns.size(), false);
  for (const Line& line : block) {
    std::vector<Line>& cells = table.rows.emplace_back();
    for (std::size_t c = 0; c < found.columns.size(); ++c) {
      const std::size_t begin = std::min(found.columns[c].begin, line.size());
      const std::size_t end = std::min(found.columns[c].end, line.size());
      using Place = Line::difference_type;
      cells.push_back(
          without_blank_end(Line(line.begin() + static_cast<Place>(begin), line.begin() + static_cast<Place>(end))));
      table.width[c] = std::max(table.width[c], cells.back().size());
      if (table.rows.size() > 1 && is_prose(cells.back())) table.prose[c] = true;  // a head is none
    }
  }
  return table;
}

/// What of a cell stays together.
std::vector<Line> pieces_of(const Line& cell, bool prose) {
  std::vector<Line> pieces(1);
  const auto is_letter = [&](std::size_t at) {
    return at < cell.size() && cell[at].size() == 1 && cell[at] >= "A" && cell[at] <= "z";
  };
  for (std::size_t i = 0; i < cell.size(); ++i) {
    pieces.back().push_back(cell[i]);
    const bool part = (cell[i] == "_" || cell[i] == "/" || cell[i] == ".") && is_letter(i + 1);
    const bool word = prose && cell[i] == " " && !is_space(cell, i + 1) && i > indent_of(cell);
    if (part || word) pieces.emplace_back();
  }
  return pieces;
}

/// Lines of a cell behind its first one: those of the first column are indented, so that they are no rows.
std::size_t hang_in(const Line& cell, std::size_t column) {
  constexpr std::size_t kHang = 2;
  return column == 0 ? indent_of(cell) + kHang : 0;
}

std::vector<Line> folded(const CellTable& table, const Line& cell, std::size_t column) {
  const bool prose = table.prose[column];
  std::vector<Line> lines(1);
  if (cell.size() <= table.width[column]) return {cell};
  for (const Line& piece : pieces_of(cell, prose)) {
    Line longer = lines.back();
    longer.insert(longer.end(), piece.begin(), piece.end());
    if (without_blank_end(longer).size() > table.width[column] && indent_of(lines.back()) != lines.back().size()) {
      longer.assign(prose ? 0 : hang_in(cell, column), " ");
      longer.insert(longer.end(), piece.begin(), piece.end());
      lines.emplace_back();
    }
    lines.back() = std::move(longer);
  }
  for (Line& line : lines) line = without_blank_end(std::move(line));
  return lines;
}

/// The least width of a column.
std::size_t least_width(const CellTable& table, std::size_t column) {
  constexpr std::size_t kProse = 16;
  const bool prose = table.prose[column];
  std::size_t least = prose ? std::min(kProse, table.width[column]) : 1;
  for (const std::vector<Line>& row : table.rows) {
    const std::vector<Line> pieces = pieces_of(row[column], prose);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::size_t hang = i == 0 || prose ? 0 : hang_in(row[column], column);
      least = std::max(least, hang + without_blank_end(pieces[i]).size());
    }
  }
  return std::min(least, table.width[column]);
}

std::size_t total_width(const CellTable& table, std::size_t begin, std::size_t end) {
  std::size_t total = 0;
  for (std::size_t c = begin; c < end; ++c) total += table.width[c] + (c == begin ? 0 : table.gutter);
  return total;
}

/// Makes the widest of the columns [begin, end) narrower until they are together as wide as that, if they can be.
void narrow(CellTable& table, std::size_t begin, std::size_t end, std::size_t width) {
  std::vector<std::size_t> least;
  for (std::size_t c = begin; c < end; ++c) least.push_back(least_width(table, c));
  while (total_width(table, begin, end) > width) {
    std::size_t widest = end;
    for (std::size_t c = begin; c < end; ++c) {
      if (table.width[c] > least[c - begin] && (widest == end || table.width[c] > table.width[widest])) widest = c;
    }
    if (widest == end) break;
    --table.width[widest];
  }
  // Where a name ends earlier there is room for others.
  for (std::size_t c = begin; c < end; ++c) {
    std::size_t used = 0;
    for (const std::vector<Line>& row : table.rows) {
      for (const Line& line : folded(table, row[c], c)) used = std::max(used, line.size());
    }
    table.width[c] = used;
  }
}

/// The keys and columns [begin, end), row by row.
void print(const CellTable& table, std::size_t keys, std::size_t begin, std::size_t end, std::string& out) {
  std::vector<std::size_t> shown(keys);
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  for (std::size_t c = begin; c < end; ++c) shown.push_back(c);
  for (const std::vector<Line>& row : table.rows) {
    std::vector<std::vector<Line>> cells;
    std::size_t height = 1;
    for (const std::size_t c : shown) {
      cells.push_back(folded(table, row[c], c));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::string text;
      for (std::size_t i = 0; i < shown.size(); ++i) {
        const Line none;
        const Line& cell = line < cells[i].size() ? cells[i][line] : none;
        const std::size_t width = table.width[shown[i]] + table.gutter;
        text += text_of(cell, 0, cell.size()) + std::string(width - std::min(width, cell.size()), ' ');
      }
      out += without_end(std::move(text)) + "\n";
    }
  }
}

/// Parts of the table below each other, each as wide as fits, with the first columns again. False: not even one column
/// fits beside them.
bool split(CellTable table, std::size_t keys, std::size_t width, std::string& out) {
  std::size_t widest = 0;
  for (std::size_t c = keys; c < table.width.size(); ++c) widest = std::max(widest, least_width(table, c));
  if (widest + table.gutter >= width) return false;
  narrow(table, 0, keys, width - widest - table.gutter);
  const std::size_t beside = total_width(table, 0, keys) + table.gutter;
  if (beside + widest > width) return false;
  for (std::size_t c = keys; c < table.width.size(); ++c) narrow(table, c, c + 1, width - beside);
  for (std::size_t first = keys; first < table.width.size();) {
    std::size_t last = first + 1;
    while (last < table.width.size() && beside + total_width(table, first, last + 1) <= width) ++last;
    if (first != keys) out += "\n";
    print(table, keys, first, last, out);
    first = last;
  }
  return true;
}

/// Prints a table that is too wide, with narrower columns or in parts. False: that cannot be.
bool fit_table(const Block& block, const FoundColumns& found, std::size_t keys, std::size_t width, std::string& out) {
  CellTable table = table_of(block, found);
  const std::size_t columns = table.width.size();
  CellTable narrower = table;
  narrow(narrower, 0, columns, width);
  if (total_width(narrower, 0, columns) <= width) {
    print(narrower, 0, 0, columns, out);
    return true;
  }
  const std::size_t kept = std::min(keys, columns);
  return columns > kept + 1 && split(std::move(table), kept, width, out);
}

void fit_block(const Block& block, std::size_t keys, std::size_t width, std::string& out) {
  const bool fits = width_of(block) <= width;
  const FoundColumns found = fits || block.size() < 2 ? FoundColumns{} : columns_of(block);
  const std::vector<Column>& columns = found.columns;
  // The last column alone is too wide: it is folded in its place.
  const bool explains = columns.size() > 1 && columns.back().begin + kReadableColumns <= width;
  if (!fits && !explains && columns.size() > 1 && fit_table(block, found, keys, width, out)) return;
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
