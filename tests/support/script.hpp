// A traffic that generates exactly the messages of a script: for tests in cycles.
#pragma once

#include <algorithm>
#include <vector>

#include "banyan/core/traffic.hpp"

namespace banyan::test {

/// Messages as a list. Births of one source ascend; messages of one birth keep the order of the list.
class Script final : public core::Traffic {
 public:
  struct Line {
    u32 source = 0;
    Tick birth = 0;
    u32 destination = 0;
    u32 flits = 1;
  };

  explicit Script(u32 terminals, const std::vector<Line>& lines = {}) : of_source_(terminals) {
    for (const Line& line : lines) send(line.source, line.destination, line.birth, line.flits);
  }

  void send(u32 source, u32 destination, Tick birth, u32 flits) {
    of_source_.at(source).push_back({birth, destination, flits, 0, 0});
    traits_.longest_message = std::max(traits_.longest_message, flits);
  }
  /// For scripts that are written anew after a machine was built on them: as long as messages may become.
  void announce(u32 longest_message) { traits_.longest_message = longest_message; }
  void clear() {
    for (std::vector<core::Message>& messages : of_source_) messages.clear();
  }
  /// Cuts messages into packets.
  void cut(u32 longest_packet) { traits_.longest_packet = longest_packet; }

  void begin(u32) override {}
  bool next(u32 terminal, u64 nth, Tick, core::Message& out) const noexcept override {
    if (nth >= of_source_[terminal].size()) return false;
    out = of_source_[terminal][nth];
    return true;
  }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override { return traits_; }

 private:
  std::vector<std::vector<core::Message>> of_source_;
  core::TrafficTraits traits_ = {.longest_message = 1};
};

}  // namespace banyan::test
