#include "trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"
#include "chip.hpp"

namespace banyan::study::silicon {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TraceClass class_of(std::string_view name) {
  const std::string_view dram = "DRAM_TO_";
  if (name.starts_with(dram)) {
    const std::string_view shape = name.substr(dram.size());
    return shape.starts_with("1x") || shape.starts_with("2x") ? TraceClass::issue_bound : TraceClass::large_dram;
  }
  return name.find("BLOCK_TO_") != std::string_view::npos ? TraceClass::block_to_block : TraceClass::other;
}

/// One event of the file, and where it stands.
class Record {
 public:
  Record(const json& event, const std::string& file, std::size_t number)
      : event_(event), where_{file, 0, 0, fmt::format("event {}", number)} {
    if (!event.is_object()) fail("is no object", "write {\"proc\": ..., \"sx\": ..., \"timestamp\": ...}");
  }

  [[noreturn]] void fail(const std::string& cause, const std::string& remedy) const {
    throw ConfigError(where_, cause, remedy);
  }
  [[nodiscard]] bool has(const char* key) const { return event_.contains(key); }
  [[nodiscard]] std::string text(const char* key) const {
    const json& value = at(key);
    if (!value.is_string()) fail(fmt::format("\"{}\" is no text", key), "write it in quotation marks");
    return value.get<std::string>();
  }
  [[nodiscard]] u64 whole(const char* key, u64 most) const {
    const json& value = at(key);
    if (!value.is_number_unsigned() || value.get<u64>() > most) {
      fail(fmt::format("\"{}\" is no whole number from 0 to {}", key, most), "write such a number");
    }
    return value.get<u64>();
  }
  [[nodiscard]] u32 node(const char* x, const char* y) const {
    const auto column = static_cast<u32>(whole(x, kColumns - 1));
    return node_at(column, static_cast<u32>(whole(y, kRows - 1)));
  }

 private:
  [[nodiscard]] const json& at(const char* key) const {
    const auto found = event_.find(key);
    if (found == event_.end()) fail(fmt::format("has no \"{}\"", key), "add it, as doc/noc_trace_format.md says");
    return *found;
  }

  const json& event_;
  Where where_;
};

std::optional<EventKind> kind_of(const std::string& type) {
  if (type == "READ") return EventKind::read;
  if (type == "READ_BARRIER_START") return EventKind::barrier_start;
  if (type == "READ_BARRIER_END") return EventKind::barrier_end;
  return std::nullopt;
}

class Builder {
 public:
  explicit Builder(const std::string& path) : path_(path) {
    trace_.name = fs::path(path).filename().string();
    trace_.trace_class = class_of(trace_.name);
  }

  void add(const Record& record) {
    const u64 at = record.whole("timestamp", kNever - 1);
    first_ = std::min(first_, at);
    const u32 node = record.node("sx", "sy");
    if (record.has("zone")) return add_zone(record, node, at);
    const std::optional<EventKind> kind = kind_of(record.text("type"));
    if (!kind) {
      ++trace_.others;
      return;
    }
    Processor& processor = processor_of(node, record.text("proc"), at);
    Event event{*kind, noc_of(record), 0, 0, at};
    if (event.kind == EventKind::read) {
      event.target = record.node("dx", "dy");
      event.bytes = static_cast<u32>(record.whole("num_bytes", kLongestRead));
      if (event.bytes == 0) record.fail("reads no byte", "write the number of bytes in \"num_bytes\"");
    }
    check_order(record, processor, event);
    processor.events.push_back(event);
  }

  Trace take() {
    for (const auto& [node, at] : sends_) {
      for (Processor& processor : trace_.processors) {
        if (processor.node == node) processor.sends.push_back(at - first_);
      }
    }
    for (Processor& processor : trace_.processors) {
      if (!processor.events.empty() && processor.events.back().kind == EventKind::barrier_start) {
        throw ConfigError(
            {path_, 0, 0, ""},
            fmt::format("the last barrier of {} at node {} does not end", processor.name, node_name(processor.node)),
            "complete the file: a READ_BARRIER_END follows every READ_BARRIER_START");
      }
      processor.begin -= first_;
      for (Event& event : processor.events) event.at -= first_;
    }
    return std::move(trace_);
  }

