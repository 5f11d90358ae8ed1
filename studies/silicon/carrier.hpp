// What brings requests and data from node to node: Banyan's networks, or one of the models that they are compared with.
#pragma once

#include <memory>
#include <vector>

#include "banyan/base/types.hpp"
#include "chip.hpp"

namespace banyan::study::silicon {

/// A request, or the data that answer it.
struct Message {
  u64 read = 0;  ///< the caller's number
  u32 noc = 0;
  u32 from = 0;  ///< nodes
  u32 to = 0;
  u32 bytes = 0;  ///< of data; 0: a request
  Tick at = 0;    ///< when it comes to its port
};

struct Arrival {
  u64 read = 0;
  bool data = false;
  Tick at = 0;  ///< of its last flit
};

class Carrier {
 public:
  Carrier() = default;
  virtual ~Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  /// `message.at` is not before the end of the last run_until().
  virtual void send(const Message& message) = 0;
  /// Appends what arrives before `end`.
  virtual void run_until(Tick end, std::vector<Arrival>& arrivals) = 0;
};

/// Flits of a message, with the header of every packet.
[[nodiscard]] u32 flits_of(u32 bytes);
/// Cycles from the port of a node to that of another where nobody is in the way, of a message's first flit.
[[nodiscard]] u32 way_latency(u32 noc, u32 from, u32 to, const Constants& constants);

/// Banyan: two SteppedNetworks, built once. They may be used again for another trace after reset().
class Networks final : public Carrier {
 public:
  explicit Networks(const Constants& constants);
  ~Networks() override;
  void reset();
  void send(const Message& message) override;
  void run_until(Tick end, std::vector<Arrival>& arrivals) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Nobody waits for anybody.
[[nodiscard]] std::unique_ptr<Carrier> zero_load(const Constants& constants);
/// Data flow like water: at every moment each message has its max-min fair share of source port, links and
/// destination port on its way. Requests find nobody in their way.
[[nodiscard]] std::unique_ptr<Carrier> max_min(const Constants& constants);

}  // namespace banyan::study::silicon
