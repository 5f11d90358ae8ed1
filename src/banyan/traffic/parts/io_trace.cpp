#include "banyan/traffic/parts/io_trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "banyan/base/error.hpp"
#include "banyan/base/math.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/base/text_lines.hpp"

namespace banyan::traffic {
namespace {

constexpr Stream kAccesses{"storage: accesses"};
constexpr u32 kMostBytes = 1U << 24U;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view line, IoFormat format) {
  std::vector<std::string_view> fields;
  if (format == IoFormat::srt) {
    for (std::size_t at = line.find_first_not_of(" \t\r"); at != std::string_view::npos;) {
      const std::size_t end = line.find_first_of(" \t\r", at);
      fields.push_back(line.substr(at, end == std::string_view::npos ? end : end - at));
      at = end == std::string_view::npos ? end : line.find_first_not_of(" \t\r", end);
    }
    return fields;
  }
  for (;;) {
    const std::size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

const char* columns_of(IoFormat format) {
  switch (format) {
    case IoFormat::spc:
      return "ASU,LBA,size,opcode,timestamp";
    case IoFormat::msr:
      return "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";
    default:
      return "time device address bytes R|W [response]";
  }
}

/// The fields of one line.
class Line {
 public:
  Line(std::string_view text, IoFormat format, const std::string& file, u32 number)
      : text_(text), fields_(split(text, format)), format_(format), where_{file, number, 1, ""} {
    const std::size_t needed = format == IoFormat::msr ? 7 : 5;
    if (fields_.size() < needed) {
      throw ConfigError(where_, fmt::format("the line has {} fields of {}", fields_.size(), needed),
                        fmt::format("write: {}", columns_of(format)));
    }
  }
  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  [[nodiscard]] std::string_view text(std::size_t i) const { return fields_[i]; }

  /// A time since whatever the trace counts from: seconds since 1970 in doubles are a tenth of a microsecond apart.
  [[nodiscard]] long double time(std::size_t i) const {
    const std::string_view field = fields_[i];
    const char* const end = field.data() + field.size();
    u64 whole = 0;
    const auto [point, error] = std::from_chars(field.data(), end, whole);
    if (error == std::errc{} && point == end) return static_cast<long double>(whole);
    if (error == std::errc{} && *point == '.' && end - point <= 19) {
      u64 digits = 0;
      const auto [last, wrong] = std::from_chars(point + 1, end, digits);
      if (wrong == std::errc{} && last == end) {
        long double unit = 1.0L;
        for (const char* at = point + 1; at != end; ++at) unit *= 10.0L;
        return static_cast<long double>(whole) + static_cast<long double>(digits) / unit;
      }
    }
    return read<long double>(i, format_ == IoFormat::srt ? "time" : "timestamp");  // 1e9, or what is no number
  }
  [[nodiscard]] double number(std::size_t i, const char* name) const { return read<double>(i, name); }
  [[nodiscard]] double whole(std::size_t i, const char* name) const {
    const double value = number(i, name);
    if (value != std::floor(value)) refuse(i, name, "a whole number");
    return value;
  }
  [[nodiscard]] u32 bytes(std::size_t i) const {
    const double value = number(i, "size");
    if (value != std::floor(value) || value > kMostBytes) refuse(i, "size", "a whole number of bytes up to 2^24");
    return static_cast<u32>(value);
  }
  [[nodiscard]] bool write(std::size_t i, const char* name) const {
    std::string word(fields_[i]);
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool writes = word == "w" || word == "write";
    if (!writes && word != "r" && word != "read") refuse(i, name, "R (read) or W (write)");
    return writes;
  }

 private:
  template <class T>
  [[nodiscard]] T read(std::size_t i, const char* name) const {
    T value = 0;
    const std::string_view field = fields_[i];
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size() || !std::isfinite(value) || value < 0) {
      refuse(i, name, "a number that is not negative");
    }
    return value;
  }
  [[noreturn]] void refuse(std::size_t i, const char* name, const char* wanted) const {
    Where at = where_;
    at.column = static_cast<u32>(fields_[i].data() - text_.data()) + 1;
    throw ConfigError(at, fmt::format("field {}, the {}, is \"{}\"", i + 1, name, fields_[i]),
                      fmt::format("write {}; a line is: {}", wanted, columns_of(format_)));
  }

  std::string_view text_;  ///< the line
  std::vector<std::string_view> fields_;
  IoFormat format_;
  Where where_;
};

/// Names as numbers, in the order of first appearance.
class Names {
 public:
  u32 operator()(std::string_view name) {
    return numbers_.try_emplace(std::string(name), static_cast<u32>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, u32, std::less<>> numbers_;
};

/// f(number, line) for every line that is no comment; false ends it.
template <class F>
void for_each_access(std::string_view text, F&& f) {
  for_each_line(text, [&](u32 number, std::string_view line) {
    const std::string_view content = trimmed(line);
    return content.empty() || content.front() == '#' || f(number, line);
  });
}

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

IoFormat guess_io_format(std::string_view text, const std::string& file) {
  std::string_view first;
  u32 at = 1;
  for_each_access(text, [&](u32 number, std::string_view line) {
    first = trimmed(line);
    at = number;
    return false;
  });
  const auto commas = std::count(first.begin(), first.end(), ',');
  if (commas == 6) {
    // Both may have seven fields. The second is the name of a host, or an address; the fourth a word, or a letter.
    const std::vector<std::string_view> fields = split(first, IoFormat::msr);
    if (!is_number(fields[1]) || fields[3].size() > 1) return IoFormat::msr;
  }
  if (commas >= 4) return IoFormat::spc;
  if (commas == 0 && split(first, IoFormat::srt).size() >= 5) return IoFormat::srt;
  throw ConfigError({file, at, 1, ""}, fmt::format("\"{}\" is no line of a known format", first),
                    fmt::format("write {} (spc), {} (msr) or {} (srt), or name the format", columns_of(IoFormat::spc),
                                columns_of(IoFormat::msr), columns_of(IoFormat::srt)));
}

std::vector<IoAccess> read_io_trace(std::string_view text, IoFormat format, const std::string& file) {
  struct Timed {
    long double at;  ///< in the trace's units, since whatever it counts from
    IoAccess access;
  };
  std::vector<Timed> timed;
  const long double unit = format == IoFormat::msr ? 1e-7L : 1.0L;  // seconds
  Names hosts;
  Names disks;
  for_each_access(text, [&](u32 number, std::string_view line) {
    if (format == IoFormat::msr && number == 1 && trimmed(line).starts_with("Timestamp")) return true;
    const Line fields(line, format, file, number);
    auto& [at, access] = timed.emplace_back();
    if (format == IoFormat::spc) {
      // No host is named: the regions of 64 MB of a unit stand for hosts.
      const double unit_number = fields.whole(0, "ASU");
      access.disk = disks(fmt::format("{}", unit_number));
      access.host = hosts(fmt::format("{}.{}", unit_number, std::floor(fields.whole(1, "LBA") / 131072.0)));
      access.bytes = fields.bytes(2);
      access.write = fields.write(3, "opcode");
      at = fields.time(4);
    } else if (format == IoFormat::msr) {
      at = fields.time(0);
      access.host = hosts(fields.text(1));
      access.disk = disks(fmt::format("{}.{}", fields.text(1), fields.whole(2, "disk number")));
      access.write = fields.write(3, "type");
      access.bytes = fields.bytes(5);
      access.service = fields.number(6, "response time") * 1e-7;
    } else {
      at = fields.time(0);
      access.disk = disks(fields.text(1));
      access.host = hosts(fmt::format("{}.{}", fields.text(1), std::floor(fields.number(2, "address") / 67108864.0)));
      access.bytes = fields.bytes(3);
      access.write = fields.write(4, "operation");
      if (fields.size() > 5) access.service = fields.number(5, "response time");
    }
    return true;
  });
  std::stable_sort(timed.begin(), timed.end(), [](const Timed& a, const Timed& b) { return a.at < b.at; });
  std::vector<IoAccess> accesses;
  for (const Timed& one : timed) {
    accesses.push_back(one.access);
    accesses.back().at = static_cast<double>((one.at - timed.front().at) * unit);
  }
  return accesses;
}

std::vector<IoAccess> synthesize_io(const SyntheticIo& plan) {
  const Random random(plan.seed, kAccesses, plan.index, plan.replication);
  // Zipf's popularity of disks, as bounds of a uniform number.
  std::vector<double> below(plan.disks);
  double sum = 0.0;
  for (u32 d = 0; d < plan.disks; ++d) below[d] = sum += portable_pow(d + 1.0, -plan.skew);
  const auto pareto = [&](double u, double mean) {
    return mean * (plan.tail - 1.0) / plan.tail * portable_pow(1.0 - u, -1.0 / plan.tail);
  };
  // What is left of a Pareto length at a moment that is drawn from all: its density is the share of lengths beyond it
  // over their mean.
  const auto left_of = [&](double u, double mean) {
    const double least = (plan.tail - 1.0) / plan.tail;
    if (u < least) return mean * u;
    return mean * least * portable_pow(plan.tail * (1.0 - u), -1.0 / (plan.tail - 1.0));
  };
  constexpr u32 kSizes[] = {512, 2048, 4096, 8192, 8192, 16384, 32768, kLongestSyntheticAccess};
  const double rate_on = plan.accesses_per_second / plan.hosts / plan.on;
  const double pause = plan.burst_seconds * (1.0 - plan.on) / plan.on;
  std::vector<IoAccess> accesses;
  for (u32 host = 0; host < plan.hosts; ++host) {
    u64 event = 0;
    // As if a host had been there for ever: in the middle of a burst, or of a pause.
    const Words first = random.at(host, event++);
    bool begun = static_cast<double>(first[2]) * 0x1.0p-32 < plan.on;
    double now = begun ? 0.0 : left_of(unit_real(first[0], first[1]), pause);
    while (now < plan.seconds) {
      const Words burst = random.at(host, event++);
      const double u_length = unit_real(burst[0], burst[1]);
      const double end = now + (begun ? left_of(u_length, plan.burst_seconds) : pareto(u_length, plan.burst_seconds));
      begun = false;
      // A burst goes to one disk: that is what makes trees.
      const double u = unit_real(burst[2], burst[3]) * sum;
      const auto disk = static_cast<u32>(std::lower_bound(below.begin(), below.end(), u) - below.begin());
      for (double at = now;;) {
        const Words words = random.at(host, event++);
        at -= portable_log(1.0 - unit_real(words[0], words[1])) / rate_on;
        if (at >= std::min(end, plan.seconds)) break;
        IoAccess access;
        access.at = at;
        access.host = host;
        access.disk = std::min(disk, plan.disks - 1);
        access.write = static_cast<double>(words[2]) * 0x1.0p-32 >= plan.reads;
        access.bytes = kSizes[words[3] >> 29U];
        accesses.push_back(access);
      }
      const Words off = random.at(host, event++);
      now = end + pareto(unit_real(off[0], off[1]), pause);
    }
  }
  std::stable_sort(accesses.begin(), accesses.end(), [](const IoAccess& a, const IoAccess& b) { return a.at < b.at; });
  return accesses;
}

}  // namespace banyan::traffic
