#include "banyan/report/chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "banyan/report/axis.hpp"
#include "banyan/report/markup.hpp"

namespace banyan::report {
namespace {

// One third of a page 1280 wide, or a whole one 400 wide: text stays readable in both.
constexpr double kWidth = 480;
constexpr double kLeft = 58;
constexpr double kRight = 14;
constexpr double kPlotHeight = 250;
constexpr double kTitleLine = 20;
constexpr double kLegendLine = 19;
constexpr double kMark = 14;        ///< from one row of marks without a value to the next
constexpr double kBeside = 11;      ///< from one such mark to the next in its row, at least
constexpr double kMostBand = 0.25;  ///< of the plot, for such marks; for more of them the plot is higher
constexpr double kMostRows = 32;    ///< beyond, rows lie closer
/// Marks of the vertical axis, and of the horizontal one: parts of a linear axis, and marks of a logarithmic one, at
/// most.
constexpr u32 kParts = 5;
constexpr u32 kMostMarks = 8;
constexpr u32 kPartsX = 8;
constexpr u32 kMostMarksX = 10;
constexpr double kCharacter = 7.2;  ///< mean advance of the 13 px sans-serif text

// Okabe and Ito's palette (2008), with the light yellow left out and shades for dark ground.
constexpr std::array<const char*, kPaletteSize> kLight = {"#0072b2", "#d55e00", "#009e73", "#b04a8a",
                                                          "#b07800", "#2a9bd6", "#5b5b5b", "#7a3fb0"};
constexpr std::array<const char*, kPaletteSize> kDark = {"#5cb3e8", "#ff8a3d", "#2fc79a", "#e58fc4",
                                                         "#f0b429", "#9ad5f5", "#bdbdbd", "#b997e6"};

std::string number(double value) { return fmt::format("{:.2f}", value); }

std::string tick_label(double value) {
  const bool plain = value == 0.0 || (std::fabs(value) < 1e6 && std::fabs(value) >= 1e-4);
  std::string text = plain ? fmt::format("{:.6g}", value) : fmt::format("{:.3g}", value);
  // "2e6", as the page writes it.
  for (const char* long_exponent : {"e+0", "e+"}) {
    if (const std::size_t at = text.find(long_exponent); at != std::string::npos)
      text.replace(at, std::string_view(long_exponent).size(), "e");
  }
  if (text.front() == '-') text.replace(0, 1, "\xE2\x88\x92");
  return text;
}

std::string classes(const ChartLine& line) {
  const u32 family = line.analytical ? 1 : drawn_family(line);
  return fmt::format("s{}{}", line.colour % kPaletteSize, family == 0 ? "" : fmt::format(" dashed d{}", family));
}

bool has_markers(const ChartLine& line) { return line.markers && !line.analytical; }

bool is_power_of_two(double value) {
  int exponent = 0;
  return value > 0 && std::frexp(value, &exponent) == 0.5;
}

template <class Holds>
bool all_places(const Chart& chart, const Holds& holds) {
  return std::all_of(chart.lines.begin(), chart.lines.end(), [&](const ChartLine& line) {
    return std::all_of(line.points.begin(), line.points.end(), [&](const ChartPoint& point) { return holds(point.x); });
  });
}

bool has_powers_of_two(const Chart& chart) { return all_places(chart, is_power_of_two); }

/// The marks of an axis of whole numbers are whole.
bool has_whole_places(const Chart& chart) {
  return all_places(chart, [](double x) { return std::floor(x) == x; });
}

std::string ring(double x, double y, const char* kind) {
  return fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"8.5\"/>", kind, number(x), number(y));
}

struct RingKind {
  const char* name;
  const char* meaning;
  bool (*holds)(const ChartPoint&);
};

/// Where a point is both, the first holds.
constexpr RingKind kRings[] = {
    {"ring", "saturated or deadlocked; with an arrow: no value",
     [](const ChartPoint& point) { return is_unsettled(point.verdict); }},
    {"doubt", "uncertain verdict: a longer run may tell", [](const ChartPoint& point) { return !point.certain; }}};

/// The kinds of rings that the chart has.
std::vector<RingKind> rings_of(const Chart& chart) {
  std::vector<RingKind> kinds;
  std::copy_if(std::begin(kRings), std::end(kRings), std::back_inserter(kinds), [&](const RingKind& kind) {
    return std::any_of(chart.lines.begin(), chart.lines.end(), [&](const ChartLine& line) {
      return std::any_of(line.points.begin(), line.points.end(), kind.holds);
    });
  });
  return kinds;
}

std::size_t notes_of(const Chart& chart) { return rings_of(chart).size() + (left_out(chart).empty() ? 0 : 1); }

/// Where each entry of the legend stands, and what is written there: row and offset in it, and its name, which is
/// shortened where there is no room.
struct Legend {
  struct Entry {
    double x, row;
    std::string name;  ///< as svg_label() reads it
    bool whole;
  };
  std::vector<Entry> entries;  ///< of the first lines
  std::size_t more = 0;        ///< lines behind them, which are only counted
  double rows = 0;
};

constexpr double kSwatch = 36;  ///< of an entry, before its name
constexpr double kBetween = 10;
constexpr u32 kMostColumns = 3;

/// In rows, each entry as wide as its name but at most one of so many columns.
Legend flow_legend(const Chart& chart, u32 columns_of_entries) {
  Legend legend;
  std::vector<std::string> labels;
  for (const ChartLine& line : chart.lines) labels.push_back(plain_label(line.label));
  const double all = kWidth - kRight - kLeft;
  const double widest = (all - kBetween * (columns_of_entries - 1)) / columns_of_entries;
  const std::vector<std::string> names = fit_names(labels, static_cast<std::size_t>((widest - kSwatch) / kCharacter));
  double x = kLeft;
  double row = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool whole = names[i] == labels[i];
    const double width = std::min(kSwatch + kCharacter * static_cast<double>(columns_of(names[i])), widest);
    if (x > kLeft && x + width > kWidth - kRight + 0.5) {
      x = kLeft;
      row += 1;
    }
    legend.entries.push_back({x, row, whole ? chart.lines[i].label : names[i], whole});
    x += width + kBetween;
  }
  legend.rows = chart.lines.empty() ? 0 : row + 1;
  return legend;
}

