// What every pattern of destinations is, but for the destinations: messages from an Injection, without end or in a
// batch, answered or not.
#pragma once

#include <span>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/traffic/parts/injection.hpp"

namespace banyan::traffic {

class Pattern : public core::Traffic {
 public:
  static std::vector<config::Parameter> parameters();

  Pattern(const config::Values& values, const core::TrafficContext& context);

  void begin(u32 replication) override;
  bool next(u32 terminal, u64 nth, Tick previous, core::Message& out) const noexcept final;
  double offered_load() const noexcept override;
  bool demands(u32 terminal, std::span<double> flits) const override;
  core::TrafficTraits traits() const noexcept override;

  core::Service service(bool replies) const noexcept final { return replies ? reply_service_ : service_; }
  void start(u32 terminal, core::Outbox& out) noexcept override;
  void departed(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override;
  void kept(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override;
  void delivered(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override;
  bool unposted(u32 terminal, u64 ahead, core::Message& out) const noexcept override;
  u64 digest(u32 terminal) const noexcept override;
  std::string violation() const override;
  void archive(Archive& a) final { a(sources_); }

 protected:
  /// The destination of the nth message of a terminal that sends; `words` are random.
  [[nodiscard]] virtual u32 destination(u32 terminal, u64 nth, const Words& words) const noexcept = 0;
  /// Adds the probability of each destination of a terminal that sends, times `weight`.
  virtual void add_shares(u32 terminal, double weight, std::span<double> shares) const = 0;
  /// The same for all terminals alike, for the terminal itself only if it may send to itself.
  static void add_uniform(u32 terminal, double weight, bool include_self, std::span<double> shares);
  /// False when destination() does not read its words.
  [[nodiscard]] virtual bool draws_destinations() const noexcept { return true; }
  /// TrafficTraits::keeps_phase.
  [[nodiscard]] double keeps_phase() const;
  /// False for terminals that never send.
  [[nodiscard]] virtual bool sends(u32 terminal) const noexcept {
    static_cast<void>(terminal);
    return true;
  }

  Random choices_;  ///< for patterns that need more than one word for a destination

 private:
  /// What is kept of a terminal of an answered pattern.
  struct Source {
    u64 generated = 0;       ///< requests
    Tick previous = kNever;  ///< birth of the last one
    u32 outstanding = 0;     ///< requests that left the source and are not answered yet
    u32 state = 0;           ///< core::Message::state
    bool waits = false;      ///< a request is posted and has not left the source
    bool kept = false;       ///< the switch model keeps messages: they leave the source when it takes them
  };

  void check(const config::Values& values);
  void read_services(const config::Values& values);
  [[nodiscard]] u64 count_messages() const noexcept;
  void leave(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept;
  void generate(u32 terminal, Tick earliest, core::Outbox& out) noexcept;
  [[nodiscard]] u32 reply_flits(u32 request_flits) const noexcept;

  Injection injection_;
  core::Service service_;
  core::Service reply_service_;
  u64 seed_;
  u32 index_;
  Random replies_words_;
  u64 batch_;
  u64 total_ = 0;                ///< of a batch, replies included
  u32 outstanding_;              ///< kNone: no limit
  std::vector<u32> reply_size_;  ///< one for all, or by the index of the request's length in a list of sizes
  bool replies_ = false;
  Tick reply_delay_;
  std::vector<u32> sizes_;  ///< the list that reply_size_ goes with, where it has several
  u32 terminals_;
  std::vector<Source> sources_;
};

}  // namespace banyan::traffic
