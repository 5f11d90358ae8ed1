#include "banyan/report/terminal_chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "banyan/base/printable.hpp"
#include "banyan/report/axis.hpp"
#include "banyan/report/markup.hpp"

namespace banyan::report {
namespace {

constexpr std::array<const char*, kPaletteSize> kMarks = {"●", "■", "▲", "◆", "▼", "✚", "★", "▬"};
constexpr const char* kUnsettled = "✗";
constexpr const char* kDoubt = "?";
/// 256-colour codes near the page's palette, readable on light and dark ground.
constexpr std::array<int, kPaletteSize> kColours = {32, 166, 35, 133, 136, 74, 245, 98};
constexpr std::size_t kLeast = 40;
constexpr std::size_t kLabel = 9;  ///< of the y axis
constexpr u32 kLabelParts = 4;     ///< of it, between round values
/// Dots of a braille character, by column and row.
constexpr std::array<std::array<u32, 4>, 2> kDots = {{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};

/// A position in dots: two per column, four per row.
struct Dot {
  double x, y;
};

struct Cell {
  u32 dots = 0;
  const char* mark = nullptr;
  int line = -1;
};

/// Keeps at most `columns` characters of plain text.
std::string fitted(const std::string& label, std::size_t columns) {
  std::string text;
  std::size_t used = 0;
  for (const char c : without_controls(plain_label(label))) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (starts && used == columns) break;
    if (starts) ++used;
    text += c;
  }
  return text;
}

class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows) : columns_(columns), rows_(rows), cells_(columns * rows) {}

  void stroke(const Dot& from, const Dot& to, int line) {
    const double steps = std::max({std::fabs(to.x - from.x), std::fabs(to.y - from.y), 1.0});
    for (double i = 0; i <= steps; i += 1.0) {
      dot({from.x + (to.x - from.x) * i / steps, from.y + (to.y - from.y) * i / steps}, line);
    }
  }
  void mark(const Dot& at, const char* mark, int line) {
    if (Cell* cell = cell_at(at)) *cell = {cell->dots, mark, line};
  }
  [[nodiscard]] std::string row(std::size_t r, bool colour) const {
    std::string text;
    for (std::size_t c = 0; c < columns_; ++c) {
      const Cell& cell = cells_[r * columns_ + c];
      const std::string shown = cell.mark != nullptr ? cell.mark : cell.dots == 0 ? " " : braille(cell.dots);
      const bool coloured = colour && cell.line >= 0;
      text += coloured
                  ? fmt::format("\x1b[38;5;{}m{}\x1b[0m", kColours[static_cast<u32>(cell.line) % kPaletteSize], shown)
                  : shown;
    }
    return text;
  }

 private:
  static std::string braille(u32 dots) {
    const u32 point = 0x2800 + dots;
    return {static_cast<char>(0xE0U | point >> 12U), static_cast<char>(0x80U | (point >> 6U & 0x3FU)),
            static_cast<char>(0x80U | (point & 0x3FU))};
  }
  /// y grows upwards.
  Cell* cell_at(const Dot& at) {
    const auto x = static_cast<std::size_t>(std::lround(std::max(at.x, 0.0)));
    const auto y = static_cast<std::size_t>(std::lround(std::max(at.y, 0.0)));
    if (x / 2 >= columns_ || y / 4 >= rows_) return nullptr;
    return &cells_[(rows_ - 1 - y / 4) * columns_ + x / 2];
  }
  void dot(const Dot& at, int line) {
    Cell* cell = cell_at(at);
    if (cell == nullptr || cell->mark != nullptr) return;
    const auto x = static_cast<std::size_t>(std::lround(std::max(at.x, 0.0)));
    const auto y = static_cast<std::size_t>(std::lround(std::max(at.y, 0.0)));
    cell->dots |= kDots[x % 2][3 - y % 4];
    cell->line = line;
  }

  std::size_t columns_, rows_;
  std::vector<Cell> cells_;
};

std::string tick(double value) {
  // Thousands in full: 13750, and not 1.375e+04.
  const bool whole = value == std::round(value) && std::fabs(value) < 1e7;
  std::string text = whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
  if (std::fabs(value) < 1e-12) text = "0";
  return text;
}

void draw(Canvas& canvas, const Chart& chart, const Scale& x, const Scale& y) {
  const auto shown = [&](const ChartPoint& p) { return x.shows(p.x) && y.shows(p.y); };
  for (const ChartLine& line : chart.lines) {
    const ChartPoint* last = nullptr;
    for (const ChartPoint& point : line.points) {
      if (!shown(point)) continue;
      const ChartPoint& from = last == nullptr || !chart.x_names.empty() ? point : *last;
      canvas.stroke({x.at(from.x), y.at(from.y)}, {x.at(point.x), y.at(point.y)}, static_cast<int>(line.colour));
      last = &point;
    }
  }
  for (const ChartLine& line : chart.lines) {
    if (!line.markers || line.analytical) continue;
    for (const ChartPoint& point : line.points) {
      if (x.shows(point.x) && is_beyond(point)) {
        canvas.mark({x.at(point.x), y.at(y.axis.value(1.0))}, kUnsettled, static_cast<int>(line.colour));
      }
      if (!shown(point)) continue;
      const char* mark = is_unsettled(point.verdict) ? kUnsettled
                         : !point.certain            ? kDoubt
                                                     : kMarks[line.colour % kPaletteSize];
      canvas.mark({x.at(point.x), y.at(point.y)}, mark, static_cast<int>(line.colour));
    }
  }
}

