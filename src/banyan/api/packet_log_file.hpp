// One line per packet of a run, as CSV (docs/how-to/look-inside-a-run.md).
#pragma once

#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/core/graph.hpp"
#include "banyan/engine/packet_log.hpp"

namespace banyan::api {

/// The file has its name when it is whole; until then the lines are in another one beside it.
class PacketLogFile {
 public:
  /// `file`: "" where lines are made for another process, and written by it. Throws ConfigError when it cannot be
  /// written.
  PacketLogFile(std::string file, const Experiment& experiment, const core::Graph& graph);
  /// `traffics`: their names.
  PacketLogFile(std::string file, const core::Graph& graph, std::vector<std::string> traffics);
  /// Removes what is not whole.
  ~PacketLogFile();
  PacketLogFile(const PacketLogFile&) = delete;
  PacketLogFile& operator=(const PacketLogFile&) = delete;

  /// The line of a packet.
  void add_line(std::string& to, u64 session, const engine::LoggedPacket& packet) const;
  /// Writes the lines of the run of one session.
  void write(const std::string& lines);
  /// Writes the lines of a session that is done, behind those of all before it. From any thread.
  void put(u64 session, std::string lines);
  /// The run is done again: forgets everything.
  void restart();
  /// Throws ConfigError when not everything could be written.
  void finish();

 private:
  [[noreturn]] void refuse(const std::string& reason) const;

  std::string file_;
  std::string growing_;
  const core::Graph& graph_;
  std::vector<std::string> traffics_;
  std::ofstream stream_;
  std::mutex mutex_;
  u64 next_ = 0;
  std::map<u64, std::string> waiting_;  ///< [session]
};

}  // namespace banyan::api
