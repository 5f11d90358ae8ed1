// A traffic that generates exactly the messages of a script: for tests in cycles.
#pragma once

#include <algorithm>
#include <vector>

#include "banyan/core/traffic.hpp"

namespace banyan::test {

struct Scripted {
  u32 source = 0;
  Tick birth = 0;
  u32 destination = 0;
  u32 flits = 1;
};

/// Messages of one source are generated in the order of their birth; those of one birth in script order.
class ScriptedTraffic final : public core::Traffic {
 public:
  ScriptedTraffic(u32 terminals, const std::vector<Scripted>& script) : of_source_(terminals) {
    for (const Scripted& s : script) {
      of_source_.at(s.source).push_back({s.birth, s.destination, s.flits, 0, 0});
      longest_ = std::max(longest_, s.flits);
    }
  }

  void begin(u32) override {}
  bool next(u32 terminal, u64 nth, Tick, core::Message& out) const noexcept override {
    if (nth >= of_source_[terminal].size()) return false;
    out = of_source_[terminal][nth];
    return true;
  }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override { return {.longest_message = longest_}; }

 private:
  std::vector<std::vector<core::Message>> of_source_;
  u32 longest_ = 1;
};

}  // namespace banyan::test
