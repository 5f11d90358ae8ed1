// Line charts as static SVG: for export, for paper and for a page without its script. The interactive page replaces the
// drawing, not the data: it starts from the same Chart.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::report {

/// The colours of the palette, light and dark; they differ for every common kind of colour blindness.
inline constexpr u32 kPaletteSize = 8;

/// Kinds of dashes, no dashes included.
inline constexpr u32 kFamilies = 4;

struct ChartPoint {
  double x = 0.0;
  double y = 0.0;                    ///< NaN at a point that is_unsettled(): no value, marked above all values
  std::optional<double> error;       ///< half width of the interval
  std::string tip;                   ///< shown on hover over the static drawing
  std::optional<u64> count{};        ///< samples
  std::string verdict{};             ///< of the run; "saturated" and "deadlocked" are ringed
  std::optional<std::size_t> run{};  ///< place in Page::runs
  bool certain = true;               ///< false: the verdict is the likelier one; drawn with a dashed ring
};

struct ChartLine {
  std::string label;
  std::vector<ChartPoint> points;  ///< by increasing x
  u32 colour = 0;                  ///< place in the palette; also chooses the marker
  u32 family = 0;           ///< 0: solid, filled markers; 1 to kFamilies - 1: dashes of their own, hollow markers
  bool markers = true;      ///< false: a curve of many points
  bool joined = true;       ///< by a curve; false: a scatter
  bool analytical = false;  ///< a model's curve: dashed, without markers and error bars
};

/// The dashes of a line: those of its family, or of a later one where the palette is used for the second time.
[[nodiscard]] inline u32 drawn_family(const ChartLine& line) noexcept {
  return (line.family + line.colour / kPaletteSize) % kFamilies;
}

struct Chart {
  std::string title;
  std::string subtitle;
  std::string x_label;
  std::string y_label;
  std::string x_symbol;  ///< for one value: "γ = 0.2"
  std::string y_unit;
  /// Names of the places 1, 2, ... of an axis without numbers; what lies beside each other is not joined then.
  std::vector<std::string> x_names;
  bool log_x = false;
  bool log_y = false;
  std::vector<ChartLine> lines;
};

/// A complete, well-formed SVG document. `standalone`: with its own style sheet (light and dark by media query);
/// otherwise the page around it holds chart_style(). Text is escaped; "_{x}" in labels is a subscript.
[[nodiscard]] std::string to_svg(const Chart& chart, bool standalone);

/// The charts below each other as one document, standalone.
[[nodiscard]] std::string to_svg(const std::vector<Chart>& charts);

/// "latency (cycles)" for the label of an axis; the label alone where there is no unit.
[[nodiscard]] std::string with_unit(const std::string& label, const std::string& unit);

/// Whether a point with this verdict is no steady-state mean and gets a ring.
[[nodiscard]] bool is_unsettled(const std::string& verdict);

/// Whether it is such a point, and without a value: a mark above the plot says so.
[[nodiscard]] bool is_beyond(const ChartPoint& point);

/// How many points a logarithmic axis leaves out, in words; "": none.
[[nodiscard]] std::string left_out(const Chart& chart);

/// SVG path data of the marker for a place in the palette, around (x, y).
[[nodiscard]] std::string marker_path(u32 place, double x, double y);

/// The style sheet of the charts: colours as custom properties on `scope`, for light and dark: as the system says, or
/// as an attribute data-theme="light" or "dark" of `scope` does; light on paper.
[[nodiscard]] std::string chart_style(const std::string& scope);

}  // namespace banyan::report
