#include "banyan/report/run_figures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "banyan/api/export.hpp"
#include "banyan/api/physical.hpp"
#include "banyan/report/axis.hpp"
#include "banyan/report/jobs_figures.hpp"
#include "banyan/stats/congestion.hpp"

namespace banyan::report {
namespace {

/// Rows of a table on the page; all of them are in its CSV file.
constexpr std::size_t kShownRows = 12;
/// Beyond this ratio of the longest to the shortest latency the axis is logarithmic.
constexpr double kWideLatencies = 64.0;

/// A table of a run, read by the names of its columns.
class Columns {
 public:
  explicit Columns(const api::Table& table) : table_(table) {}

  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const {
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      if (table_.columns[i] == name) return i;
    }
    return std::nullopt;
  }
  [[nodiscard]] double number(std::size_t row, std::size_t column) const {
    const api::Table::Cell& cell = table_.rows[row][column];
    if (const auto* whole = std::get_if<u64>(&cell)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    return 0.0;
  }
  [[nodiscard]] std::string text(std::size_t row, std::size_t column) const {
    return api::to_text(table_.rows[row][column]);
  }
  [[nodiscard]] std::size_t rows() const { return table_.rows.size(); }

 private:
  const api::Table& table_;
};

const api::Table* find_table(const api::Result& result, std::string_view name) {
  const auto found = std::find_if(result.tables.begin(), result.tables.end(),
                                  [&](const api::Table& table) { return table.name == name; });
  return found == result.tables.end() ? nullptr : &*found;
}

ChartPoint at(double x, double y, std::string tip) {
  ChartPoint point{x, y, std::nullopt, std::move(tip)};
  point.run = 0;
  return point;
}

Chart chart_of(std::string title, std::string x_label, std::string y_label) {
  Chart chart;
  chart.title = std::move(title);
  chart.x_symbol = x_label;
  chart.x_label = std::move(x_label);
  chart.y_label = std::move(y_label);
  return chart;
}

ChartLine line_of_many(std::string label, u32 colour) {
  ChartLine line;
  line.label = std::move(label);
  line.colour = colour;
  line.markers = false;
  return line;
}

/// Buckets are wider where latencies are longer: what is drawn is the share per cycle, or per ns.
std::vector<NamedChart> distribution_charts(const api::Histogram& histogram, const api::Worth& worth) {
  double total = 0.0;
  for (const auto& bucket : histogram.buckets) total += static_cast<double>(bucket.count);
  const std::string x_label = with_unit(histogram.name, worth.unit);
  const std::string per = worth.unit == "cycles" ? "cycle" : worth.unit;
  Chart density = chart_of("How many take how long", x_label, "share of the packets per " + per);
  Chart cumulative = chart_of("How many take at most so long", x_label, "share of the packets");
  Chart tail = chart_of("How many take longer", x_label, "share of the packets");
  ChartLine steps = line_of_many("share per " + per, 0);
  ChartLine below = line_of_many("at most so long", 0);
  ChartLine above = line_of_many("longer", 0);
  double sum = 0.0;
  u64 expected = histogram.buckets.front().low;
  for (const auto& bucket : histogram.buckets) {
    const double low = static_cast<double>(bucket.low) * worth.factor;
    const double high = static_cast<double>(bucket.high) * worth.factor;
    const double end = static_cast<double>(bucket.high + 1) * worth.factor;
    const double share = static_cast<double>(bucket.count) / total;
    const std::string where = low == high ? fmt::format("{:.6g} {}", low, worth.unit)
                                          : fmt::format("{:.6g} to {:.6g} {}", low, high, worth.unit);
    const std::string tip = fmt::format("{}: {} packets, {:.3g} %", where, bucket.count, 100.0 * share);
    if (bucket.low != expected) {  // nothing in between
      steps.points.push_back(at(static_cast<double>(expected) * worth.factor, 0.0, ""));
      steps.points.push_back(at(low, 0.0, ""));
    }
    steps.points.push_back(at(low, share / (end - low), tip));
    steps.points.push_back(at(end, share / (end - low), tip));
    expected = bucket.high + 1;
    sum += static_cast<double>(bucket.count);
    below.points.push_back(
        at(high, sum / total, fmt::format("{:.6g} % take at most {:.6g} {}", 100.0 * sum / total, high, worth.unit)));
    const double longer = (total - sum) / total;
    if (longer > 0.0) {
      above.points.push_back(
          at(high, longer, fmt::format("{:.3g} % take longer than {:.6g} {}", 100.0 * longer, high, worth.unit)));
    }
  }
  const double shortest = std::max(1.0, static_cast<double>(histogram.buckets.front().low));
  const bool wide = histogram.buckets.front().low > 0 &&
                    static_cast<double>(histogram.buckets.back().high) / shortest >= kWideLatencies;
  density.log_x = cumulative.log_x = tail.log_x = wide;
  tail.log_y = true;
  density.lines.push_back(std::move(steps));
  cumulative.lines.push_back(std::move(below));
  tail.lines.push_back(std::move(above));
  for (Chart* chart : {&density, &cumulative, &tail}) ease_x(*chart, worth.unit);
  std::vector<NamedChart> charts;
  charts.push_back({file_name("histogram-" + histogram.name) + ".svg", std::move(density)});
  charts.push_back({file_name("cdf-" + histogram.name) + ".svg", std::move(cumulative)});
  if (tail.lines.front().points.size() > 1) {
    charts.push_back({file_name("tail-" + histogram.name) + ".svg", std::move(tail)});
  }
  return charts;
}

std::string csv_of(const api::Histogram& histogram) {
  std::string csv = fmt::format("low ({0}),high ({0}),packets\n", histogram.unit);
  for (const auto& bucket : histogram.buckets) csv += fmt::format("{},{},{}\n", bucket.low, bucket.high, bucket.count);
  return csv;
}

/// The columns of the table of channels (docs/how-to/look-inside-a-run.md).
struct ChannelColumns {
  std::size_t channel, from, from_port, to, to_port, flits, utilization;
};

std::optional<ChannelColumns> channel_columns(const Columns& table) {
  std::vector<std::size_t> found;
  for (const char* name : {"channel", "from", "from_port", "to", "to_port", "flits", "utilization"}) {
    const auto column = table.find(name);
    if (!column) return std::nullopt;
    found.push_back(*column);
  }
  return ChannelColumns{found[0], found[1], found[2], found[3], found[4], found[5], found[6]};
}

constexpr std::string_view kTerminal = "terminal ";

std::optional<Figure> links_figure(const api::Result& result) {
  const api::Table* const channels = find_table(result, "channels");
  if (channels == nullptr) return std::nullopt;
  const Columns table(*channels);
  const auto columns = channel_columns(table);
  if (!columns) return std::nullopt;
  std::vector<std::size_t> order;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!table.text(row, columns->from).starts_with(kTerminal) && !table.text(row, columns->to).starts_with(kTerminal))
      order.push_back(row);
  }
  if (order.empty()) return std::nullopt;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return table.number(a, columns->utilization) > table.number(b, columns->utilization);
  });
  Figure figure{"links", "Links by use", "channels between switches, the busiest first",
                {},      "links.csv",    api::to_csv(*channels),
                {}};
  Chart chart = chart_of("How busy the channels are", "channels that are at least so busy", "share of the time in use");
  ChartLine line = line_of_many("share of the time in use", 0);
  const bool bytes = api::worth_of("flits", result).has_value();
  const auto carried = [&](std::size_t row) {
    if (!bytes) return table.text(row, columns->flits);
    return api::in_physical_units(stats::Metric::exact("flits", "flits", table.number(row, columns->flits)), result);
  };
  figure.values = {{"Channel", "From", "Port", "To", "Port", bytes ? "Carried" : "Flits", "In use"},
                   {true, false, false, false, false, true, true},
                   {}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t row = order[i];
    const double use = table.number(row, columns->utilization);
    const std::string name = fmt::format("{} {} to {}", table.text(row, columns->from),
                                         table.text(row, columns->from_port), table.text(row, columns->to));
    line.points.push_back(at(static_cast<double>(i + 1), use, fmt::format("{}: {:.1f} %", name, 100.0 * use)));
    if (i >= kShownRows) continue;
    figure.values.rows.push_back(
        {{table.text(row, columns->channel), table.text(row, columns->from), table.text(row, columns->from_port),
          table.text(row, columns->to), table.text(row, columns->to_port), carried(row),
          fmt::format("{:.1f} %", 100.0 * use)},
         std::nullopt});
  }
  chart.lines.push_back(std::move(line));
  figure.charts.push_back({"links.svg", std::move(chart)});
  return figure;
}