/// Whether names that are cut still tell apart what whole ones do.
bool tells_apart(const Legend& legend, const Chart& chart) {
  std::set<std::string> names;
  std::set<std::string> labels;
  for (const Legend::Entry& entry : legend.entries) names.insert(entry.name);
  for (const ChartLine& line : chart.lines) labels.insert(line.label);
  return names.size() == labels.size();
}

/// Never taller than the plot: where there are too many entries, they are folded into columns as long as their names
/// stay different, and the last are counted.
Legend lay_out_legend(const Chart& chart) {
  const auto notes = static_cast<double>(notes_of(chart));
  const double most = std::floor(kPlotHeight / kLegendLine) - notes;
  Legend legend = flow_legend(chart, 1);
  for (u32 columns = 2; legend.rows > most && columns <= kMostColumns; ++columns) {
    Legend folded = flow_legend(chart, columns);
    if (!tells_apart(folded, chart)) break;
    legend = std::move(folded);
  }
  if (legend.rows > most) {
    while (legend.entries.back().row > most - 2) legend.entries.pop_back();
    legend.more = chart.lines.size() - legend.entries.size();
    legend.rows = most;
  }
  legend.rows += notes;
  return legend;
}

/// The rows of marks without a value: no mark covers another.
struct Rows {
  std::vector<std::size_t> of;  ///< [line]
  std::size_t count = 0;
};

