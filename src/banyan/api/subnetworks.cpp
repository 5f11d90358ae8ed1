#include "banyan/api/subnetworks.hpp"

#include <fmt/core.h>

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"

namespace banyan::api {
namespace {

constexpr Stream kCopies{"subnetworks: which one takes a message"};

class Copies final : public core::Topology {
 public:
  Copies(std::unique_ptr<core::Topology> one, u32 copies) : one_(std::move(one)) {
    subnetworks_ = copies;
    const core::Graph& graph = one_->graph();
    graph_ = core::Graph(graph.terminals() * copies);
    for (u32 s = 0; s < graph.switches(); ++s) {
      for (u32 i = 0; i < copies; ++i) graph_.add_switch(graph.inputs(s), graph.outputs(s), graph.level(s));
    }
    for (const core::Channel& c : graph.channels()) {
      for (u32 i = 0; i < copies; ++i) {
        const auto in_copy = [&](core::End end) {
          end.node = end.node * copies + i;
          return end;
        };
        const u32 channel = graph_.add_channel(in_copy(c.from), in_copy(c.to), c.link);
        if (c.failed) graph_.fail_channel(channel);
      }
    }
  }

  [[nodiscard]] const core::Topology& one_subnetwork() const override { return *one_; }
  [[nodiscard]] std::string label(u32 switch_) const override {
    return fmt::format("{} of subnetwork {}", one_->label(switch_ / subnetworks_), switch_ % subnetworks_);
  }
  [[nodiscard]] std::vector<u32> coordinates(u32 switch_) const override {
    std::vector<u32> all = one_->coordinates(switch_ / subnetworks_);
    all.push_back(switch_ % subnetworks_);
    return all;
  }
  [[nodiscard]] std::string port_label(u32 switch_, u32 port) const override {
    return one_->port_label(switch_ / subnetworks_, port);
  }

 private:
  std::unique_ptr<core::Topology> one_;
};

/// A packet as the one network knows it.
core::Packet in_one(const core::Packet& packet, u32 copies) noexcept {
  core::Packet inner = packet;
  inner.source /= copies;
  inner.destination /= copies;
  return inner;
}

class CopiedRouting final : public core::Routing {
 public:
  CopiedRouting(std::unique_ptr<core::Routing> one, u32 copies) : one_(std::move(one)), copies_(copies) {}

  [[nodiscard]] core::RoutingTraits traits() const noexcept override { return one_->traits(); }
  /// Visits of copies are visits of the one network: the ports are the same.
  void steps(std::span<const core::Visit> visits, core::Candidate* out) const noexcept override {
    std::array<core::Visit, 64> inner;
    for (std::size_t first = 0; first < visits.size(); first += inner.size()) {
      const std::size_t count = std::min(inner.size(), visits.size() - first);
      for (std::size_t k = 0; k < count; ++k) {
        inner[k] = {visits[first + k].at / copies_, visits[first + k].destination / copies_};
      }
      one_->steps({inner.data(), count}, out + first);
    }
  }
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    ask(request, [&](const core::RouteRequest& inner) { one_->route(inner, out); });
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    ask(request, [&](const core::RouteRequest& inner) { one_->all_candidates(inner, out); });
  }
  void prepare(core::Packet& packet, u32 word) const noexcept override {
    const std::pair<u32, u32> outer{packet.source, packet.destination};
    packet.source /= copies_;
    packet.destination /= copies_;
    one_->prepare(packet, word);
    std::tie(packet.source, packet.destination) = outer;
  }
  [[nodiscard]] u32 headers(u32 source, u32 destination) const noexcept override {
    return one_->headers(source / copies_, destination / copies_);
  }
  [[nodiscard]] std::pair<u32, u32> entry_vcs(u32 vc_class, u32 vcs) const noexcept override {
    return one_->entry_vcs(vc_class, vcs);
  }
  [[nodiscard]] bool represents(u32 source, u32 destination) const noexcept override {
    return one_->represents(source / copies_, destination / copies_);
  }

 private:
  /// The queues of one of the copies.
  class Queues final : public core::Occupancy {
   public:
    Queues(const core::Occupancy* all, u32 copies, u32 copy) : all_(all), copies_(copies), copy_(copy) {}
    [[nodiscard]] u32 used(u32 switch_, u32 port) const noexcept override {
      return all_->used(switch_ * copies_ + copy_, port);
    }

   private:
    const core::Occupancy* all_;
    u32 copies_;
    u32 copy_;
  };

  template <class F>
  void ask(const core::RouteRequest& request, F&& f) const noexcept {
    const core::Packet packet = in_one(*request.packet, copies_);
    const Queues queues(request.occupancy, copies_, request.at % copies_);
    core::RouteRequest inner = request;
    inner.at = request.at / copies_;
    inner.packet = &packet;
    inner.occupancy = request.occupancy == nullptr ? nullptr : &queues;
    f(inner);
  }