/// What one terminal sent or received, in the measured part.
struct Share {
  double load = 0.0;  ///< flits per cycle, or GB/s
  double packets = 0.0;
  double latency = 0.0;  ///< sum over the packets
};

Chart terminals_chart(const char* title, const std::string& y_label, const std::map<u64, Share> (&sides)[2],
                      bool latency) {
  Chart chart = chart_of(title, "terminal", y_label);
  u32 colour = 0;
  for (const auto& side : sides) {
    ChartLine line = line_of_many(colour == 0 ? "packets that it sends" : "packets that it receives", colour);
    for (const auto& [terminal, share] : side) {
      if (share.packets == 0.0) continue;
      const double y = latency ? share.latency / share.packets : share.load;
      line.points.push_back(at(static_cast<double>(terminal), y, fmt::format("terminal {}: {:.4g}", terminal, y)));
    }
    ++colour;
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

std::optional<Figure> terminals_figure(const api::Result& result) {
  const api::Table* const flows = find_table(result, "flows");
  if (flows == nullptr || flows->rows.empty()) return std::nullopt;
  const Columns table(*flows);
  const auto source = table.find("source");
  const auto destination = table.find("destination");
  const auto packets = table.find("packets");
  const auto load = table.find("load (flits/cycle)");
  const auto latency = table.find("packet_latency (cycles)");
  const api::Worth rate = api::worth_of("flits/cycle", result).value_or(api::Worth{1.0, "flits/cycle"});
  const api::Worth time = api::worth_of("cycles", result).value_or(api::Worth{1.0, "cycles"});
  if (!source || !destination || !packets || !load || !latency) return std::nullopt;
  std::map<u64, Share> sides[2];
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (const auto& [side, column] : {std::pair{0, *source}, {1, *destination}}) {
      Share& share = sides[side][static_cast<u64>(table.number(row, column))];
      const double count = table.number(row, *packets);
      share.load += table.number(row, *load) * rate.factor;
      share.packets += count;
      share.latency += count * table.number(row, *latency) * time.factor;
    }
  }
  Figure figure{"terminals",
                "How the terminals are served",
                "packets that were generated in the measured part and have arrived, however late: where the network is "
                "saturated, also while it drained. "
                "Who was served less in the measured part itself, accepted_load_min and fairness say",
                {},
                "flows.csv",
                api::to_csv(*flows),
                {}};
  figure.charts.push_back(
      {"terminals-load.svg", terminals_chart("What of its packets has arrived", rate.unit, sides, false)});
  figure.charts.push_back(
      {"terminals-latency.svg",
       terminals_chart("How long its packets take", with_unit("packet_latency", time.unit), sides, true)});
  return figure;
}

/// Stands where others look for the distribution of a run that has none.
Figure no_distribution(const api::Result& result) {
  std::string why =
      "There is none: the network is saturated, packets wait the longer the longer the run is, and a distribution "
      "would "
      "tell the length of the run.";
  const stats::Metric& offered = result.at("offered_load");
  const api::Worth rate = api::worth_of(offered.unit, result).value_or(api::Worth{1.0, offered.unit});
  why += fmt::format(" Known is what gets through: {:.4g} of the {:.4g} {} offered.",
                     result.at("accepted_load").mean * rate.factor, offered.mean * rate.factor, rate.unit);
  why += " At a load below saturation (banyan saturation looks for it) the distribution is here.";
  return {"distribution-packet_latency", "Distribution of packet_latency", why, {}, "", "", {}};
}

}  // namespace