/// Every line has a row of its own, or one with lines whose marks are elsewhere.
Rows rows_beyond(const Chart& chart, const Scale& x) {
  Rows rows;
  std::vector<std::vector<double>> taken;
  for (const ChartLine& line : chart.lines) {
    std::vector<double> marks;
    for (const ChartPoint& point : line.points) {
      if (is_beyond(point) && x.shows(point.x)) marks.push_back(x.at(point.x));
    }
    const auto covers = [&](double other) {
      return std::any_of(marks.begin(), marks.end(), [&](double mark) { return std::fabs(mark - other) < kBeside; });
    };
    const auto free = std::find_if(taken.begin(), taken.end(), [&](const std::vector<double>& row) {
      return std::none_of(row.begin(), row.end(), covers);
    });
    rows.of.push_back(marks.empty() ? 0 : static_cast<std::size_t>(free - taken.begin()));
    if (marks.empty()) continue;
    if (free == taken.end()) taken.emplace_back();
    taken[rows.of.back()].insert(taken[rows.of.back()].end(), marks.begin(), marks.end());
  }
  rows.count = taken.size();
  return rows;
}

struct Frame {
  double top, bottom;
  double values_top;  ///< below the rows of marks without a value
  double step;        ///< between such rows
  Rows rows;
  Scale x, y;
};

std::string draw_axes(const Chart& chart, const Frame& frame, const std::vector<double>& x_ticks,
                      const std::vector<double>& y_ticks) {
  std::string svg = "<g class=\"grid\">";
  for (const double tick : y_ticks) {
    svg += fmt::format("<path d=\"M{0} {1}H{2}\"/>", number(kLeft), number(frame.y.at(tick)), number(kWidth - kRight));
  }
  svg += "</g>\n<g class=\"axis\">";
  svg += fmt::format("<path d=\"M{0} {1}H{2}\"/>", number(kLeft), number(frame.bottom), number(kWidth - kRight));
  const auto places = static_cast<double>(std::max<std::size_t>(1, x_ticks.size()));
  const auto room = static_cast<std::size_t>((kWidth - kRight - kLeft) / places / kCharacter);
  const std::vector<std::string> names = fit_names(chart.x_names, room);
  for (std::size_t i = 0; i < x_ticks.size(); ++i) {
    const double tick = x_ticks[i];
    svg += fmt::format("<path d=\"M{0} {1}v5\"/>", number(frame.x.at(tick)), number(frame.bottom));
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", number(frame.x.at(tick)),
                       number(frame.bottom + 18), names.empty() ? tick_label(tick) : escape(names[i]));
  }
  for (const double tick : y_ticks) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", number(kLeft - 7),
                       number(frame.y.at(tick) + 4.5), tick_label(tick));
  }
  svg += fmt::format("<text class=\"name\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                     number((kLeft + kWidth - kRight) / 2), number(frame.bottom + 38), svg_label(chart.x_label));
  svg += fmt::format("<text class=\"name\" x=\"2\" y=\"{}\">{}</text></g>\n", number(frame.top - 14),
                     svg_label(chart.y_label));
  return svg;
}

/// An error bar from `low` to `high`, cut at the edges of the plot; an end that is cut has no cap.
std::string bar(const Frame& frame, double x, double low, double high) {
  constexpr double kRounding = 1e-6;  // of a pixel: an end on the edge is not cut
  const double upper = frame.y.at(high);
  const double lower = frame.y.shows(low) ? frame.y.at(low) : std::numeric_limits<double>::infinity();
  std::string path = fmt::format("M{} {}V{}", number(x), number(std::max(upper, frame.values_top)),
                                 number(std::min(lower, frame.bottom)));
  for (const double y : {upper, lower}) {
    if (y >= frame.values_top - kRounding && y <= frame.bottom + kRounding) {
      path += fmt::format("M{} {}h6", number(x - 3), number(y));
    }
  }
  return path;
}

