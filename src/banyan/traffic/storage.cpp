// Storage networks: hosts read from and write to disks, as a block-I/O trace says or a synthetic self-similar process.
// A read is a short request to the disk and an answer with the data; a write carries the data and is acknowledged.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/traffic/parts/io_trace.hpp"
#include "banyan/traffic/parts/timed.hpp"
#include "banyan/traffic/parts/trace_file.hpp"

namespace banyan::traffic::storage {
namespace {

constexpr Stream kWays{"storage: ways"};

class Storage final : public core::Traffic {
 public:
  Storage(const config::Values& values, const core::TrafficContext& context)
      : values_(values),
        context_(context),
        synthetic_(values.text("file").empty()),
        hosts_(context.terminals - values.natural("disks")),
        messages_(context.terminals) {
    // Refused when built, whatever a replication draws: it may have no access, and the next one has some.
    static_cast<void>(cycles_of(values, context, "name", 0.0));
    for (const char* time : {"length", "service"})
      static_cast<void>(cycles_of(values, context, time, values.real(time)));
    fill(0);
    if (synthetic_) longest_ = values.natural("command") + kLongestSyntheticAccess;
  }

  /// Every replication has synthetic accesses of its own; a trace is what it is.
  void begin(u32 replication) override {
    ways_ = Random(context_.seed, kWays, context_.index, replication);
    if (synthetic_ && replication != replication_) fill(replication);
  }
  bool next(u32 terminal, u64 nth, Tick, core::Message& out) const noexcept override {
    const std::vector<Sent>& list = messages_[terminal];
    if (nth >= list.size()) return false;
    out.birth = list[nth].birth;
    out.destination = list[nth].to;
    out.flits = list[nth].bytes;
    out.word = ways_.at(terminal, nth)[0];
    out.flags = 0;
    return true;
  }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    // Bursts with infinite variance: the sum of autocorrelations has no end (Hurst parameter above 1/2).
    const bool endless = synthetic_ && values_.real("tail") < 2.0;
    return {.longest_message = longest_,
            .random = synthetic_,
            .remembers = endless ? std::numeric_limits<double>::infinity() : 0.0};
  }

 private:
  struct Sent {
    Tick birth;
    u32 to;
    u32 bytes;
  };

  void fill(u32 replication) {
    replication_ = replication;
    for (auto& list : messages_) list.clear();
    const u32 disks = values_.natural("disks");
    const std::vector<IoAccess> accesses = read(values_, context_, hosts_, disks, replication);
    const double scale = 1e9 / values_.real("compression");
    const u32 command = values_.natural("command");
    const double latency = values_.real("service");
    for (const IoAccess& access : accesses) {
      const u32 host = access.host % hosts_;
      const u32 disk = hosts_ + access.disk % disks;
      const Tick asked = cycles_of(values_, context_, "compression", access.at * scale);
      const double service = access.service >= 0.0 ? access.service * scale : latency;
      const Tick answered = asked + cycles_of(values_, context_, "service", service);
      add(host, asked, disk, access.write ? command + access.bytes : command);
      add(disk, answered, host, access.write ? command : command + access.bytes);
    }
    for (auto& list : messages_) {
      std::stable_sort(list.begin(), list.end(), [](const Sent& a, const Sent& b) { return a.birth < b.birth; });
    }
  }

  void add(u32 from, Tick birth, u32 to, u32 bytes) {
    messages_[from].push_back({birth, to, bytes});
    longest_ = std::max(longest_, bytes);
  }

  /// What synthesize_io draws, so that no parameter makes it draw for ever.
  static void require_bounded(const config::Values& values, const SyntheticIo& plan) {
    constexpr double kMost = 5e7;
    const double cycle = plan.burst_seconds / plan.on;  // of a burst and a pause, on average
    const double accesses = plan.accesses_per_second * plan.seconds;
    if (!(accesses <= kMost)) {
      values.fail("rate", fmt::format("{:.3g} accesses are too many", accesses),
                  "use a lower rate, or a shorter length");
    }
    const double bursts = plan.hosts * (plan.seconds / cycle);
    if (!(bursts <= kMost)) {
      values.fail("burst", fmt::format("{:.3g} bursts of all hosts are too many", bursts),
                  "use longer bursts, or a shorter length");
    }
    // Drawn where every host is in a burst all the time.
    constexpr double kMostDrawn = 4 * kMost;
    if (!(accesses / plan.on <= kMostDrawn)) {
      values.fail("on",
                  fmt::format("up to {:.3g} accesses, in bursts without a pause, are too many", accesses / plan.on),
                  fmt::format("use at least {:.3g}, a lower rate, or a shorter length", accesses / kMostDrawn));
    }
  }