  std::unique_ptr<core::Routing> one_;
  u32 copies_;
};

/// Terminal t of the traffic has terminal t * copies + i in the i-th copy. What the traffic remembers of t is touched
/// by the calls for all of these: they live in one shard.
class DividedTraffic final : public core::Traffic {
 public:
  DividedTraffic(std::unique_ptr<core::Traffic> one, u32 copies, u32 index, u64 seed)
      : one_(std::move(one)),
        copies_(copies),
        index_(index),
        seed_(seed),
        fixed_{one_->service(false).subnetwork, one_->service(true).subnetwork} {}

  void begin(u32 replication) override {
    one_->begin(replication);
    random_ = Random(seed_, kCopies, index_, replication);
  }
  bool next(u32 terminal, u64 nth, Tick previous, core::Message& out) const noexcept override {
    const u32 copy = terminal % copies_;
    if (fixed_[0] != kNone && fixed_[0] != copy) return false;
    if (!one_->next(terminal / copies_, nth, previous, out)) return false;
    out.elsewhere = copy_of(terminal / copies_, nth, out) != copy;
    out.destination = out.destination * copies_ + copy;
    return true;
  }
  void archive(Archive& a) override { a(*one_); }
  core::TrafficTraits traits() const noexcept override {
    core::TrafficTraits traits = one_->traits();
    traits.sifts = true;
    traits.random |= fixed_[0] == kNone || (traits.answers && fixed_[1] == kNone);
    return traits;
  }
  void start(u32 terminal, core::Outbox& out) noexcept override {
    if (terminal % copies_ != 0) return;
    Dividing dividing(*this, terminal / copies_, out);
    one_->start(terminal / copies_, dividing);
  }
  void departed(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override {
    Dividing dividing(*this, terminal / copies_, out);
    one_->departed(in_one(packet, copies_), terminal / copies_, now, dividing);
  }
  void kept(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override {
    Dividing dividing(*this, terminal / copies_, out);
    one_->kept(in_one(packet, copies_), terminal / copies_, now, dividing);
  }
  void delivered(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override {
    Dividing dividing(*this, terminal / copies_, out);
    one_->delivered(in_one(packet, copies_), terminal / copies_, now, dividing);
  }
  u64 digest(u32 terminal) const noexcept override {
    return terminal % copies_ == 0 ? one_->digest(terminal / copies_) : 0;
  }
  std::string violation() const override { return one_->violation(); }

  core::MulticastGroup multicast_of(const core::Packet& packet) const noexcept override {
    return one_->multicast_of(in_one(packet, copies_));
  }
  core::Service service(bool replies) const noexcept override { return one_->service(replies); }
  double offered_load() const noexcept override { return one_->offered_load(); }
  u32 waiting_limit(u32 terminal) const noexcept override { return one_->waiting_limit(terminal / copies_); }
  Stream stream(u32 number) const noexcept override { return one_->stream(number); }
  u32 stream_of(const core::Packet& packet) const noexcept override { return one_->stream_of(in_one(packet, copies_)); }
  bool pending(u32 terminal, Tick at) const noexcept override { return one_->pending(terminal / copies_, at); }

 private:
  /// Puts what the traffic posts at a terminal behind the source queue of the right copy.
  class Dividing final : public core::Outbox {
   public:
    Dividing(const DividedTraffic& traffic, u32 terminal, core::Outbox& out)
        : traffic_(traffic), terminal_(terminal), out_(out) {}
    void post(const core::Message& message) noexcept override {
      const u32 copy = traffic_.copy_of(terminal_, message.tag, message);
      core::Message there = message;
      there.destination = message.destination * traffic_.copies_ + copy;
      out_.post_at(terminal_ * traffic_.copies_ + copy, there);
    }

   private:
    const DividedTraffic& traffic_;
    u32 terminal_;
    core::Outbox& out_;
  };

  [[nodiscard]] u32 copy_of(u32 terminal, u64 number, const core::Message& message) const noexcept {
    const u32 fixed = fixed_[(message.flags & core::kReply) != 0 ? 1 : 0];
    if (fixed != kNone) return fixed;
    return below(core::words_of(random_, terminal, index_, number, message)[0], copies_);
  }

  std::unique_ptr<core::Traffic> one_;
  u32 copies_;
  u32 index_;
  u64 seed_;
  Random random_;
  std::array<u32, 2> fixed_;  ///< of messages, and of replies; kNone: random
};

}  // namespace

std::unique_ptr<core::Topology> replicate(std::unique_ptr<core::Topology> one, u32 copies) {
  return std::make_unique<Copies>(std::move(one), copies);
}

std::unique_ptr<core::Routing> replicate(std::unique_ptr<core::Routing> one, u32 copies) {
  return std::make_unique<CopiedRouting>(std::move(one), copies);
}

std::unique_ptr<core::Traffic> divide(std::unique_ptr<core::Traffic> one, u32 copies, u32 index, u64 seed) {
  return std::make_unique<DividedTraffic>(std::move(one), copies, index, seed);
}

}  // namespace banyan::api
