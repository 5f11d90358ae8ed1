#include "banyan/store/heartbeat.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "banyan/base/file.hpp"

namespace banyan::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBeatExtension = ".beat";
constexpr std::chrono::milliseconds kBeatPause{1'500};

constexpr const char* kStates[] = {"running", "finished", "failed"};

/// The scheduler's name of this job, where one started it.
std::string job_of_environment() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string array = variable("SLURM_ARRAY_JOB_ID");
  return array.empty() ? variable("SLURM_JOB_ID") : array + "_" + variable("SLURM_ARRAY_TASK_ID");
}

/// The host and process that a worker's file names: "2-of-8.HOST.PID-RANDOM.sqlite".
std::string host_of(const std::string& file) {
  const std::string name = fs::path(file).filename().string();
  const std::size_t first = name.find('.');
  const std::size_t second = name.find('.', first + 1);
  return name.substr(first + 1, second - first - 1);
}

std::optional<Beat> beat_from(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  try {
    Beat beat;
    beat.part = read_part(json.at("part"));
    beat.sweep = json.at("sweep");
    beat.host = json.at("host");
    beat.process = json.at("process");
    beat.job = json.at("job");
    beat.count = json.at("count");
    const std::string state = json.at("state");
    const auto found = std::find(std::begin(kStates), std::end(kStates), state);
    if (found == std::end(kStates)) return std::nullopt;
    beat.state = static_cast<WorkerState>(found - std::begin(kStates));
    beat.cause = json.at("cause");
    beat.finished = json.at("finished");
    beat.points = json.at("points");
    beat.seconds_left = json.at("seconds_left");
    beat.at = json.at("at");
    return beat;
  } catch (const std::exception&) { return std::nullopt; }
}

}  // namespace

Heartbeat::Heartbeat(const std::string& file, const SweepPart& part, u64 sweep)
    : file_(fs::path(file).replace_extension(kBeatExtension).string()) {
  beat_.part = part;
  beat_.sweep = sweep;
  beat_.host = host_of(file);
  beat_.process = static_cast<u64>(getpid());
  beat_.job = job_of_environment();
  beat_.seconds_left = -1.0;
  write();
  thread_ = std::thread([this] { beat(); });
}

Heartbeat::~Heartbeat() { end(WorkerState::failed, "the worker ended early"); }

void Heartbeat::beat() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kBeatPause, [this] { return ended_; })) {
    ++beat_.count;
    write();
  }
}

void Heartbeat::status(u64 finished, u64 points, double seconds_left, const std::string& at) {
  const std::scoped_lock lock(mutex_);
  beat_.finished = finished;
  beat_.points = points;
  beat_.seconds_left = seconds_left;
  beat_.at = at;
}

void Heartbeat::finish() { end(WorkerState::finished, ""); }
void Heartbeat::fail(const std::string& cause) { end(WorkerState::failed, cause); }

void Heartbeat::end(WorkerState state, const std::string& cause) {
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    ended_ = true;
    beat_.state = state;
    beat_.cause = cause;
    if (state == WorkerState::finished) {
      beat_.finished = beat_.points;
      beat_.seconds_left = 0.0;
      beat_.at = "";
    }
    ++beat_.count;
  }
  changed_.notify_all();
  thread_.join();
  write();
}

void Heartbeat::write() {
  const nlohmann::json json{{"part", to_text(beat_.part)},
                            {"sweep", beat_.sweep},
                            {"host", beat_.host},
                            {"process", beat_.process},
                            {"job", beat_.job},
                            {"count", beat_.count},
                            {"state", kStates[static_cast<std::size_t>(beat_.state)]},
                            {"cause", beat_.cause},
                            {"finished", beat_.finished},
                            {"points", beat_.points},
                            {"seconds_left", beat_.seconds_left},
                            {"at", beat_.at}};
  // Whoever reads sees one beat or the next, never half of one.
  const std::string temporary = file_ + ".tmp";
  {
    std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
    stream << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    if (!stream.flush()) return;
  }
  std::error_code ignored;
  fs::rename(temporary, file_, ignored);
}

std::vector<Beat> read_beats(const std::string& folder, u64 sweep) {
  std::vector<Beat> beats;
  std::error_code error;
  for (fs::directory_iterator entry(fs::path(folder) / kPartsFolder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != kBeatExtension) continue;
    const std::optional<std::string> text = read_whole_file(entry->path().string());
    std::optional<Beat> beat = text ? beat_from(*text) : std::nullopt;
    if (!beat || beat->sweep != sweep) continue;
    beat->file = entry->path().string();
    beats.push_back(std::move(*beat));
  }
  std::sort(beats.begin(), beats.end(), [](const Beat& a, const Beat& b) { return a.file < b.file; });
  return beats;
}

}  // namespace banyan::store
