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
  [[nodiscard]] core::TagFormat tag_format() const noexcept override { return routings_.front()->tag_format(); }
  [[nodiscard]] u32 headers(u32 source, u32 destination) const noexcept override {
    return routings_.front()->headers(source, destination);
  }
  [[nodiscard]] u32 classes() const noexcept override { return static_cast<u32>(ranges_.size()); }
  [[nodiscard]] std::pair<u32, u32> entry_vcs(u32 vc_class, u32) const noexcept override {
    const Range& range = ranges_[vc_class];
    return range.again ? std::pair{range.begin, range.begin} : std::pair{range.begin, range.end};
  }
  [[nodiscard]] bool represents(u32 source, u32 destination) const noexcept override {
    return routings_.front()->represents(source, destination);
  }
  [[nodiscard]] bool reads_source() const noexcept override {
    return any([](const core::Routing& routing) { return routing.reads_source(); });
  }
  [[nodiscard]] core::Sight sight() const noexcept override { return routings_.front()->sight(); }
  [[nodiscard]] u32 required_vcs() const noexcept override { return routings_.front()->required_vcs(); }
  [[nodiscard]] bool random() const noexcept override {
    return any([](const core::Routing& routing) { return routing.random(); });
  }
  [[nodiscard]] bool in_order() const noexcept override {
    return !any([](const core::Routing& routing) { return !routing.in_order(); });
  }

 private:
  [[nodiscard]] const core::Routing& of(const core::Packet& packet) const noexcept {
    return *routings_[ranges_[packet.vc_class].routing];
  }
  template <class F>
  [[nodiscard]] bool any(F&& f) const noexcept {
    return std::any_of(routings_.begin(), routings_.end(), [&](const auto& routing) { return f(*routing); });
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