/// `joined`: where the line is by itself, by a curve. `row`: of its marks without a value.
std::string draw_line(const ChartLine& line, const Frame& frame, bool joined, std::size_t row) {
  std::string svg =
      fmt::format("<g class=\"line {}\"><title>{}</title>", classes(line), escape(plain_label(line.label)));
  std::string path;
  std::string errors;
  std::string markers;
  std::string rings;
  const auto marker = [&](const ChartPoint& point, double x, double y) {
    return fmt::format("<path class=\"marker\" d=\"{}\"><title>{}</title></path>", marker_path(line.colour, x, y),
                       escape(plain_label(point.tip)));
  };
  double last_mark = -std::numeric_limits<double>::infinity();
  for (const ChartPoint& point : line.points) {
    if (!frame.x.shows(point.x)) continue;
    const double x = frame.x.at(point.x);
    if (is_beyond(point) && x - last_mark >= kBeside) {
      last_mark = x;
      const double y = frame.top + frame.step * static_cast<double>(row);
      markers += fmt::format("<path class=\"arrow\" d=\"M{0} {1}v-9m-3 3l3-3l3 3\"/>", number(x), number(y)) +
                 marker(point, x, y);
    }
    if (!frame.y.shows(point.y)) continue;
    const double y = frame.y.at(point.y);
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", number(x), number(y));
    if (point.error && *point.error > 0 && !line.analytical) {
      errors += bar(frame, x, point.y - *point.error, point.y + *point.error);
    }
    for (const RingKind& kind : kRings) {
      if (!kind.holds(point)) continue;
      rings += ring(x, y, kind.name);
      break;
    }
    if (has_markers(line)) markers += marker(point, x, y);
  }
  if (joined && line.joined && !path.empty()) svg += fmt::format("<path class=\"curve\" d=\"{}\"/>", path);
  if (!errors.empty()) svg += fmt::format("<path class=\"error\" d=\"{}\"/>", errors);
  return svg + markers + rings + "</g>\n";
}

std::string draw_legend(const Chart& chart, const Legend& legend, double top) {
  std::string svg = "<g class=\"legend\">";
  for (std::size_t i = 0; i < legend.entries.size(); ++i) {
    const ChartLine& line = chart.lines[i];
    const auto& [x, row, name, whole] = legend.entries[i];
    const double y = top + kLegendLine * row;
    svg += fmt::format("<g class=\"line {}\">", classes(line));
    if (line.joined) svg += fmt::format("<path class=\"curve\" d=\"M{} {}h24\"/>", number(x), number(y));
    if (has_markers(line)) svg += fmt::format("<path class=\"marker\" d=\"{}\"/>", marker_path(line.colour, x + 12, y));
    const std::string tip = whole ? "" : "<title>" + escape(plain_label(line.label)) + "</title>";
    svg += fmt::format("</g><text x=\"{}\" y=\"{}\">{}{}</text>", number(x + 30), number(y + 4.5), tip,
                       whole ? svg_label(name) : escape(name));
  }
  if (legend.more > 0) {
    const double y = top + kLegendLine * (legend.entries.back().row + 1);
    svg += fmt::format("<text x=\"{}\" y=\"{}\">and {} more</text>", number(kLeft + 30), number(y + 4.5), legend.more);
  }
  double row = legend.rows - static_cast<double>(notes_of(chart));
  const auto note = [&](std::string_view meaning) {
    const double y = top + kLegendLine * row++;
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", number(kLeft + 30), number(y + 4.5), meaning);
    return y;
  };
  for (const RingKind& kind : rings_of(chart)) svg += ring(kLeft + 12, note(kind.meaning), kind.name);
  if (const std::string out = left_out(chart); !out.empty()) note(out);
  return svg + "</g>\n";
}

}  // namespace

