#include "banyan/api/class_routing.hpp"

#include <algorithm>
#include <utility>

namespace banyan::api {
namespace {

class ClassRouting final : public core::Routing {
 public:
  struct Range {
    u32 begin = 0;
    u32 end = 0;
    std::size_t routing = 0;
    bool again = false;  ///< an earlier class has the same
  };

  ClassRouting(std::vector<Range> ranges, std::vector<std::unique_ptr<core::Routing>> routings)
      : ranges_(std::move(ranges)), routings_(std::move(routings)) {}

  /// Those of the first class, but for what all must share. A step depends on a packet's class too.
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    core::RoutingTraits traits = routings_.front()->traits();
    traits.classes = static_cast<u32>(ranges_.size());
    traits.by_destination = false;
    traits.oblivious = true;
    for (const auto& routing : routings_) {
      const core::RoutingTraits its = routing->traits();
      traits.reads_source |= its.reads_source;
      traits.reads_pending |= its.reads_pending;
      traits.random |= its.random;
      traits.in_order &= its.in_order;
      traits.oblivious &= its.in_order || its.oblivious;
    }
    return traits;
  }
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    shift(request, out, [](const core::Routing& routing, const core::RouteRequest& inner, core::Candidates& into) {
      routing.route(inner, into);
    });
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    shift(request, out, [](const core::Routing& routing, const core::RouteRequest& inner, core::Candidates& into) {
      routing.all_candidates(inner, into);
    });
  }
  void prepare(core::Packet& packet, u32 word) const noexcept override { of(packet).prepare(packet, word); }
  [[nodiscard]] u32 headers(u32 source, u32 destination) const noexcept override {
    return routings_.front()->headers(source, destination);
  }
  [[nodiscard]] std::pair<u32, u32> entry_vcs(u32 vc_class, u32) const noexcept override {
    const Range& range = ranges_[vc_class];
    return range.again ? std::pair{range.begin, range.begin} : std::pair{range.begin, range.end};
  }
  [[nodiscard]] bool represents(u32 source, u32 destination) const noexcept override {
    return routings_.front()->represents(source, destination);
  }

 private:
  [[nodiscard]] const core::Routing& of(const core::Packet& packet) const noexcept {
    return *routings_[ranges_[packet.vc_class].routing];
  }
  template <class F>
  void shift(const core::RouteRequest& request, core::Candidates& out, F&& ask) const noexcept {
    const Range& range = ranges_[request.packet->vc_class];
    core::RouteRequest inner = request;
    inner.in_vc -= range.begin;
    core::Candidates candidates;
    ask(*routings_[range.routing], inner, candidates);
    for (core::Candidate c : candidates) {
      c.vc_begin = static_cast<u8>(c.vc_begin + range.begin);
      c.vc_end = static_cast<u8>(c.vc_end + range.begin);
      out.add(c);
    }
  }

  std::vector<Range> ranges_;
  std::vector<std::unique_ptr<core::Routing>> routings_;
};

}  // namespace

std::unique_ptr<core::Routing> route_classes(const std::vector<core::Service>& services, u32 vcs,
                                             const std::function<std::unique_ptr<core::Routing>(u32 vcs)>& make) {
  std::vector<ClassRouting::Range> ranges;
  std::vector<std::unique_ptr<core::Routing>> routings;
  std::vector<u32> sizes;
  bool all = true;
  for (const core::Service& service : services) {
    ClassRouting::Range range{service.vc_begin, std::min(service.vc_end, vcs)};
    const u32 size = range.end - range.begin;
    all = all && size == vcs;
    const auto same = std::find(sizes.begin(), sizes.end(), size);
    range.routing = static_cast<std::size_t>(same - sizes.begin());
    if (same == sizes.end()) {
      sizes.push_back(size);
      routings.push_back(make(size));
    }
    range.again = std::any_of(ranges.begin(), ranges.end(), [&](const ClassRouting::Range& other) {
      return other.begin == range.begin && other.end == range.end;
    });
    ranges.push_back(range);
  }
  if (all) return make(vcs);
  return std::make_unique<ClassRouting>(std::move(ranges), std::move(routings));
}

}  // namespace banyan::api
