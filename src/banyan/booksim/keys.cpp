#include "banyan/booksim/keys.hpp"

#include <algorithm>
#include <iterator>

namespace banyan::booksim {
namespace {

constexpr Silent kDead = Silent::always;
constexpr std::string_view kOutput = "it only says what BookSim2 prints";
constexpr std::string_view kPower = "it belongs to BookSim2's power model, which is off";
constexpr std::string_view kUnread = "nothing in BookSim2 reads it";
constexpr std::string_view kShared = "shared buffers of BookSim2 are not mapped";
constexpr std::string_view kStop =
    "BookSim2 stops when successive samples differ by less; Banyan measures all samples and gives an interval";
constexpr std::string_view kRequests = "there are no requests and replies without use_read_write";

constexpr std::string_view kBatch = "a batch is generated as fast as its packets leave";

constexpr Key kKeys[] = {
    {"topology", "torus"},
    {"k", "8"},
    {"n", "2"},
    {"c", "1", Silent::always, "this topology has one terminal per router"},
    {"routing_function", "none"},
    {"use_noc_latency", "1", Silent::always, "channels of this topology have one latency either way"},
    {"x", "8", Silent::always, "it only lays out topologies with concentration"},
    {"y", "8", Silent::always, "it only lays out topologies with concentration"},
    {"xr", "1", Silent::always, "it only lays out topologies with concentration"},
    {"yr", "1", Silent::always, "it only lays out topologies with concentration"},
    {"network_file", "", Silent::always, "only the topology anynet reads it"},
    {"channel_file", "", kDead, kUnread},
    {"subnets", "1"},
    {"link_failures", "0", Silent::never,
     "it does not run in BookSim2 either; Banyan's topologies take lists of faults"},
    {"fail_seed", "0", Silent::always, "there are no link failures"},
    {"in_ports", "5", kDead, kUnread},
    {"out_ports", "5", kDead, kUnread},
    {"router", "iq", Silent::never, "the event and chaos routers do not run in BookSim2 either"},
    {"output_delay", "0", kDead, kUnread},
    {"credit_delay", "0"},
    {"internal_speedup", "1.0"},
    {"output_buffer_size", "-1"},
    {"noq", "0"},
    {"speculative", "0"},
    {"spec_check_elig", "1", Silent::always, "it only matters to speculative routers"},
    {"spec_check_cred", "1", Silent::always, "it only matters to speculative routers"},
    {"spec_mask_by_reqs", "0", Silent::always, "it only matters to speculative routers"},
    {"spec_sw_allocator", "prio", Silent::always, "it only matters to speculative routers"},
    {"num_vcs", "16"},
    {"vc_buf_size", "8"},
    {"buf_size", "-1", Silent::never, kShared},
    {"buffer_policy", "private", Silent::never, kShared},
    {"private_bufs", "-1", Silent::never, kShared},
    {"private_buf_size", "1", Silent::never, kShared},
    {"private_buf_start_vc", "-1", Silent::never, kShared},
    {"private_buf_end_vc", "-1", Silent::never, kShared},
    {"max_held_slots", "-1", Silent::never, kShared},
    {"feedback_aging_scale", "1", Silent::never, kShared},
    {"feedback_offset", "0", Silent::never, kShared},
    {"wait_for_tail_credit", "0"},
    {"vc_busy_when_full", "0"},
    {"vc_prioritize_empty", "0"},
    {"vc_priority_donation", "0"},
    {"vc_shuffle_requests", "0"},
    {"hold_switch_for_packet", "0"},
    {"input_speedup", "1"},
    {"output_speedup", "1"},
    {"routing_delay", "1"},
    {"vc_alloc_delay", "1"},
    {"sw_alloc_delay", "1"},
    {"st_prepare_delay", "0"},
    {"st_final_delay", "1"},
    {"vct", "0", Silent::always, "only the event router reads it"},
    {"vc_allocator", "islip"},
    {"sw_allocator", "islip"},
    {"arb_type", "round_robin", kDead, "a dead key of BookSim2: its arbiters are round-robin whatever it says"},
    {"alloc_iters", "1", kDead, "a dead key of BookSim2: only a number in parentheses counts, as in islip(4)"},
    {"classes", "1"},
    {"traffic", "uniform"},
    {"class_priority", "0", Silent::always, "priorities are off"},
    {"perm_seed", "0", Silent::always, "there is no random permutation"},
    {"injection_rate", "0.1", Silent::always, kBatch},
    {"injection_rate_uses_flits", "0", Silent::always, kBatch},
    {"packet_size", "1", Silent::always, "requests and replies have lengths of their own"},
    {"packet_size_rate", "1", Silent::always,
     "it weighs several lengths of packet_size, and requests and replies have their own"},
    {"injection_process", "bernoulli"},
    {"burst_alpha", "0.5", Silent::always, "the injection process has no bursts"},
    {"burst_beta", "0.5", Silent::always, "the injection process has no bursts"},
    {"burst_r1", "-1.0", Silent::always, "the injection process has no bursts"},
    {"priority", "none"},
    {"batch_size", "1000", Silent::always, "it is not a batch"},
    {"batch_count", "1", Silent::always, "it is not a batch"},
    {"max_outstanding_requests", "0", Silent::always, "BookSim2 limits requests in batches only"},
    {"use_read_write", "0"},
    {"write_fraction", "0.5", Silent::always, kRequests},
    {"read_request_begin_vc", "0", Silent::always, kRequests},
    {"read_request_end_vc", "5", Silent::always, kRequests},
    {"write_request_begin_vc", "2", Silent::always, kRequests},
    {"write_request_end_vc", "7", Silent::always, kRequests},
    {"read_reply_begin_vc", "8", Silent::always, kRequests},
    {"read_reply_end_vc", "13", Silent::always, kRequests},
    {"write_reply_begin_vc", "10", Silent::always, kRequests},
    {"write_reply_end_vc", "15", Silent::always, kRequests},
    {"read_request_subnet", "0", Silent::always, kRequests},
    {"read_reply_subnet", "0", Silent::always, kRequests},
    {"write_request_subnet", "0", Silent::always, kRequests},
    {"write_reply_subnet", "0", Silent::always, kRequests},
    {"read_request_size", "1", Silent::always, kRequests},
    {"write_request_size", "1", Silent::always, kRequests},
    {"read_reply_size", "1", Silent::always, kRequests},
    {"write_reply_size", "1", Silent::always, kRequests},
    {"sim_type", "latency"},
    {"warmup_periods", "3"},
    {"sample_period", "1000"},
    {"max_samples", "10"},
    {"measure_stats", "1", Silent::never, "all traffics are measured"},
    {"pair_stats", "0", kDead, kOutput},
    {"latency_thres", "500.0", Silent::always,
     "BookSim2 gives up at this latency; Banyan calls a run saturated when the source queues grow"},
    {"warmup_thres", "0.05", Silent::always, "BookSim2 reads it only without warmup_periods"},
    {"acc_warmup_thres", "0.05", Silent::always, "BookSim2 reads it only without warmup_periods"},
    {"stopping_thres", "0.05", Silent::always, kStop},
    {"acc_stopping_thres", "0.05", Silent::always, kStop},
    {"sim_count", "1"},
    {"include_queuing", "1"},
    {"seed", "0"},
    {"print_activity", "0", kDead, kOutput},
    {"print_csv_results", "0", kDead, kOutput},
    {"deadlock_warn_timeout", "256", kDead, "it only says when BookSim2 warns; Banyan's watchdog finds the cycle"},
    {"viewer_trace", "0", kDead, kOutput},
    {"watch_file", "", kDead, kOutput},
    {"watch_flits", "", kDead, kOutput},
    {"watch_packets", "", kDead, kOutput},
    {"watch_transactions", "", kDead, kOutput},
    {"watch_out", "", kDead, kOutput},
    {"stats_out", "", kDead, kOutput},
    {"sent_packets_out", "", kDead, kOutput},
    {"sim_power", "0", Silent::never, "there is no power model"},
    {"power_output_file", "pwr_tmp", Silent::always, kPower},
    {"tech_file", "", Silent::always, kPower},
    {"channel_width", "128", Silent::always, kPower},
    {"channel_sweep", "0", Silent::always, kPower},
};

}  // namespace

std::span<const Key> keys() { return kKeys; }

const Key* find_key(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKeys), std::end(kKeys), [&](const Key& k) { return k.name == name; });
  return found == std::end(kKeys) ? nullptr : found;
}

}  // namespace banyan::booksim
