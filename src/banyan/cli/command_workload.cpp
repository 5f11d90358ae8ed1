// banyan workload info: what is in a workload file, without running it.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "banyan/cli/commands.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/workload_file.hpp"
#include "banyan/config/json.hpp"
#include "banyan/workload/formats.hpp"
#include "banyan/workload/inspection.hpp"

namespace banyan::cli {
namespace {

using nlohmann::ordered_json;
using workload::Operation;
using workload::OperationKind;
using workload::Place;

/// Operations of which the critical path is kept: it takes 16 bytes of each.
constexpr u64 kMostForChain = u64{1} << 26U;
constexpr std::size_t kMostPairs = 10;
constexpr std::size_t kShown = 12;  ///< lines of a list; the rest is counted

ordered_json of_wild(u32 value) { return value == kNone ? ordered_json(-1) : ordered_json(value); }

const char* name_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::send:
      return "send";
    case OperationKind::receive:
      return "recv";
    default:
      return "calc";
  }
}

ordered_json of_place(const workload::Program& program, Place place) {
  const Operation o = program.operation(place.rank, place.operation);
  ordered_json json{{"rank", place.rank}, {"operation", place.operation}, {"kind", name_of(o.kind)}};
  if (o.kind == OperationKind::calculate) {
    json["nanoseconds"] = o.amount;
  } else {
    json["peer"] = of_wild(o.peer);
    json["tag"] = of_wild(o.tag);
    json["bytes"] = o.amount;
  }
  return json;
}

ordered_json of_places(const workload::Program& program, const std::vector<Place>& places) {
  ordered_json list = ordered_json::array();
  for (const Place& place : places) list.push_back(of_place(program, place));
  return list;
}

struct Info {
  const char* format = "";
  const workload::Program& program;
  workload::Contents contents;
  std::vector<workload::Unmatched> unmatched;
  workload::Exchange exchange;
  workload::Untimed untimed;
};

std::string to_json(const Info& info) {
  ordered_json unmatched = ordered_json::array();
  for (const auto& u : info.unmatched) {
    unmatched.push_back({{"kind", u.send ? "send" : "recv"},
                         {"rank", u.rank},
                         {"peer", of_wild(u.peer)},
                         {"tag", of_wild(u.tag)},
                         {"count", u.count}});
  }
  ordered_json largest = ordered_json::array();
  for (const auto& m : info.exchange.largest)
    largest.push_back({{"bytes", m.bytes}, {"from", m.from}, {"to", m.to}, {"count", m.count}});
  ordered_json pairs = ordered_json::array();
  for (const auto& p : info.exchange.busiest)
    pairs.push_back({{"from", p.from}, {"to", p.to}, {"messages", p.messages}, {"bytes", p.bytes}});
  const auto& of_kind = info.contents.operations;
  ordered_json json{
      {"format", info.format},
      {"ranks", info.program.ranks()},
      {"operations", {{"send", of_kind[0]}, {"recv", of_kind[1]}, {"calc", of_kind[2]}}},
      {"bytes", info.contents.bytes},
      {"calculated", info.contents.calculated},
      {"dependencies", info.contents.dependencies},
      {"cores", info.program.cores()},
      {"nics", info.program.nics()},
      {"unmatched", unmatched},
      {"cycle", of_places(info.program, info.untimed.cycle)},
      {"waiting", of_places(info.program, info.untimed.stuck)},
      {"short_receives", info.untimed.shorter},
      {"critical_path",
       {{"nanoseconds", info.untimed.length}, {"operations", of_places(info.program, info.untimed.chain)}}},
      {"largest_messages", largest},
      {"talking_pairs", info.exchange.pairs},
      {"busiest_pairs", pairs},
      {"hash", fmt::format("{:016x}", info.program.hash())}};
  return config::dump(json, 2) + "\n";
}

std::string row(const char* name, const std::string& value) { return fmt::format("  {:<18} {}\n", name, value); }

template <class List, class Line>
std::string listed(const char* title, const List& list, Line&& line) {
  if (list.empty()) return {};
  std::string text = fmt::format("\n{}\n", title);
  for (std::size_t i = 0; i < std::min(kShown, list.size()); ++i) text += "  " + line(list[i]) + "\n";
  if (list.size() > kShown) text += fmt::format("  and {} more\n", list.size() - kShown);
  return text;
}

std::string to_table(const Info& info) {
  const auto& of_kind = info.contents.operations;
  std::string text = fmt::format("{}: {}\n", info.program.path(), info.format);
  text += row("ranks", fmt::format("{}", info.program.ranks()));
  text += row("operations", fmt::format("{} ({} send, {} recv, {} calc)", info.program.operations(), of_kind[0],
                                        of_kind[1], of_kind[2]));
  text += row("dependencies", fmt::format("{}", info.contents.dependencies));
  text += row("bytes", fmt::format("{} sent, at most {} in one message", info.contents.bytes, info.contents.longest));
  text += row("computation", fmt::format("{} ns over all ranks", info.contents.calculated));
  text += row("cores, nics", fmt::format("{}, {}", info.program.cores(), info.program.nics()));
  text += row("critical path", fmt::format("{} ns of computation, without a network", info.untimed.length));
  text += row("pairs", fmt::format("{} exchange messages", info.exchange.pairs));
  const auto place = [&](Place p) { return workload::to_text(info.program, p); };
  text += listed("Sends and receives that do not match", info.unmatched,
                 [](const workload::Unmatched& u) { return workload::to_text(u); });
  text += listed("A cycle: each waits for the next, the last for the first", info.untimed.cycle, place);
  text +=
      listed(info.untimed.open ? "Waiting for each other in a run without a network; with other times others may meet"
                               : "Waiting for messages that never come",
             info.untimed.stuck, place);
  if (info.untimed.shorter != 0) text += "\n" + workload::short_receives_text(info.program, info.untimed) + "\n";
  text += listed("Critical path", info.untimed.chain, place);
  text += listed("Largest messages", info.exchange.largest, [](const workload::LargeMessage& m) {
    return fmt::format("{} bytes from {} to {}, {} time{}", m.bytes, m.from, m.to, m.count, m.count == 1 ? "" : "s");
  });
  text += listed("Busiest pairs", info.exchange.busiest, [](const workload::Pair& p) {
    return fmt::format("{} to {}: {} message{}, {} bytes", p.from, p.to, p.messages, p.messages == 1 ? "" : "s",
                       p.bytes);
  });
  return text;
}

}  // namespace

int workload_info(const WorkloadInfoArguments& arguments) {
  const workload::Program program = read_workload_file(arguments.file, arguments.trace);
  const workload::Format* const format = workload::format_of(arguments.file);
  Info info{format == nullptr ? "" : format->name,
            program,
            workload::contents_of(program),
            workload::unmatched_of(program),
            workload::exchange_of(program, kMostPairs),
            workload::run_untimed(program, program.operations() <= kMostForChain)};
  arguments.json ? print(to_json(info)) : show_text(to_table(info));
  return kDone;
}

}  // namespace banyan::cli
