#include "banyan/config/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace banyan::config {
namespace {

enum class Dimension { time, data, rate, ratio };

/// `scale`: of one unit in the dimension's base (ps, bits, bits per second, 1/100). All are integers, so that every
/// conversion between units that divide each other is exact.
struct Unit {
  std::string_view name;
  Dimension dimension;
  double scale;
  bool alias = false;  ///< accepted, not advertised
};

constexpr std::array kUnits{
    Unit{"ps", Dimension::time, 1},
    Unit{"ns", Dimension::time, 1e3},
    Unit{"us", Dimension::time, 1e6},
    Unit{"ms", Dimension::time, 1e9},
    Unit{"s", Dimension::time, 1e12},
    Unit{"bits", Dimension::data, 1},
    Unit{"bit", Dimension::data, 1, true},
    Unit{"B", Dimension::data, 8},
    Unit{"byte", Dimension::data, 8, true},
    Unit{"bytes", Dimension::data, 8, true},
    Unit{"KB", Dimension::data, 8e3},
    Unit{"kB", Dimension::data, 8e3, true},
    Unit{"KiB", Dimension::data, 8192},
    Unit{"MB", Dimension::data, 8e6},
    Unit{"MiB", Dimension::data, 8388608},
    Unit{"GB", Dimension::data, 8e9},
    Unit{"GiB", Dimension::data, 8589934592.0},
    Unit{"TB", Dimension::data, 8e12},
    Unit{"TiB", Dimension::data, 8796093022208.0},
    Unit{"bps", Dimension::rate, 1},
    Unit{"Kbps", Dimension::rate, 1e3},
    Unit{"kbps", Dimension::rate, 1e3, true},
    Unit{"Mbps", Dimension::rate, 1e6},
    Unit{"Gbps", Dimension::rate, 1e9},
    Unit{"Tbps", Dimension::rate, 1e12},
    Unit{"Mb/s", Dimension::rate, 1e6, true},
    Unit{"Gb/s", Dimension::rate, 1e9, true},
    Unit{"Tb/s", Dimension::rate, 1e12, true},
    Unit{"Mbit/s", Dimension::rate, 1e6, true},
    Unit{"Gbit/s", Dimension::rate, 1e9, true},
    Unit{"Tbit/s", Dimension::rate, 1e12, true},
    Unit{"B/s", Dimension::rate, 8},
    Unit{"KB/s", Dimension::rate, 8e3},
    Unit{"MB/s", Dimension::rate, 8e6},
    Unit{"GB/s", Dimension::rate, 8e9},
    Unit{"bytes/ns", Dimension::rate, 8e9},
    Unit{"B/ns", Dimension::rate, 8e9, true},
    Unit{"bytes/s", Dimension::rate, 8, true},
    Unit{"%", Dimension::ratio, 1},
};

const Unit* find_unit(std::string_view name) {
  const auto found = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& unit) { return unit.name == name; });
  return found == kUnits.end() ? nullptr : &*found;
}

std::string_view singular(std::string_view word) {
  return word.size() > 1 && word.back() == 's' ? word.substr(0, word.size() - 1) : word;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool starts_a_number(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (text.size() > 1 && text.front() == '.') text.remove_prefix(1);
  return !text.empty() && is_digit(text.front());
}

/// TOML's 1_000_000: underscores between digits.
std::string without_underscores(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between =
        text[i] == '_' && i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (!between) out += text[i];
  }
  return out;
}

/// value x from / to with one rounding wherever one scale divides the other.
double scaled(double value, double from, double to) {
  if (from >= to) {
    const double factor = from / to;
    return factor == static_cast<double>(static_cast<i64>(factor)) ? value * factor : value * from / to;
  }
  const double divisor = to / from;
  return divisor == static_cast<double>(static_cast<i64>(divisor)) ? value / divisor : value * from / to;
}

}  // namespace

std::optional<Quantity> parse_quantity(std::string_view text) {
  const std::string plain = without_underscores(without_blanks(text));
  if (!starts_a_number(plain)) return std::nullopt;
  const char* begin = plain.data() + (plain.front() == '+' ? 1 : 0);
  const char* end = plain.data() + plain.size();
  Quantity quantity;
  const auto real = std::from_chars(begin, end, quantity.number);
  if (real.ec != std::errc{}) return std::nullopt;
  i64 whole = 0;
  const auto integer = std::from_chars(begin, end, whole);
  if (integer.ec == std::errc{} && integer.ptr == real.ptr) quantity.whole = whole;
  quantity.unit = without_blanks({real.ptr, static_cast<std::size_t>(end - real.ptr)});
  return quantity;
}

std::optional<double> convert(const Quantity& quantity, std::string_view declared) {
  if (quantity.unit.empty() || quantity.unit == declared) return quantity.number;
  const Unit* from = find_unit(quantity.unit);
  const Unit* to = find_unit(declared);
  if (from != nullptr && declared.empty() && from->dimension == Dimension::ratio) return quantity.number / 100.0;
  if (from != nullptr && to != nullptr) {
    if (from->dimension != to->dimension) return std::nullopt;
    return scaled(quantity.number, from->scale, to->scale);
  }
  if (from == nullptr && to == nullptr && singular(quantity.unit) == singular(declared)) return quantity.number;
  return std::nullopt;
}

std::vector<std::string> fitting_units(std::string_view declared) {
  if (declared.empty()) return {"%"};
  const Unit* unit = find_unit(declared);
  if (unit == nullptr) return {std::string(declared)};
  std::vector<std::string> names;
  for (const Unit& candidate : kUnits) {
    if (candidate.dimension == unit->dimension && !candidate.alias) names.emplace_back(candidate.name);
  }
  return names;
}

}  // namespace banyan::config
