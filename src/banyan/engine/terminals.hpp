// The endpoints of one shard: a source and a sink per terminal, and one recorder for all. A switch model is given them,
// takes packets from `source`, and tells `sink` what arrived.
#pragma once

#include <utility>

#include "banyan/base/archive.hpp"
#include "banyan/engine/endpoint_plan.hpp"
#include "banyan/engine/recorder.hpp"
#include "banyan/engine/sink.hpp"
#include "banyan/engine/source.hpp"

namespace banyan::engine {

class Terminals {
 public:
  using Setup = EndpointSetup;

  explicit Terminals(Setup setup)
      : plan_(std::move(setup)), recorder(plan_), source(plan_, recorder), sink(plan_, recorder, source) {}
  Terminals(const Terminals&) = delete;
  Terminals& operator=(const Terminals&) = delete;

  /// Starts a replication at tick 0 (the traffics have begun it already).
  void reset(u32 replication) {
    recorder.reset();
    sink.reset();
    source.reset(replication);
  }

  /// Source queues of this shard: a "local terminal" is one of them. The queues of a terminal are neighbours.
  [[nodiscard]] u32 size() const noexcept { return plan_.size(); }
  [[nodiscard]] u32 queues() const noexcept { return plan_.queues; }
  [[nodiscard]] u32 global(u32 local) const noexcept { return plan_.terminals[local]; }
  [[nodiscard]] PacketPool& pool() noexcept { return source.pool(); }
  [[nodiscard]] const PacketPool& pool() const noexcept { return source.pool(); }
  [[nodiscard]] u64 digest() const noexcept { return source.digest() + sink.digest(); }
  void archive(Archive& a) {
    a.same(size());
    a(recorder, source, sink);
  }

 private:
  EndpointPlan plan_;

 public:
  Recorder recorder;
  Source source;
  Sink sink;
};

}  // namespace banyan::engine