std::vector<Figure> run_figures(const api::Result& result) {
  std::vector<Figure> figures;
  const bool steady_load = result.find("offered_load") != nullptr && result.find("accepted_load") != nullptr;
  if (result.verdict == api::Verdict::saturated && result.histograms.empty() && steady_load) {
    figures.push_back(no_distribution(result));
  }
  for (const api::Histogram& histogram : result.histograms) {
    if (histogram.buckets.empty()) continue;
    figures.push_back({file_name("distribution-" + histogram.name),
                       "Distribution of " + histogram.name,
                       "packets that were generated in the measured part",
                       distribution_charts(
                           histogram, api::worth_of(histogram.unit, result).value_or(api::Worth{1.0, histogram.unit})),
                       file_name("histogram-" + histogram.name) + ".csv",
                       csv_of(histogram),
                       {}});
  }
  if (auto links = links_figure(result)) figures.push_back(std::move(*links));
  if (auto terminals = terminals_figure(result)) figures.push_back(std::move(*terminals));
  return figures;
}

std::shared_ptr<const stats::PackedCongestion> links_record(const api::Result& result) {
  stats::CongestionSample sample;
  const auto still = [&] {
    stats::CongestionRecord record;
    record.samples.push_back(std::move(sample));
    return std::make_shared<const stats::PackedCongestion>(record);
  };
  const api::Table* const channels = find_table(result, "channels");
  // Jobs have a table of flits, and may have paths through the network to show.
  const auto columns = channels == nullptr ? std::nullopt : channel_columns(Columns(*channels));
  if (!columns) return has_paths(result) ? still() : nullptr;
  const Columns table(*channels);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto channel = static_cast<std::size_t>(table.number(row, columns->channel));
    if (channel >= sample.use.size()) sample.use.resize(channel + 1);
    sample.use[channel] = static_cast<u8>(std::ceil(255.0 * std::min(1.0, table.number(row, columns->utilization))));
  }
  return still();
}

}  // namespace banyan::report
