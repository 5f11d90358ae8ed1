#include "banyan/api/jobs_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "banyan/api/result.hpp"
#include "banyan/config/json.hpp"
#include "banyan/workload/inspection.hpp"

namespace banyan::api {
namespace {

using nlohmann::ordered_json;
using workload::CriticalStep;
using workload::OperationKind;

constexpr std::size_t kStragglers = 5;
constexpr std::size_t kMostSteps = 2'000;  ///< of a critical path that are kept: the last ones

/// Where the time of a critical path goes; sums to the time from the start to the end.
struct PathTimes {
  u64 computing = 0;
  u64 overhead = 0;
  u64 network = 0;
  u64 waiting = 0;
  std::map<u32, u64> of_rank;  ///< computing and overhead there
};

/// What a core does for a message.
u64 overhead_of(const workload::Host& host, const workload::Operation& o) {
  return host.overhead + host.overhead_per_byte.of(std::max<u64>(o.amount, 1) - 1);
}

/// A step of a critical path, and what it is.
struct PathStep {
  const CriticalStep* step = nullptr;
  workload::Operation operation;

  /// True where this is a send, and `next` waits for its message: what another rank waits for, and a rank itself where
  /// it receives what it has sent to itself.
  [[nodiscard]] bool is_awaited_by(const PathStep& next) const {
    if (operation.kind != OperationKind::send) return false;
    const u32 to = next.step->place.rank;
    return step->place.rank != to || (next.operation.kind == OperationKind::receive && operation.peer == to);
  }
};

/// A send may be on the path because it held the core or the interface of its own rank: what comes next did not wait
/// for its message then, but for that rank.
PathTimes path_times(const JobRecord& job) {
  PathTimes times;
  u64 at = job.outcome.start;
  PathStep before;
  for (const CriticalStep& step : job.outcome.critical_path) {
    const PathStep now{&step, job.program->operation(step.place.rank, step.place.operation)};
    const OperationKind kind = now.operation.kind;
    // Of a send that had asked and then waited for its interface, what was before that is not on the path.
    const u64 begin = std::max(step.resumed != 0 ? step.resumed : step.begin, at);
    const u64 end = std::max(step.end, begin);
    const bool on_the_way = before.step != nullptr && before.is_awaited_by(now);
    (on_the_way ? times.network : times.waiting) += begin - at;
    u64 busy = end - begin;
    if (kind != OperationKind::calculate) busy = std::min(busy, overhead_of(job.host, now.operation));
    // A send that asks first may have handled its message before the path came to it; the rest of it is the network's.
    if (kind == OperationKind::send) {
      const u64 handled = step.resumed != 0 ? 0 : step.begin + overhead_of(job.host, now.operation);
      busy = std::min(busy, handled - std::min(handled, begin));
    }
    (kind == OperationKind::calculate ? times.computing : times.overhead) += busy;
    times.network += end - begin - busy;
    times.of_rank[step.place.rank] += busy;
    at = end;
    before = now;
  }
  return times;
}

ordered_json or_null(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(); }

class Writer {
 public:
  Writer(const JobRecord& job, const core::Topology* topology) : job_(job), topology_(topology) {}

  [[nodiscard]] ordered_json write() const {
    const workload::JobOutcome& outcome = job_.outcome;
    ordered_json ranks = ordered_json::array();
    for (const u64 end : outcome.ends) ranks.push_back(time(end));
    return {{"name", job_.name},
            {"unit", job_.in_ns ? "ns" : "cycles"},
            {"completion", job_.finished ? time(outcome.completion) : ordered_json()},
            {"ranks", std::move(ranks)},
            {"slowdown_alone", or_null(job_.slowdown_alone)},
            {"slowdown_ideal", or_null(job_.slowdown_ideal)},
            {"operations", outcome.operations},
            {"messages", outcome.messages},
            {"bytes", outcome.bytes},
            {"on_network", job_.on_network},
            {"terminals", job_.terminals},
            {"times", times()},
            {"rank_times", rank_times()},
            {"collectives", collectives()},
            {"stragglers", stragglers()},
            {"critical_path_times", path_summary()},
            {"critical_path_length", outcome.critical_path.size()},
            {"critical_path", path()}};
  }