/// Names under their places, each as long as its share of the axis.
std::string x_names(const std::vector<std::string>& names, const Scale& x, std::size_t columns) {
  const std::size_t room = std::max<std::size_t>(2, columns / names.size()) - 1;
  std::string text;
  std::size_t used = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = cut_in_the_middle(without_controls(names[i]), room);
    const auto middle = static_cast<std::size_t>(std::lround(x.at(static_cast<double>(i + 1)) / 2));
    const std::size_t half = columns_of(name) / 2;
    const std::size_t at = std::max(middle - std::min(middle, half), used == 0 ? 0 : used + 1);
    text += std::string(at - used, ' ') + name;
    used = at + columns_of(name);
  }
  return text;
}

/// Values under the axis, left, middle and right.
std::string x_ticks(const Scale& x, std::size_t columns) {
  std::string text(columns, ' ');
  const auto put = [&](const std::string& word, std::size_t at) {
    text.replace(std::min(at, columns - std::min(columns, word.size())), word.size(), word);
  };
  put(tick(x.axis.value(0.0)), 0);
  const std::string middle = tick(x.axis.value(0.5));
  put(middle, columns / 2 - middle.size() / 2);
  const std::string right = tick(x.axis.value(1.0));
  put(right, columns - right.size());
  return text;
}

/// At most `rows` of them, so that the legend is no taller than the plot.
std::string legend(const Chart& chart, const TerminalStyle& style, std::size_t columns, std::size_t rows) {
  const auto any = [&](const auto& holds) {
    return std::any_of(chart.lines.begin(), chart.lines.end(), [&](const ChartLine& line) {
      return std::any_of(line.points.begin(), line.points.end(), holds);
    });
  };
  std::string notes;
  if (any([](const ChartPoint& point) { return is_unsettled(point.verdict); }))
    notes += std::string(kUnsettled) + " saturated or deadlocked\n";
  if (any([](const ChartPoint& point) { return !point.certain && !is_unsettled(point.verdict); }))
    notes += std::string(kDoubt) + " uncertain verdict: a longer run may tell\n";
  if (const std::string out = left_out(chart); !out.empty()) notes += out + "\n";
  const std::size_t most = rows - static_cast<std::size_t>(std::count(notes.begin(), notes.end(), '\n'));
  std::vector<std::string> text(1);
  std::size_t used = 0;
  std::size_t named = 0;
  std::size_t named_above = 0;  // before the last row
  for (const ChartLine& line : chart.lines) {
    const u32 place = line.colour % kPaletteSize;
    const std::string mark = line.markers && !line.analytical ? kMarks[place] : "─";
    const std::string label = fitted(line.label, columns - 4);
    const std::size_t width = columns_of(label) + 2;
    if (used > 0 && used + 3 + width > columns) {
      if (text.size() == most) {
        named = named_above;
        text.back() = fmt::format("and {} more", chart.lines.size() - named);
        break;
      }
      text.emplace_back();
      named_above = named;
      used = 0;
    }
    text.back() += used == 0 ? "" : "   ";
    text.back() +=
        style.colour ? fmt::format("\x1b[38;5;{}m{}\x1b[0m {}", kColours[place], mark, label) : mark + " " + label;
    used += width + (used == 0 ? 0 : 3);
    ++named;
  }
  std::string all;
  for (const std::string& row : text) all += row.empty() ? "" : row + "\n";
  return all + notes;
}

}  // namespace

std::string to_terminal(const Chart& chart, const TerminalStyle& style) {
  const std::size_t width = std::max(style.columns, kLeast);
  const std::size_t columns = width - kLabel - 2;
  // An odd number has a middle.
  const std::size_t rows = std::max<std::size_t>(style.rows, 5) | 1U;
  // No bars are drawn: the values alone make the axis.
  const Plane plane = plane_of(chart, false, kLabelParts);
  const Scale x{plane.x, 0.0, static_cast<double>(2 * columns - 1)};
  const Scale y{plane.y, 0.0, static_cast<double>(4 * rows - 1)};
  Canvas canvas(columns, rows);
  draw(canvas, chart, x, y);

  std::string text = fitted(chart.title, width) + "\n";
  if (!chart.subtitle.empty()) text += fitted(chart.subtitle, width) + "\n";
  text += fitted(chart.y_label, width) + "\n";
  for (std::size_t r = 0; r < rows; ++r) {
    const bool ticked = r == 0 || r + 1 == rows || r == rows / 2;
    const double share = 1.0 - static_cast<double>(r) / static_cast<double>(rows - 1);
    text += fmt::format("{:>{}} {}{}\n", ticked ? tick(y.axis.value(share)) : "", kLabel, ticked ? "┤" : "│",
                        canvas.row(r, style.colour));
  }
  std::string line;
  for (std::size_t i = 0; i < columns; ++i) line += "─";
  text += fmt::format("{:>{}} └{}\n", "", kLabel, line);
  text += fmt::format("{:>{}}  {}\n", "", kLabel,
                      chart.x_names.empty() ? x_ticks(x, columns) : x_names(chart.x_names, x, columns));
  const std::string name = fitted(chart.x_label, columns);
  text += std::string(kLabel + 2 + (columns - columns_of(name)) / 2, ' ') + name + "\n";
  return text + legend(chart, style, width, rows);
}

}  // namespace banyan::report