std::string marker_path(u32 place, double x, double y) {
  const auto p = [&](double dx, double dy) { return number(x + dx) + " " + number(y + dy); };
  switch (place % kPaletteSize) {
    case 0:
      return fmt::format("M{} a4 4 0 1 0 8 0 a4 4 0 1 0 -8 0Z", p(-4, 0));
    case 1:
      return fmt::format("M{} h7 v7 h-7Z", p(-3.5, -3.5));
    case 2:
      return fmt::format("M{} L{} L{}Z", p(0, -4.6), p(4.4, 3.4), p(-4.4, 3.4));
    case 3:
      return fmt::format("M{} L{} L{} L{}Z", p(0, -5), p(5, 0), p(0, 5), p(-5, 0));
    case 4:
      return fmt::format("M{} L{} L{}Z", p(0, 4.6), p(4.4, -3.4), p(-4.4, -3.4));
    case 5:
      return fmt::format("M{} h3 v-3 h3 v3 h3 v3 h-3 v3 h-3 v-3 h-3Z", p(-4.5, -1.5));
    case 6:
      return fmt::format("M{} L{} L{} L{} L{}Z", p(0, -5), p(4.8, -1.5), p(2.9, 4), p(-2.9, 4), p(-4.8, -1.5));
    default:
      return fmt::format("M{} h9 v5 h-9Z", p(-4.5, -2.5));
  }
}

std::string with_unit(const std::string& label, const std::string& unit) {
  return unit.empty() ? label : label + " (" + unit + ")";
}

bool is_unsettled(const std::string& verdict) { return verdict == "saturated" || verdict == "deadlocked"; }

std::string left_out(const Chart& chart) {
  std::size_t count = 0;
  for (const ChartLine& line : chart.lines) {
    count += static_cast<std::size_t>(std::count_if(line.points.begin(), line.points.end(), [&](const ChartPoint& p) {
      return (chart.log_x && p.x <= 0) || (chart.log_y && p.y <= 0);
    }));
  }
  if (count == 0) return "";
  return fmt::format("{} at or below 0 {} not on a logarithmic axis",
                     count == 1 ? "1 point" : fmt::format("{} points", count), count == 1 ? "is" : "are");
}

bool is_beyond(const ChartPoint& point) { return std::isnan(point.y) && is_unsettled(point.verdict); }

std::string chart_style(const std::string& scope) {
  std::string light;
  std::string dark;
  std::string uses;
  for (u32 i = 0; i < kPaletteSize; ++i) {
    light += fmt::format("--c{}:{};", i, kLight[i]);
    dark += fmt::format("--c{}:{};", i, kDark[i]);
    uses += fmt::format(".banyan-chart .s{0}{{--c:var(--c{0})}}\n", i);
  }
  light += "--ink:#1c2128;--soft:#57606a;--rule:#e3e6ea;--ground:#ffffff";
  dark += "--ink:#e6e8eb;--soft:#a2abb5;--rule:#30363d;--ground:#15191e";
  return fmt::format(
             "{0}{{{1}}}\n"
             "@media (prefers-color-scheme: dark){{{0}:not([data-theme=\"light\"]){{{2}}}}}\n"
             "{0}[data-theme=\"dark\"]{{{2}}}\n"
             "@media print{{{0},{0}:not([data-theme=\"light\"]),{0}[data-theme=\"dark\"]{{{1}}}}}\n",
             scope, light, dark) +
         ".banyan-chart{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;"
         "font-size:13px}\n"
         ".banyan-chart text{fill:var(--ink)}\n"
         ".banyan-chart .title{font-size:15px;font-weight:600}\n"
         ".banyan-chart .subtitle,.banyan-chart .name{fill:var(--soft)}\n"
         ".banyan-chart .grid path{stroke:var(--rule);fill:none}\n"
         ".banyan-chart .axis path{stroke:var(--soft);fill:none}\n"
         ".banyan-chart .curve{stroke:var(--c);stroke-width:2;fill:none;stroke-linejoin:round}\n"
         ".banyan-chart .error{stroke:var(--c);stroke-width:1.2;fill:none;opacity:.8}\n"
         ".banyan-chart .marker{fill:var(--c);stroke:var(--ground);stroke-width:1}\n"
         ".banyan-chart .arrow{stroke:var(--c);stroke-width:1.4;fill:none}\n"
         ".banyan-chart .ring,.banyan-chart .doubt{stroke:var(--ink);stroke-width:1.4;fill:none}\n"
         ".banyan-chart .doubt{stroke-dasharray:3 3}\n"
         ".banyan-chart .d1 .curve{stroke-dasharray:6 4}\n"
         ".banyan-chart .d2 .curve{stroke-dasharray:2 3}\n"
         ".banyan-chart .d3 .curve{stroke-dasharray:9 3 2 3}\n"
         ".banyan-chart .dashed .marker{fill:var(--ground);stroke:var(--c);stroke-width:1.8}\n" +
         uses;
}

