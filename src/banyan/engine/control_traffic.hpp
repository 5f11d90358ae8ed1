// What the ends of flows tell each other in packets (core::Carrier), as a traffic behind those of the experiment: it
// has a cursor per source queue, service classes and an index like any other, and is posted to by the flows.
#pragma once

#include "banyan/core/admission.hpp"
#include "banyan/core/traffic.hpp"

namespace banyan::engine {

class ControlTraffic final : public core::Traffic {
 public:
  ControlTraffic(u32 flits, u8 priority) : flits_(flits), priority_(priority) {}

  void begin(u32) override {}
  [[nodiscard]] bool next(u32, u64, Tick, core::Message&) const noexcept override { return false; }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    return {.answers = true, .longest_message = flits_, .shortest_message = flits_, .random = false};
  }
  void archive(Archive&) override {}
  [[nodiscard]] core::Service service(bool) const noexcept override { return {.priority = priority_}; }

 private:
  u32 flits_;
  u8 priority_;
};

}  // namespace banyan::engine
