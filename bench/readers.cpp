// How fast are the readers of workload files, and how much memory do they take? Each file is written to a temporary
// folder and read in a process of its own, whose CPU time and peak memory are the figures. Bytes are those of the file
// as it is without compression. The schedule is always the same: rounds of a ring, in which each rank computes, sends
// to the next and receives.
#include <benchmark/benchmark.h>
#include <bzlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "banyan/base/types.hpp"
#include "banyan/workload/compressed.hpp"
#include "banyan/workload/formats.hpp"

namespace {

using banyan::u32;
using banyan::u64;
using banyan::u8;

constexpr u32 kRanks = 64;
constexpr u32 kRounds = 16'000;

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "banyan-readers-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

u32 next_of(u32 rank) { return (rank + 1) % kRanks; }
u32 before(u32 rank) { return (rank + kRanks - 1) % kRanks; }

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// A file and its length without compression.
struct Written {
  std::string path;
  std::size_t bytes = 0;
};

Written goal_text(const Folder& folder) {
  std::string text = "num_ranks " + std::to_string(kRanks) + "\n";
  for (u32 r = 0; r < kRanks; ++r) {
    text += "rank " + std::to_string(r) + " {\n";
    const std::string to = "b to " + std::to_string(next_of(r)) + " tag ";
    const std::string from = "b from " + std::to_string(before(r)) + " tag ";
    for (u32 k = 0; k < kRounds; ++k) {
      const std::string n = std::to_string(k);
      text += "c" + n + ": calc 1000\ns" + n + ": send 4096" + to + n + "\nr" + n + ": recv 4096" + from + n + "\n";
      if (k > 0) text += "c" + n + " requires r" + std::to_string(k - 1) + "\n";
      text += "s" + n + " requires c" + n + "\n";
    }
    text += "}\n";
  }
  write(folder.file("ring.goal"), text);
  return {folder.file("ring.goal"), text.size()};
}

Written goal_binary(const Folder& folder) {
  const banyan::workload::Program program = banyan::workload::read_workload(goal_text(folder).path);
  write(folder.file("ring.bin"), std::string(program.bytes()));
  return {folder.file("ring.bin"), program.bytes().size()};
}

Written connections(const Folder& folder) {
  std::string text = "Nodes " + std::to_string(kRanks) + "\nConnections " + std::to_string(kRanks * kRounds) + "\n";
  for (u32 k = 0; k < kRounds; ++k) {
    for (u32 r = 0; r < kRanks; ++r) {
      text += std::to_string(r) + "->" + std::to_string(next_of(r)) + " id " + std::to_string(k * kRanks + r + 1) +
              " start " + std::to_string(u64{k} * 1'000'000) + " size 4096\n";
    }
  }
  write(folder.file("ring.cm"), text);
  return {folder.file("ring.cm"), text.size()};
}

template <class T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Each packet waits for the one that its source received a round before.
Written netrace(const Folder& folder, bool compressed) {
  constexpr u32 kWrite = 2;
  std::string bytes = raw(u32{0x484A5455}) + raw(1.0F) + "a ring" + std::string(24, '\0') + raw(u8{kRanks}) +
                      raw(u8{0}) + raw(u64{kRounds} * 10) + raw(u64{kRanks} * kRounds) + std::string(16, '\0');
  for (u32 k = 0; k < kRounds; ++k) {
    for (u32 r = 0; r < kRanks; ++r) {
      const bool last = k + 1 == kRounds;
      bytes += raw(u64{k} * 10) + raw(k * kRanks + r) + raw(u32{64}) + raw(u8{kWrite}) + raw(static_cast<u8>(r)) +
               raw(static_cast<u8>(next_of(r))) + raw(u8{0}) + raw(static_cast<u8>(last ? 0 : 1));
      if (!last) bytes += raw((k + 1) * kRanks + next_of(r));
    }
  }
  const std::string path = folder.file("ring.tra");
  if (!compressed) {
    write(path, bytes);
    return {path, bytes.size()};
  }
  std::string packed(bytes.size() + bytes.size() / 100 + 600, '\0');
  unsigned length = static_cast<unsigned>(packed.size());
  BZ2_bzBuffToBuffCompress(packed.data(), &length, bytes.data(), static_cast<unsigned>(bytes.size()), 9, 0, 0);
  packed.resize(length);
  write(path, packed);
  return {path, bytes.size()};
}

// --- Chakra: fields of protobuf messages ----------------------------------------------------------------------------

std::string varint(u64 value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  return bytes + static_cast<char>(value);
}
std::string field(u32 number, u64 value) { return varint(number << 3U) + varint(value); }
std::string field(u32 number, const std::string& value) {
  return varint(number << 3U | 2U) + varint(value.size()) + value;
}
std::string attribute(const std::string& name, u64 value) { return field(10, field(1, name) + field(9, value)); }
std::string framed(const std::string& message) { return varint(message.size()) + message; }
std::string node(u64 id, u32 type, const std::string& name, const std::string& more, bool waits, u64 earlier) {
  return framed(field(1, id) + field(2, name) + field(3, type) + (waits ? field(5, varint(earlier)) : "") + more);
}

Written chakra(const Folder& folder) {
  constexpr u32 kCompute = 4;
  constexpr u32 kSend = 5;
  constexpr u32 kReceive = 6;
  std::size_t length = 0;
  for (u32 r = 0; r < kRanks; ++r) {
    std::string bytes = framed(field(1, std::string("0.0.4")));
    const std::string size = attribute("comm_size", 4096);
    for (u64 k = 0; k < kRounds; ++k) {
      const std::string tag = attribute("comm_tag", k);
      bytes += node(3 * k, kCompute, "compute", field(7, 1), k > 0, 3 * k - 1);
      bytes += node(3 * k + 1, kSend, "send", attribute("comm_dst", next_of(r)) + size + tag, true, 3 * k);
      bytes += node(3 * k + 2, kReceive, "receive", attribute("comm_src", before(r)) + size + tag, false, 0);
    }
    write(folder.file("ring." + std::to_string(r) + ".et"), bytes);
    length += bytes.size();
  }
  return {folder.file("ring.0.et"), length};
}

/// CPU seconds and peak memory of a process that reads the file, or does nothing.
struct Cost {
  double seconds = 0.0;
  double megabytes = 0.0;
};
enum class Reads { schedule, bytes };
Cost cost_of(const std::string& path, Reads reads) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    bool read = false;
    try {
      read = path.empty() ||
             (reads == Reads::bytes ? !banyan::workload::read_uncompressed(path).empty()
                                    : banyan::workload::read_workload(path).operations() >= u64{2} * kRanks * kRounds);
    } catch (const std::exception& error) { std::fprintf(stderr, "%s\n", error.what()); }
    _exit(read ? 0 : 1);
  }
  int status = 1;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) return {};
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024};
}

