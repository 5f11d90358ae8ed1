#include "banyan/api/packet_log_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "banyan/api/network.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"

namespace banyan::api {
namespace {

constexpr const char* kHeader = "session,traffic,source,number,destination,flits,birth,entry,arrival,path\n";

std::vector<std::string> names_of(const Experiment& experiment) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < experiment.traffics.size(); ++t) names.push_back(traffic_suffix(experiment, t).substr(1));
  return names;
}

}  // namespace

PacketLogFile::PacketLogFile(std::string file, const Experiment& experiment, const core::Graph& graph)
    : PacketLogFile(std::move(file), graph, names_of(experiment)) {}

PacketLogFile::PacketLogFile(std::string file, const core::Graph& graph, std::vector<std::string> traffics)
    : file_(std::move(file)), growing_(file_ + ".part"), graph_(graph), traffics_(std::move(traffics)) {
  if (file_.empty()) return;
  std::error_code ignored;
  if (is_pipe_or_device(file_) || std::filesystem::is_directory(file_, ignored)) {
    throw ConfigError({file_, 0, 0, "--log"}, "is no regular file, and a log may have to be begun again",
                      "name a file");
  }
  restart();
}

PacketLogFile::~PacketLogFile() {
  if (file_.empty()) return;
  stream_.close();
  std::error_code ignored;
  std::filesystem::remove(growing_, ignored);
}

void PacketLogFile::restart() {
  if (stream_.is_open()) stream_.close();
  errno = 0;
  stream_.open(growing_, std::ios::binary | std::ios::trunc);
  if (!stream_) refuse(errno != 0 ? std::strerror(errno) : "unknown reason");
  next_ = 0;
  waiting_.clear();
  write(kHeader);
}

void PacketLogFile::add_line(std::string& to, u64 session, const engine::LoggedPacket& packet) const {
  const auto out = std::back_inserter(to);
  // Behind the traffics comes what the ends of flows tell each other.
  const bool known = packet.name.traffic < traffics_.size();
  fmt::format_to(out, "{},{},{},{},{},{},{},{},", session, known ? traffics_[packet.name.traffic] : "feedback",
                 packet.name.source, packet.name.sequence, packet.destination, packet.flits, packet.birth,
                 packet.enter);
  if (packet.arrival != kNever) fmt::format_to(out, "{}", packet.arrival);
  char before = ',';
  for (const u32 c : packet.channels) {
    const core::End& from = graph_.channel(c).from;
    if (from.terminal) continue;
    fmt::format_to(out, "{}{}:{}", before, from.node, from.port);
    before = ' ';
  }
  to += before == ',' ? ",\n" : "\n";
}

void PacketLogFile::write(const std::string& lines) {
  if (!file_.empty()) stream_ << lines;
}

void PacketLogFile::put(u64 session, std::string lines) {
  const std::lock_guard<std::mutex> lock(mutex_);
  waiting_.emplace(session, std::move(lines));
  for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_; ++next_) {
    write(first->second);
    first = waiting_.erase(first);
  }
}

void PacketLogFile::finish() {
  if (file_.empty()) return;
  errno = 0;
  stream_.close();
  if (!stream_) refuse(errno != 0 ? std::strerror(errno) : "the disk may be full");
  std::error_code error;
  std::filesystem::rename(growing_, file_, error);
  if (error) refuse(error.message());
}

void PacketLogFile::refuse(const std::string& reason) const {
  throw ConfigError({file_, 0, 0, "--log"}, fmt::format("cannot be written: {}", reason),
                    "name another place, or mend its permissions or the space on its disk");
}

}  // namespace banyan::api
