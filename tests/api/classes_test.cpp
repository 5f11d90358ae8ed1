// Traffic classes: do priorities and virtual channels of their own do what they promise?
#include <gtest/gtest.h>

#include <string>

#include "api/runs.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api::classes_test {
namespace {

double mean_of(const Result& result, const std::string& name) {
  const stats::Metric* const metric = result.find(name);
  EXPECT_NE(metric, nullptr) << name;
  return metric == nullptr ? 0.0 : metric->mean;
}

const std::string kTwoClasses = R"(
topology = { name = "mesh", size = [4, 4] }
switch = { name = "vc_router", vcs = 4, buffer = 4 }
routing = { name = "dimension_order" }
run = { warmup = 500, measure = 4000, audit = "full" }
[[traffic]]
name = "uniform"
load = 0.3
size = 4
[[traffic]]
name = "uniform"
load = 0.2
size = 4
priority = 1
)";

const std::string kRequests = R"(
topology = { name = "torus", size = [4, 4] }
switch = { name = "vc_router", vcs = 8, buffer = 4 }
routing = { name = "dimension_order" }
run = { warmup = 500, measure = 3000, audit = "full" }
[[traffic]]
name = "uniform"
load = 0.08
size = 1
reply_size = [4]
vc_range = [0, 3]
reply_vc_range = [4, 7]
)";

TEST(Classes, APriorityShortensTheWaysOfItsMessages) {
  for (const char* allocator : {"islip", "pim", "input_first", "wavefront", "max_size"}) {
    const std::string choice = allocator;
    const Result result = run_of(kTwoClasses, {"switch.vc_allocator=" + choice, "switch.sw_allocator=" + choice});
    const double low = mean_of(result, "packet_latency.0");
    const double high = mean_of(result, "packet_latency.1");
    EXPECT_LT(high, 0.9 * low) << allocator;
    const Result equal =
        run_of(kTwoClasses, {"traffic.1.priority=0", "switch.vc_allocator=" + choice, "switch.sw_allocator=" + choice});
    EXPECT_NEAR(mean_of(equal, "packet_latency.1") / mean_of(equal, "packet_latency.0"), 1.0, 0.1) << allocator;
    EXPECT_LT(high, mean_of(equal, "packet_latency.1")) << allocator;
  }
}

TEST(Classes, EqualPrioritiesAreNone) {
  const Result none = run_of(kTwoClasses, {"traffic.1.priority=0"});
  const Result equal = run_of(kTwoClasses, {"traffic.0.priority=3", "traffic.1.priority=3"});
  EXPECT_EQ(mean_of(none, "packet_latency"), mean_of(equal, "packet_latency"));
}

TEST(Classes, RequestsAndRepliesKeepToTheirVirtualChannels) {
  const Result result = run_of(kRequests);
  EXPECT_EQ(result.verdict, Verdict::steady);
  // Alone on half of the virtual channels, requests that nobody answers do as in a router that has only those.
  const Overrides alone{"traffic.0.reply_size=[0]", "traffic.0.reply_vc_range=[]"};
  Overrides half = alone;
  half.insert(half.end(), {"traffic.0.vc_range=[]", "switch.vcs=4"});
  EXPECT_EQ(mean_of(run_of(kRequests, alone), "packet_latency"), mean_of(run_of(kRequests, half), "packet_latency"));
}

TEST(Classes, RangesThatDoNotFitAreRefused) {
  EXPECT_THROW(run_of(kRequests, {"traffic.0.vc_range=[0, 8]"}), ConfigError);
  EXPECT_THROW(run_of(kRequests, {"traffic.0.vc_range=[3, 2]"}), ConfigError);
  EXPECT_THROW(run_of(kRequests, {"traffic.0.vc_range=[0, 0]"}), ConfigError) << "a torus needs two";
  EXPECT_THROW(run_of(kRequests, {"traffic.0.reply_size=[0]"}), ConfigError) << "there are no replies";
}

}  // namespace
}  // namespace banyan::api::classes_test