 private:
  /// Whole numbers stay whole, whatever their size.
  [[nodiscard]] ordered_json time(u64 t) const {
    return job_.unit == 1.0 ? ordered_json(t) : ordered_json(static_cast<double>(t) * job_.unit);
  }
  [[nodiscard]] ordered_json parts(u64 computing, u64 overhead, u64 network, u64 waiting) const {
    return {{"computing", time(computing)},
            {"overhead", time(overhead)},
            {"network", time(network)},
            {"waiting", time(waiting)}};
  }
  [[nodiscard]] ordered_json times() const {
    workload::RankTimes sum;
    for (const workload::RankTimes& t : job_.outcome.times) {
      sum.computing += t.computing;
      sum.overhead += t.overhead;
      sum.network += t.network;
      sum.waiting += t.waiting;
    }
    return parts(sum.computing, sum.overhead, sum.network, sum.waiting);
  }
  [[nodiscard]] ordered_json rank_times() const {
    ordered_json all;
    for (const auto& [name, field] :
         {std::pair{"computing", &workload::RankTimes::computing},
          std::pair{"overhead", &workload::RankTimes::overhead}, std::pair{"network", &workload::RankTimes::network},
          std::pair{"waiting", &workload::RankTimes::waiting}}) {
      ordered_json list = ordered_json::array();
      for (const workload::RankTimes& t : job_.outcome.times) list.push_back(time(t.*field));
      all[name] = std::move(list);
    }
    return all;
  }
  [[nodiscard]] ordered_json collectives() const {
    ordered_json all = ordered_json::array();
    for (const CollectiveCount& c : job_.collectives)
      all.push_back({{"collective", c.kind}, {"algorithm", c.algorithm}, {"count", c.count}, {"bytes", c.bytes}});
    return all;
  }
  [[nodiscard]] ordered_json stragglers() const {
    const PathTimes times = path_times(job_);
    std::vector<std::pair<u64, u32>> order;
    for (const auto& [rank, own] : times.of_rank) {
      if (own != 0) order.emplace_back(own, rank);
    }
    std::ranges::sort(order, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    if (order.size() > kStragglers) order.resize(kStragglers);
    const double whole =
        static_cast<double>(std::max<u64>(1, times.computing + times.overhead + times.network + times.waiting));
    ordered_json all = ordered_json::array();
    for (const auto& [own, rank] : order)
      all.push_back({{"rank", rank}, {"on_path", time(own)}, {"share", static_cast<double>(own) / whole}});
    return all;
  }
  [[nodiscard]] ordered_json path_summary() const {
    const PathTimes times = path_times(job_);
    return parts(times.computing, times.overhead, times.network, times.waiting);
  }
  [[nodiscard]] ordered_json path() const {
    std::map<std::array<u32, 3>, const WatchedMessage*> watched;
    for (const WatchedMessage& m : job_.watched) watched[{m.send.rank, m.send.operation, m.repeat}] = &m;
    ordered_json all = ordered_json::array();
    const auto& steps = job_.outcome.critical_path;
    for (std::size_t i = steps.size() - std::min(steps.size(), kMostSteps); i < steps.size(); ++i) {
      const CriticalStep& s = steps[i];
      ordered_json step{{"rank", s.place.rank},
                        {"operation", s.place.operation},
                        {"repeat", s.repeat},
                        {"what", workload::to_text(*job_.program, s.place) +
                                     (s.repeat == 0 ? std::string() : fmt::format(", repeat {}", s.repeat))},
                        {"begin", time(s.begin)},
                        {"end", time(s.end)}};
      const workload::Operation o = job_.program->operation(s.place.rank, s.place.operation);
      if (o.kind == OperationKind::send && s.arrived != 0) {
        const auto found = watched.find({s.place.rank, s.place.operation, s.repeat});
        step["message"] = message(s, o, found == watched.end() ? nullptr : found->second);
      }
      all.push_back(std::move(step));
    }
    return all;
  }
  [[nodiscard]] ordered_json message(const CriticalStep& s, const workload::Operation& o,
                                     const WatchedMessage* watched) const {
    ordered_json made{{"from", s.place.rank},
                      {"to", o.peer},
                      {"bytes", o.amount},
                      {"sent", time(s.sent)},
                      {"arrived", time(s.arrived)}};
    if (watched == nullptr) return made;
    const u64 took = s.arrived - s.sent;
    made["alone"] = time(watched->idle);
    made["delayed"] = time(took - std::min(took, watched->idle));
    ordered_json passages = ordered_json::array();
    for (const WatchedMessage::Passage& p : watched->passages) {
      passages.push_back({{"place", p.terminal ? fmt::format("terminal {}", p.node) : topology_->label(p.node)},
                          {"channel", p.terminal ? topology_->graph().injection(p.node)
                                                 : topology_->graph().channel_out_of(p.node, p.port)},
                          {"port", p.terminal ? std::string() : topology_->port_label(p.node, p.port)},
                          {"left", time(p.left)},
                          {"waited", time(p.waited)}});
    }
    if (!passages.empty()) made["passages"] = std::move(passages);
    return made;
  }

  const JobRecord& job_;
  const core::Topology* topology_;
};

std::string number(const ordered_json& value) { return number_text(value.get<double>()); }

/// "computing 12 %, overhead 3 %, network 60 %, waiting 25 %".
std::string shares(const ordered_json& parts) {
  double whole = 0.0;
  for (const auto& [name, value] : parts.items()) whole += value.get<double>();
  std::string text;
  for (const auto& [name, value] : parts.items()) {
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name,
                        whole > 0.0 ? value.get<double>() / whole * 100.0 : 0.0);
  }
  return text;
}

/// ", held up for 30: 20 at (0,1) up 2" of a message.
std::string held_up(const ordered_json& message) {
  if (!message.contains("delayed") || message.at("delayed").get<double>() == 0.0) return "";
  std::string text = fmt::format(", held up for {}", number(message.at("delayed")));
  if (!message.contains("passages")) return text;
  const ordered_json* most = nullptr;
  for (const ordered_json& p : message.at("passages")) {
    if (most == nullptr || p.at("waited").get<double>() > most->at("waited").get<double>()) most = &p;
  }
  if (most == nullptr || most->at("waited").get<double>() == 0.0) return text;
  const std::string port = most->at("port").get<std::string>();
  return text + fmt::format("; its last packet waited longest at {}{}, {}", most->at("place").get<std::string>(),
                            port.empty() ? std::string(" in its queue") : " for " + port, number(most->at("waited")));
}

std::string path_text(const ordered_json& path, u64 length, const std::string& unit) {
  constexpr std::size_t kShown = 20;
  if (path.empty()) return "";
  std::string text = "  what the end waited for, last first, in " + unit + ":\n";
  for (std::size_t i = 0; i < std::min(kShown, path.size()); ++i) {
    const ordered_json& step = path[path.size() - 1 - i];
    text += fmt::format("  {:>14}  {}\n", number(step.at("end")), step.at("what").get<std::string>());
    if (i == 0 || !step.contains("message")) continue;
    const ordered_json& message = step.at("message");
    text += fmt::format("  {:>14}  sent {}, arrived {}{}\n", "", number(message.at("sent")),
                        number(message.at("arrived")), held_up(message));
  }
  if (length > kShown) text += fmt::format("  and {} before\n", length - kShown);
  return text;
}

std::string job_text(const ordered_json& job) {
  const std::string unit = job.value("unit", "");  // results of before have none
  const bool finished = !job.at("completion").is_null();
  double last = 0.0;
  for (const ordered_json& end : job.at("ranks")) last = std::max(last, end.get<double>());
  std::string text =
      fmt::format("\n{}: {} at {} {}, {} operations, {} messages, {} bytes\n", job.at("name").get<std::string>(),
                  finished ? "done" : "not done after its last end", number_text(last), unit,
                  job.at("operations").get<u64>(), job.at("messages").get<u64>(), job.at("bytes").get<u64>());
  if (job.value("on_network", false) && finished && job.at("slowdown_alone").is_null()) {
    text += "  how much longer than alone is not known: the run ended before the last job\n";
  } else if (job.value("on_network", false) && finished) {
    text += fmt::format("  {:.3f} times as long as alone, {:.3f} times as long as without contention\n",
                        job.at("slowdown_alone").get<double>(), job.at("slowdown_ideal").get<double>());
  }
  text += "  time of its ranks: " + shares(job.at("times")) + "\n";
  for (const ordered_json& c : job.at("collectives")) {
    text += fmt::format("  {} {} by {}, {} bytes\n", c.at("count").get<u64>(), c.at("collective").get<std::string>(),
                        c.at("algorithm").get<std::string>(), c.at("bytes").get<u64>());
  }
  if (job.at("critical_path").empty()) return text;
  text += "  its critical path: " + shares(job.at("critical_path_times")) + "\n";
  std::string ranks;
  for (const ordered_json& s : job.at("stragglers")) {
    ranks += fmt::format("{}rank {} ({:.1f} %)", ranks.empty() ? "" : ", ", s.at("rank").get<u64>(),
                         s.at("share").get<double>() * 100.0);
  }
  if (!ranks.empty()) text += "  whose calculations and overheads are on it: " + ranks + "\n";
  return text + path_text(job.at("critical_path"), job.at("critical_path_length").get<u64>(), unit);
}

}  // namespace

std::string jobs_json(const std::vector<JobRecord>& jobs, const core::Topology* topology) {
  ordered_json all = ordered_json::array();
  for (const JobRecord& job : jobs) all.push_back(Writer(job, topology).write());
  return config::dump(all);
}

std::string jobs_text(const std::string& json) {
  const ordered_json jobs = ordered_json::parse(json, nullptr, false);
  std::string text;
  if (!jobs.is_array()) return text;
  try {
    for (const ordered_json& job : jobs) text += job_text(job);
  } catch (const nlohmann::json::exception&) { text += "\nwhat the jobs have shown is damaged\n"; }
  return text;
}

}  // namespace banyan::api