 private:
  void add_zone(const Record& record, u32 node, u64 at) {
    const std::string zone = record.text("zone");
    if (zone == "PROFILER-NOC-QUICK-SEND") {
      sends_.emplace_back(node, at);
    } else if (zone.ends_with("-KERNEL") && record.text("zone_phase") == "begin") {
      processor_of(node, record.text("proc"), at);
    } else {
      ++trace_.others;
    }
  }

  /// The first event of a processor is its begin; after the profiler has sent, it says the begin again.
  Processor& processor_of(u32 node, const std::string& name, u64 at) {
    const auto [place, fresh] = index_.try_emplace({node, name}, trace_.processors.size());
    if (fresh) trace_.processors.push_back({node, name, at, {}, {}});
    return trace_.processors[place->second];
  }

  static u32 noc_of(const Record& record) {
    const std::string noc = record.text("noc");
    if (noc != "NOC_0" && noc != "NOC_1") record.fail("there is no network \"" + noc + "\"", "write NOC_0 or NOC_1");
    return noc == "NOC_1" ? 1 : 0;
  }

  static void check_order(const Record& record, const Processor& processor, const Event& event) {
    const Event* last = processor.events.empty() ? nullptr : &processor.events.back();
    const u64 before = last == nullptr ? processor.begin : last->at;
    if (event.at < before) {
      record.fail("lies before the event ahead of it", "order the events of a processor by time");
    }
    const bool waits = last != nullptr && last->kind == EventKind::barrier_start;
    if (waits != (event.kind == EventKind::barrier_end)) {
      record.fail(waits ? "a barrier is still open" : "no barrier is open",
                  "write READ_BARRIER_START and READ_BARRIER_END in turn, with nothing between them");
    }
  }

  std::string path_;
  Trace trace_;
  u64 first_ = kNever;
  std::map<std::pair<u32, std::string>, std::size_t> index_;
  std::vector<std::pair<u32, u64>> sends_;
};

}  // namespace

std::string_view to_string(TraceClass trace_class) {
  switch (trace_class) {
    case TraceClass::issue_bound:
      return "issue-bound";
    case TraceClass::block_to_block:
      return "block to block";
    case TraceClass::large_dram:
      return "large DRAM";
    case TraceClass::other:
      break;
  }
  return "other";
}

Trace read_trace(const std::string& path) {
  std::string why;
  const std::optional<std::string> content = read_whole_file(path, &why);
  if (!content) throw ConfigError({path, 0, 0, ""}, "cannot be read: " + why, "give a file that can be read");
  json events;
  try {
    events = json::parse(*content);
  } catch (const json::parse_error& error) {
    throw ConfigError({path, 0, 0, ""}, fmt::format("is no JSON: wrong at byte {}", error.byte),
                      "give a trace as tt-npe's doc/noc_trace_format.md describes it");
  }
  if (!events.is_array() || events.empty()) {
    throw ConfigError({path, 0, 0, ""}, "holds no array of events", "give a trace of the chip's networks");
  }
  Builder builder(path);
  std::size_t number = 0;
  for (const json& event : events) builder.add(Record(event, path, ++number));
  return builder.take();
}

Traces read_traces(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  if (paths.empty()) {
    throw ConfigError({folder, 0, 0, ""}, error ? "cannot be read: " + error.message() : "holds no *.json",
                      "give the folder with the traces of the chip, tt-npe's workload/noc_trace_json for example");
  }
  std::sort(paths.begin(), paths.end());
  Traces traces;
  for (const std::string& path : paths) {
    try {
      traces.read.push_back(read_trace(path));
    } catch (const ConfigError& fault) {
      if (traces.read.empty() && path == paths.back()) throw;
      traces.refused.emplace_back(fs::path(path).filename().string(), fault.what());
    }
  }
  return traces;
}

}  // namespace banyan::study::silicon
