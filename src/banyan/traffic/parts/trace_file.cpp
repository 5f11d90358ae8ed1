#include "banyan/traffic/parts/trace_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "banyan/base/file.hpp"
#include "banyan/base/text_lines.hpp"

namespace banyan::traffic {
namespace {

constexpr std::string_view kHeader = "# banyan trace 1";
constexpr std::string_view kColumns = "id cycle source destination flits [after ID[+DELAY] ...]";

u64 number(std::string_view word, const char* field, u64 low, u64 high, const Where& where) {
  u64 value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value < low || value > high) {
    throw ConfigError(where, fmt::format("the {} is \"{}\"", field, word),
                      fmt::format("write a whole number from {} to {}; a line is: {}", low, high, kColumns));
  }
  return value;
}

/// `place`: of the line.
TraceMessage read_message(const std::vector<PlacedWord>& words, const Where& place, u32 terminals) {
  constexpr u64 kNumber = (u64{1} << 62U);
  constexpr u64 kWord = std::numeric_limits<u32>::max() - 1;
  const auto at = [&](std::size_t i) { return Where{place.file, place.line, words[i].column, ""}; };
  const auto number_at = [&](std::size_t i, const char* field, u64 low, u64 high) {
    return number(words[i].text, field, low, high, at(i));
  };
  const auto terminal_at = [&](std::size_t i, const char* field) {
    const u32 terminal = static_cast<u32>(number_at(i, field, 0, kWord));
    if (terminal < terminals) return terminal;
    throw ConfigError(at(i), fmt::format("there is no terminal {}", terminal),
                      fmt::format("use terminals from 0 to {}", terminals - 1));
  };
  if (words.size() < 5) {
    throw ConfigError(at(words.size() - 1), fmt::format("the line has {} fields of at least 5", words.size()),
                      fmt::format("write: {}", kColumns));
  }
  TraceMessage m;
  m.id = number_at(0, "id", 0, kNumber);
  m.cycle = number_at(1, "cycle", 0, kNumber);
  m.source = terminal_at(2, "source");
  m.destination = terminal_at(3, "destination");
  m.flits = static_cast<u32>(number_at(4, "number of flits", 1, u64{1} << 24U));
  m.line = place.line;
  if (words.size() == 5) return m;
  if (words[5].text != "after" || words.size() == 6) {
    throw ConfigError(at(5), fmt::format("\"{}\" follows the number of flits", words[5].text),
                      "write \"after\" and the ids of the messages that this one waits for");
  }
  for (std::size_t i = 6; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    const std::size_t plus = word.find('+');
    TraceMessage::After after;
    after.id = number(word.substr(0, plus), "id after \"after\"", 0, kNumber, at(i));
    if (plus != std::string_view::npos) after.delay = number(word.substr(plus + 1), "delay", 0, kNumber, at(i));
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
  // Whoever is left waits for one that is left: after as many steps as there are messages it is one of a circle.
  std::size_t i =
      static_cast<std::size_t>(std::find_if(left.begin(), left.end(), [](u64 n) { return n != 0; }) - left.begin());
  const auto next = [&](std::size_t from) {
    const auto waits = std::find_if(messages[from].after.begin(), messages[from].after.end(),
                                    [&](const TraceMessage::After& after) { return left[index.at(after.id)] != 0; });
    return index.at(waits->id);
  };
  for (std::size_t step = 0; step < messages.size(); ++step) i = next(i);
  throw ConfigError(
      {file, messages[i].line, 1, ""}, fmt::format("message {} waits for messages that wait for it", messages[i].id),
      fmt::format("remove one of the waits of the circle, such as that for message {}", messages[next(i)].id));
}

void check_waits(const std::vector<TraceMessage>& messages, const std::string& file) {
  std::unordered_map<u64, std::size_t> index;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto [place, first] = index.try_emplace(messages[i].id, i);
    if (first) continue;
    throw ConfigError(
        {file, messages[i].line, 1, ""}, fmt::format("the id {} is there twice", messages[i].id),
        fmt::format("give one of the two another id; the first is on line {}", messages[place->second].line));
  }
  for (const TraceMessage& m : messages) {
    for (const TraceMessage::After& after : m.after) {
      const Where where{file, m.line, 1, ""};
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
  for_each_line(text, [&](u32 number, std::string_view line) {
    const std::vector<PlacedWord> words = placed_words(line);
    if (!words.empty()) messages.push_back(read_message(words, {file, number, 1, ""}, terminals));
  });
  check_waits(messages, file);
  return messages;
}

std::string read_trace_text(const std::string& file, const Where& named_at) {
  std::string why;
  std::optional<std::string> text = read_text_file(file, &why);
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
