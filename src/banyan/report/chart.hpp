// Line charts as static SVG, for export and for the plain report page. An interactive report replaces the drawing, not
// the data: it starts from the same Chart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::report {

struct ChartPoint {
  double x = 0.0;
  double y = 0.0;
  std::optional<double> error;  ///< half width of the interval
  std::string tip;              ///< shown on hover
};

struct ChartLine {
  std::string label;
  std::vector<ChartPoint> points;  ///< by increasing x
  u32 colour = 0;                  ///< place in the palette; also chooses the marker
  bool dashed = false;             ///< and hollow markers: a second family of lines
  bool markers = true;             ///< false: a curve of many points
};

struct Chart {
  std::string title;
  std::string subtitle;
  std::string x_label;
  std::string y_label;
  bool log_x = false;  ///< powers of two where they fit, of ten otherwise
  bool log_y = false;
  std::vector<ChartLine> lines;
};

/// A complete, well-formed SVG document. `standalone`: with its own style sheet (light and dark by media query);
/// otherwise the page around it holds chart_style(). Text is escaped; "_{x}" in labels is a subscript.
[[nodiscard]] std::string to_svg(const Chart& chart, bool standalone);

/// The style sheet of the charts: colours as custom properties on `scope`, for light and dark.
[[nodiscard]] std::string chart_style(const std::string& scope);

/// Round values that divide [low, high] into about `count` parts (steps of 1, 2, 5 times a power of ten).
[[nodiscard]] std::vector<double> nice_ticks(double low, double high, u32 count);

/// The colours of the palette, light and dark; they differ for every common kind of colour blindness.
inline constexpr u32 kPaletteSize = 8;

}  // namespace banyan::report