  static std::vector<IoAccess> read(const config::Values& values, const core::TrafficContext& context, u32 hosts,
                                    u32 disks, u32 replication) {
    if (values.text("file").empty()) {
      SyntheticIo plan;
      plan.seed = context.seed;
      plan.index = context.index;
      plan.replication = replication;
      plan.hosts = hosts;
      plan.disks = disks;
      plan.seconds = values.real("length") * 1e-9 * values.real("compression");
      plan.accesses_per_second = values.real("rate");
      plan.tail = values.real("tail");
      plan.burst_seconds = values.real("burst") * 1e-9;
      plan.on = values.real("on");
      plan.reads = values.real("reads");
      plan.skew = values.real("skew");
      require_bounded(values, plan);
      return synthesize_io(plan);
    }
    const std::string& file = values.text("file");
    const std::string text = read_trace_text(file, values.where("file"));
    const std::string& name = values.text("format");
    const IoFormat format = name == "spc"   ? IoFormat::spc
                            : name == "msr" ? IoFormat::msr
                            : name == "srt" ? IoFormat::srt
                                            : guess_io_format(text, file);
    std::vector<IoAccess> accesses = read_io_trace(text, format, file);
    if (accesses.empty()) values.fail("file", "the trace has no access", "give a trace with at least one line");
    return accesses;
  }

  config::Values values_;
  core::TrafficContext context_;
  bool synthetic_;
  u32 replication_ = 0;
  Random ways_;
  u32 hosts_;
  u32 longest_ = 1;
  std::vector<std::vector<Sent>> messages_;  ///< [terminal], by birth
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  if (values.natural("disks") >= context.terminals) {
    values.fail("disks",
                fmt::format("{} disks leave no host among {} terminals", values.natural("disks"), context.terminals),
                fmt::format("use at most {}", context.terminals - 1));
  }
  return std::make_unique<Storage>(values, context);
}

using config::Parameter;

}  // namespace

extern const core::TrafficRow row_storage;
const core::TrafficRow row_storage{
    {"storage",
     "Hosts and disks: requests and responses of a block-I/O trace, or of synthetic self-similar I/O",
     "P. J. Garcia et al., Dynamic Evolution of Congestion Trees, DIAB-05-07-1, 2005, section 5.2; W. Willinger et "
     "al., "
     "Self-Similarity Through High-Variability, IEEE/ACM Transactions on Networking 5(1), 1997",
     {
         Parameter::text("file", "")
             .file()
             .doc("Trace, relative to the folder of the experiment; empty: synthetic I/O"),
         Parameter::choice("format", {"auto", "spc", "msr", "srt"}, "auto")
             .only_with("file")
             .doc("Format of the trace"),
         Parameter::integer("disks", 16)
             .unit("terminals")
             .range(1, 1 << 20)
             .doc("The last terminals are disks, the others hosts; hosts and disks of the trace are dealt out to them "
                  "in turn"),
         Parameter::real("compression", 1.0).above(0).doc("Times of the trace are divided by it"),
         Parameter::integer("command", 64).unit("B").range(1, 65535).doc("Length of a request, of an acknowledgment"),
         Parameter::real("service", 5000)
             .unit("ns")
             .range(0, 1e15)
             .doc("Time until a disk answers where the trace does not say"),
         Parameter::real("length", 1e6)
             .only_with("file", {""})
             .unit("ns")
             .range(1, 1e15)
             .doc("Synthetic: length, after compression"),
         Parameter::real("rate", 2e6)
             .only_with("file", {""})
             .unit("accesses/s")
             .above(0)
             .doc("Synthetic: of all hosts together, on average"),
         Parameter::real("tail", 1.4)
             .only_with("file", {""})
             .range(1.05, 1.95)
             .doc("Synthetic: exponent of the Pareto lengths of bursts and pauses; Hurst parameter (3 - tail) / 2"),
         Parameter::real("burst", 20'000)
             .only_with("file", {""})
             .unit("ns")
             .above(0)
             .doc("Synthetic: mean length of a burst, before compression"),
         Parameter::real("on", 0.25)
             .only_with("file", {""})
             .range(0.01, 0.99)
             .doc("Synthetic: fraction of the time that a host is in a burst"),
         Parameter::real("reads", 0.6)
             .only_with("file", {""})
             .range(0, 1)
             .doc("Synthetic: fraction of the accesses that read"),
         Parameter::real("skew", 1.0)
             .only_with("file", {""})
             .range(0, 4)
             .doc("Synthetic: exponent of Zipf's popularity of the disks"),
     }},
    &make};

}  // namespace banyan::traffic::storage
