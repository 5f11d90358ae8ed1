#include "banyan/traffic/parts/trace_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "banyan/base/file.hpp"

namespace banyan::traffic {
namespace {

constexpr std::string_view kHeader = "# banyan trace 1";
constexpr std::string_view kColumns = "id cycle source destination flits [after ID[+DELAY] ...]";

/// The words of a line, without its comment.
std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (std::size_t begin = line.find_first_not_of(" \t\r"); begin != std::string_view::npos;) {
    const std::size_t end = line.find_first_of(" \t\r", begin);
    words.push_back(line.substr(begin, end == std::string_view::npos ? end : end - begin));
    begin = end == std::string_view::npos ? end : line.find_first_not_of(" \t\r", end);
  }
  return words;
}

u64 number(std::string_view word, const char* field, u64 low, u64 high, const Where& where) {
  u64 value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value < low || value > high) {
    throw ConfigError(where, fmt::format("the {} is \"{}\"", field, word),
                      fmt::format("write a whole number from {} to {}; a line is: {}", low, high, kColumns));
  }
  return value;
}

TraceMessage read_message(const std::vector<std::string_view>& words, const Where& where) {
  constexpr u64 kNumber = (u64{1} << 62U);
  constexpr u64 kWord = std::numeric_limits<u32>::max() - 1;
  if (words.size() < 5) {
    throw ConfigError(where, fmt::format("the line has {} fields of at least 5", words.size()),
                      fmt::format("write: {}", kColumns));
  }
  TraceMessage m;
  m.id = number(words[0], "id", 0, kNumber, where);
  m.cycle = number(words[1], "cycle", 0, kNumber, where);
  m.source = static_cast<u32>(number(words[2], "source", 0, kWord, where));
  m.destination = static_cast<u32>(number(words[3], "destination", 0, kWord, where));
  m.flits = static_cast<u32>(number(words[4], "number of flits", 1, u64{1} << 24U, where));
  m.line = where.line;
  if (words.size() == 5) return m;
  if (words[5] != "after" || words.size() == 6) {
    throw ConfigError(where, fmt::format("\"{}\" follows the number of flits", words[5]),
                      "write \"after\" and the ids of the messages that this one waits for");
  }
  for (std::size_t i = 6; i < words.size(); ++i) {
    const std::size_t plus = words[i].find('+');
    TraceMessage::After after;
    after.id = number(words[i].substr(0, plus), "id after \"after\"", 0, kNumber, where);
    if (plus != std::string_view::npos) { after.delay = number(words[i].substr(plus + 1), "delay", 0, kNumber, where); }
    m.after.push_back(after);
  }
  return m;
}

/// Kahn's algorithm: what is left when nothing is free any more waits in a circle.
void refuse_circles(const std::vector<TraceMessage>& messages, const std::unordered_map<u64, std::size_t>& index,
                    const std::string& file) {
  std::vector<std::vector<std::size_t>> waiting(messages.size());
  std::vector<std::size_t> left(messages.size());
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    left[i] = messages[i].after.size();
    for (const TraceMessage::After& after : messages[i].after) waiting[index.at(after.id)].push_back(i);
    if (left[i] == 0) free.push_back(i);
  }
  for (std::size_t k = 0; k < free.size(); ++k) {
    for (const std::size_t i : waiting[free[k]]) {
      if (--left[i] == 0) free.push_back(i);
    }
  }
  if (free.size() == messages.size()) return;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (left[i] == 0) continue;
    throw ConfigError({file, messages[i].line, 0, ""},
                      fmt::format("message {} waits for messages that wait for it", messages[i].id),
                      "remove one of the waits of the circle");
  }
}

void check_waits(const std::vector<TraceMessage>& messages, const std::string& file) {
  std::unordered_map<u64, std::size_t> index;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto [place, first] = index.try_emplace(messages[i].id, i);
    if (first) continue;
    throw ConfigError(
        {file, messages[i].line, 0, ""}, fmt::format("the id {} is there twice", messages[i].id),
        fmt::format("give one of the two another id; the first is on line {}", messages[place->second].line));
  }
  for (const TraceMessage& m : messages) {
    for (const TraceMessage::After& after : m.after) {
      const Where where{file, m.line, 0, ""};
      const auto found = index.find(after.id);
      if (found == index.end()) {
        throw ConfigError(where, fmt::format("message {} waits for message {}, which is not there", m.id, after.id),
                          "add that message, or remove the wait");
      }
      const TraceMessage& other = messages[found->second];
      if (other.source != m.source && other.destination != m.source) {
        throw ConfigError(where,
                          fmt::format("message {} waits at terminal {} for message {} from {} to {}", m.id, m.source,
                                      other.id, other.source, other.destination),
                          "wait for messages that the terminal sends or receives: it knows of no others");
      }
    }
  }
  refuse_circles(messages, index, file);
}

}  // namespace

std::vector<TraceMessage> read_trace(std::string_view text, const std::string& file, u32 terminals) {
  std::vector<TraceMessage> messages;
  u32 line = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::vector<std::string_view> words = words_of(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++line;
    if (!words.empty()) messages.push_back(read_message(words, {file, line, 0, ""}));
  }
  // Before the waits, which say where messages go.
  for (const TraceMessage& m : messages) {
    const u32 terminal = std::max(m.source, m.destination);
    if (terminal < terminals) continue;
    throw ConfigError({file, m.line, 0, ""}, fmt::format("there is no terminal {}", terminal),
                      fmt::format("use terminals from 0 to {}", terminals - 1));
  }
  check_waits(messages, file);
  return messages;
}

std::string read_trace_text(const std::string& file, const Where& named_at) {
  std::string why;
  std::optional<std::string> text = read_whole_file(file, &why);
  if (!text) {
    throw ConfigError(named_at, fmt::format("the trace \"{}\" cannot be read: {}", file, why),
                      "give the path of a trace, relative to the folder of the experiment");
  }
  return std::move(*text);
}

std::string write_trace(const std::vector<TraceMessage>& messages) {
  std::string text = fmt::format("{}\n# {}\n", kHeader, kColumns);
  for (const TraceMessage& m : messages) {
    text += fmt::format("{} {} {} {} {}", m.id, m.cycle, m.source, m.destination, m.flits);
    for (std::size_t i = 0; i < m.after.size(); ++i) {
      text += fmt::format("{}{}", i == 0 ? " after " : " ", m.after[i].id);
      if (m.after[i].delay != 0) text += fmt::format("+{}", m.after[i].delay);
    }
    text += '\n';
  }
  return text;
}

}  // namespace banyan::traffic