namespace {

struct Layout {
  Plane plane;
  Legend legend;
  Frame frame;
  double legend_top, height;
};

Layout lay_out(const Chart& chart) {
  const Plane plane = plane_of(chart, true, kParts);
  const Scale x{plane.x, kLeft + 8, kWidth - kRight - 8};
  Rows rows = rows_beyond(chart, x);
  const auto count = static_cast<double>(rows.count);
  const double band = kMark * std::min(count, kMostRows);
  const double top = 12 + kTitleLine + (chart.subtitle.empty() ? 0.0 : 18.0) + 30;
  const double bottom = top + kPlotHeight + std::max(0.0, band - kMostBand * kPlotHeight);
  const Frame frame{
      top, bottom, top + band, rows.count == 0 ? 0.0 : band / count, std::move(rows), x, {plane.y, bottom, top + band}};
  Layout layout{plane, lay_out_legend(chart), frame, bottom + 60, 0};
  layout.height = layout.legend_top + kLegendLine * layout.legend.rows;
  return layout;
}

}  // namespace

std::string to_svg(const std::vector<Chart>& charts) {
  if (charts.size() == 1) return to_svg(charts.front(), true);
  std::string drawn;
  double height = 0;
  for (const Chart& chart : charts) {
    drawn += fmt::format("<g transform=\"translate(0 {})\">\n{}</g>\n", number(height), to_svg(chart, true));
    height += lay_out(chart).height;
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n",
             number(kWidth), number(height)) +
         drawn + "</svg>\n";
}

std::string to_svg(const Chart& chart, bool standalone) {
  const auto [plane, legend, frame, legend_top, height] = lay_out(chart);
  const std::vector<double> y_ticks = plane.y.marks(kMostMarks);
  std::vector<double> x_ticks = chart.log_x
                                    ? log_ticks(plane.x.low(), plane.x.high(), kMostMarksX, has_powers_of_two(chart))
                                    : nice_ticks(plane.x.low(), plane.x.high(), kPartsX, has_whole_places(chart));
  if (!chart.x_names.empty()) {
    x_ticks.resize(chart.x_names.size());
    std::iota(x_ticks.begin(), x_ticks.end(), 1.0);
  }

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"banyan-chart\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "aria-label=\"{2}\"{3}>\n",
      number(kWidth), number(height), escape(plain_label(chart.title + ". " + chart.y_label)),
      standalone ? fmt::format(" width=\"{}\" height=\"{}\"", number(kWidth), number(height)) : "");
  if (standalone) {
    svg += "<style>" + escape(chart_style(".banyan-chart")) + "</style>\n";
    svg += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"var(--ground)\"/>\n", number(kWidth), number(height));
  }
  svg += fmt::format("<text class=\"title\" x=\"2\" y=\"17\">{}</text>\n", svg_label(chart.title));
  if (!chart.subtitle.empty()) {
    svg += fmt::format("<text class=\"subtitle\" x=\"2\" y=\"36\">{}</text>\n", svg_label(chart.subtitle));
  }
  svg += draw_axes(chart, frame, x_ticks, y_ticks);
  if (plane.empty) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">no data</text>\n", number(kWidth / 2),
                       number((frame.top + frame.bottom) / 2));
  }
  for (std::size_t i = 0; i < chart.lines.size(); ++i)
    svg += draw_line(chart.lines[i], frame, chart.x_names.empty(), frame.rows.of[i]);
  svg += draw_legend(chart, legend, legend_top);
  return svg + "</svg>\n";
}

}  // namespace banyan::report
