// A token bucket per pair of terminals: tokens come at a fixed rate, up to so many, and a packet takes one per flit.
// What a flow did not use it may send at once later, unlike with `rate`.
#include <algorithm>
#include <cmath>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/core/admission.hpp"

namespace banyan::admission::token_bucket {
namespace {

/// A bucket is kept as the time at which it would be full again, in parts of a tick, so that any rate is kept exactly.
constexpr u32 kPartBits = 20;

class TokenBucket final : public core::Admission {
 public:
  TokenBucket(double rate, u32 size)
      : parts_per_flit_(static_cast<u64>(std::llround(std::ldexp(1.0, kPartBits) / rate))),
        size_(u64{size} * parts_per_flit_) {}

  void begin() override { full_at_.clear(); }
  void archive(Archive& a) override { a(full_at_); }
  [[nodiscard]] u64 flow_key(const core::FlowMember& member) const noexcept override { return member.destination; }
  void open(u32 end, const core::FlowEnd&) override { full_at_.resize(std::size_t{end} + 1); }

  /// A packet that is longer than the bucket leaves when that is full.
  [[nodiscard]] Tick may_send(u32 end, const core::Departure& next, Tick now) const noexcept override {
    const u64 spare = size_ - std::min(size_, next.flits * parts_per_flit_);
    const u64 part = full_at_[end] > spare ? full_at_[end] - spare : 0;
    return std::max((part + (u64{1} << kPartBits) - 1) >> kPartBits, now);
  }
  /// A bucket that became full since the last tick keeps what has come since: packets leave at whole ticks only.
  void sent(u32 end, const core::Departure& what, Tick now, core::Pace&) noexcept override {
    const u64 part = now << kPartBits;
    if (full_at_[end] + (u64{1} << kPartBits) <= part) full_at_[end] = part;
    full_at_[end] += what.flits * parts_per_flit_;
  }

  [[nodiscard]] u64 digest(u32 end) const noexcept override { return mix64(full_at_[end] + 1); }
  [[nodiscard]] std::string explain(u32 end) const override {
    return "its bucket is full at tick " + std::to_string(full_at_[end] >> kPartBits);
  }

 private:
  u64 parts_per_flit_;
  u64 size_;                  ///< in parts of a tick
  std::vector<u64> full_at_;  ///< [end]
};

std::unique_ptr<core::Admission> make(const config::Values& values, const core::AdmissionContext&) {
  return std::make_unique<TokenBucket>(values.real("rate"), values.natural("size"));
}

using config::Parameter;

}  // namespace

extern const core::AdmissionRow row_token_bucket;
const core::AdmissionRow row_token_bucket{
    .info = {"token_bucket",
             "A flow sends what tokens it has saved, which come at a fixed rate",
             "J. S. Turner, New Directions in Communications (or Which Way to the Information Age?), IEEE "
             "Communications Magazine 24(10), 1986",
             {Parameter::real("rate", 0.25)
                  .unit("flits/cycle")
                  .range(1e-6, 1.0)
                  .doc("At which tokens of one flit come, for every pair of terminals"),
              Parameter::integer("size", 16).unit("flits").range(1, 1'000'000).doc("Tokens that a flow can save")}},
    .make = &make};

}  // namespace banyan::admission::token_bucket