template <class Write>
void reads(benchmark::State& state, Write&& written_by, Reads what = Reads::schedule) {
  const Folder folder;
  Written file;
  const pid_t child = fork();  // what writing takes is not to be in the memory of those that read
  if (child == 0) {
    file = written_by(folder);
    write(folder.file("length"), std::to_string(file.bytes) + " " + file.path);
    _exit(0);
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return state.SkipWithError("no file");
  std::ifstream(folder.file("length")) >> file.bytes >> file.path;
  std::filesystem::remove(folder.file("length"));
  const Cost nothing = cost_of("", what);
  double megabytes = 0.0;
  double total = 0.0;
  for (auto _ : state) {
    const Cost cost = cost_of(file.path, what);
    if (cost.seconds == 0.0) return state.SkipWithError("not read");
    total += cost.seconds - nothing.seconds;
    megabytes = cost.megabytes - nothing.megabytes;
    state.SetIterationTime(cost.seconds - nothing.seconds);
  }
  const auto bytes = static_cast<double>(file.bytes);
  state.counters["MB"] = bytes * 1e-6;
  state.counters["MB_per_CPU_second"] = bytes * 1e-6 * static_cast<double>(state.iterations()) / total;
  state.counters["peak_MiB"] = megabytes;
}

#define BANYAN_READS(name, written, ...)                                        \
  BENCHMARK_CAPTURE(                                                            \
      reads, name, [](const Folder& folder) { return written; }, ##__VA_ARGS__) \
      ->UseManualTime()                                                         \
      ->Unit(benchmark::kMillisecond)

BANYAN_READS(goal_text, goal_text(folder));
BANYAN_READS(goal_binary, goal_binary(folder));
BANYAN_READS(chakra, chakra(folder));
BANYAN_READS(netrace, netrace(folder, false));
BANYAN_READS(netrace_bzip2, netrace(folder, true));
BANYAN_READS(bzip2_alone, netrace(folder, true), Reads::bytes);  // what the library takes of it
BANYAN_READS(connections, connections(folder));

}  // namespace
