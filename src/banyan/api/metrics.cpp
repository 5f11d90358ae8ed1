#include "banyan/api/metrics.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "banyan/api/result.hpp"

namespace banyan::api {
namespace {

constexpr std::string_view kCounted = "at the sink, over packets generated in the measured part";
constexpr std::string_view kMulticast = "at the sink, over messages generated in the measured part";
constexpr std::string_view kWhole = "over the whole run, warm-up and drain included";
constexpr std::string_view kEnergy = "with run.energy; over the whole run, warm-up and drain included";
constexpr std::string_view kSessions = "over all sessions, from the first generation to the last arrival";
constexpr std::string_view kFire = "beside a traffic that disturbs, with run.window";
constexpr std::string_view kRecn = "switch cioq with a RECN queue scheme; over the whole run";
constexpr std::string_view kTreesSession = "in sessions with run.series = \"tree\" or \"all\", each cycle";
constexpr std::string_view kTrees = "with run.trees, at the samples";
constexpr std::string_view kOfJobs = "in runs of jobs";
constexpr std::string_view kModel = "not counted: an analytical model of the experiment says so";
constexpr std::string_view kSeriesWindow = "with run.window, in every window of time";

// Sorted by name.
constexpr MetricRow kRows[] = {
    {"acceptance", "", "Predicted: share of the requests that an unbuffered network accepts.",
     "unbuffered_throughput / offered load", kModel},
    {"accepted_load", "flits/cycle/terminal", "Flits that arrive at their destinations.",
     "arrived flits / (cycles x terminals)",
     "at the sink, in the measured cycles, whenever the packets were generated"},
    {"accepted_load_fairness", "Jain's index", "How evenly the sources are served: 1 is evenly, 1/n is one alone.",
     "(sum x)^2 / (n sum x^2) over the flits x that the network took from each of n sources",
     "at the source queues, in the measured cycles"},
    {"accepted_load_min", "flits/cycle",
     "What the source that gets least into the network gets in: above accepted_load while memory at the sources or the "
     "network fills.",
     "least over sources of (flits taken / cycles)", "at the source queues, in the measured cycles"},
    {"area", "", "Area of the network, by the table of costs.", "sum over parts of (number x cost)",
     "with run.energy; of the graph"},
    {"aside.*", "cycles", "When RECN first set a queue aside at that port.", "first cycle", "switch cioq with its log"},
    {"buffer_reads", "flits", "Flits read from buffers of switches.", "a count", "with run.activity; whole run"},
    {"buffer_writes", "flits", "Flits written into buffers of switches.", "a count", "with run.activity; whole run"},
    {"channel_utilization_max", "of channels between switches", "The busiest channel between switches.",
     "greatest over channels of (busy cycles / cycles)", "with run.tables, in the measured cycles"},
    {"channel_utilization_mean", "of channels between switches", "The mean channel between switches.",
     "mean over channels of (busy cycles / cycles)", "with run.tables, in the measured cycles"},
    {"circuit_first", "cycles", "Predicted: first data over a circuit, in an empty network.",
     "docs/analysis/transport_times.md", kModel},
    {"circuit_last", "cycles", "Predicted: last data over a circuit, in an empty network.",
     "docs/analysis/transport_times.md", kModel},
    {"collision_*", "probability", "Predicted: that two messages want the same first link of a hypercube.",
     "docs/analysis/first_step_collision.md", kModel},
    {"combined_requests", "requests", "Fetch-and-adds that were combined with another on their way.", "a count",
     "switch output_queued with combining; whole run"},
    {"combined_worms", "worms", "Worms that ended in a switch where another one carries on what they brought.",
     "a count", "switch central_buffer; whole run"},
    {"completion", "ns",
     "When the last job is done, in cycles where these have no length; of one job its name is behind it.",
     "greatest over ranks of the end", kOfJobs},
    {"completion_time", "cycles",
     "From the first generation to the last arrival of a finite traffic; with a receiver that consumes, from "
     "generation to the end of consumption of a message.",
     "mean over sessions of (last arrival - first birth), or over messages of (consumed - birth)",
     "sessions without a synchronization; switches packet_node and circuit with a consumption time"},
    {"congestion_tree_depth_most", "switches", "Switches on the longest branch of a congestion tree.",
     "greatest over trees and samples", kTrees},
    {"congestion_tree_life_most", "cycles", "How long the congestion tree that lived longest was seen.",
     "greatest over trees of (last sample - first sample + interval of the samples)", kTrees},
    {"congestion_tree_members_most", "buffers", "Buffers in the largest congestion tree.",
     "greatest over trees and samples", kTrees},
    {"congestion_tree_victims_most", "packets",
     "Packets that wait behind others of a tree although they do not go to its root.",
     "greatest over trees and samples", kTrees},
    {"congestion_trees_most", "trees", "Congestion trees at one time.", "greatest over samples", kTrees},
    {"control_share", "", "Share of the flits in which ends of flows tell each other something.",
     "flits of control packets / all flits", "with an admission that tells in packets"},
    {"crossbar_traversals", "flits", "Flits that cross a crossbar.", "a count", "with run.activity; whole run"},
    {"cycle_length", "ns", "How long a cycle lasts, where the switch model says.",
     "given by the parameters of the switch", "not counted"},
    {"datagram_first", "cycles", "Predicted: first data of a datagram, in an empty network.",
     "docs/analysis/transport_times.md", kModel},
    {"datagram_last", "cycles", "Predicted: last data of a datagram, in an empty network.",
     "docs/analysis/transport_times.md", kModel},
    {"delivered_flits", "flits", "Flits that arrived.", "a count", kWhole},
    {"delivered_packets", "packets", "Packets that arrived; of several destinations each counts.", "a count", kWhole},
    {"detected.*", "cycles", "When RECN first saw congestion at that port.", "first cycle", "switch cioq with its log"},
    {"detections_egress", "events", "Congestion detected in output queues.", "a count", kRecn},
    {"detections_ingress", "events", "Congestion detected in input queues.", "a count", kRecn},
    {"deterministic", "", "1: sessions are equal by construction, and means are exact.", "1",
     "sessions without randomness"},
    {"energy", "", "What the network spends, by the table of costs and in its unit.", "energy_dynamic + energy_static",
     kEnergy},
    {"energy_dynamic", "", "What the events of the network cost.", "sum over events of (number x cost)", kEnergy},
    {"energy_per_bit", "", "What a bit costs that is delivered, where run.flit says how many bytes a flit has.",
     "energy / (delivered flits x run.flit x 8)", kEnergy},
    {"energy_per_cycle", "", "Mean power: with energies in pJ and cycles of 1 ns, mW.", "energy / simulated cycles",
     kEnergy},
    {"energy_per_flit", "", "What a flit costs that is delivered.", "energy / delivered flits", kEnergy},
    {"energy_static", "", "What the parts of the network cost in every cycle, whatever they do.",
     "sum over parts of (number x cost) x simulated cycles", kEnergy},
    {"fairness", "Jain's index", "How evenly the senders of a disturbance were served.",
     "(sum x)^2 / (n sum x^2) over the rates x of n streams", kFire},
    {"false_marks", "of marks", "Marks on packets that go through no root of a congestion tree.",
     "marked packets through no root / marked packets", "with run.trees and a switch that marks"},
    {"fetch_adds", "requests",
     "Fetch-and-adds of the words of a hot spot whose values came back, those that were combined on the way too.",
     "a count", "switch output_queued; whole run"},
    {"flit_hops", "hops",
     "Flits, or packets where the model moves them as wholes, times switches that they passed (output_queued: times "
     "channels, that to the terminal included; ideal: once): the work of the simulation.",
     "a count", kWhole},
    {"flit_size", "B", "How large a flit is, where the experiment says.", "given by run.flit", "not counted"},
    {"generated_hot_background", "packets/cycle", "Series: background messages generated for the hot spot.",
     "mean over sessions, by cycle after the begin", "run.series = \"generation\" or \"all\""},
    {"generated_synchronization", "packets/cycle", "Series: messages of the synchronization that are generated.",
     "mean over sessions, by cycle after the begin", "run.series = \"generation\" or \"all\""},
    {"head_latency", "cycles", "From leaving the source queue to the arrival of the first flit.",
     "first flit arrives - first flit leaves the source", kCounted},
    {"header_bit_string", "flits", "Predicted: header of a multicast that names its destinations by bits.",
     "docs/analysis/multicast_phases.md", kModel},
    {"header_multiport", "flits", "Predicted: header of a multicast that names ports stage by stage.",
     "docs/analysis/multicast_phases.md", kModel},
    {"hops", "switches", "Switches that a packet passes; none where the model has no switches (ideal).",
     "mean over packets", kCounted},
    {"incast_completion_first", "cycles", "How long the fastest sender of a disturbance takes.",
     "least over streams of (last arrival - start)", kFire},
    {"incast_completion_last", "cycles", "How long the slowest sender of a disturbance takes.",
     "greatest over streams of (last arrival - start)", kFire},
    {"incast_completion_median", "cycles", "How long the median sender of a disturbance takes.",
     "median over streams of (last arrival - start)", kFire},
    {"incast_unfinished", "streams", "Senders of a disturbance that were not done at the end of the run.", "a count",
     kFire},
    {"large_switch_throughput", "flits/cycle/terminal",
     "Predicted: throughput of a large switch with queues at its inputs.", "2 - sqrt(2)", kModel},
    {"link_traversals", "flits", "Flits that cross a link.", "a count", "with run.activity; whole run"},
    {"lowest_throughput", "flits/cycle", "The worst window of time from the begin of a disturbance on.",
     "least over windows of throughput", kFire},
    {"marked", "", "Share of the packets that arrive with a mark of a switch.", "marked packets / packets",
     "at the sink, with an admission"},
    {"measured_cycles", "cycles", "Length of the measurement where it was extended for the verdict or for latencies.",
     "a count", "with run.extension"},
    {"memory_operations", "operations",
     "What memories did for the fetch-and-adds of the words of a hot spot: one for all that were combined to one.",
     "a count", "switch output_queued; whole run"},
    {"message_bytes", "B", "What the messages of jobs carry.", "sum over sends", kOfJobs},
    {"message_latency_first", "cycles", "From generation to the arrival of the first packet of a message.",
     "first packet arrives - birth", kMulticast},
    {"message_latency_last", "cycles", "From generation to the arrival of the last packet of a message.",
     "last packet arrives - birth", kMulticast},
    {"messages", "messages", "Messages of jobs.", "a count of sends", kOfJobs},
    {"mu_bg_hs", "cycles", "Delay of background messages to the hot spot (Wang et al. 1992).",
     "latency - switches passed", "at the sink, over messages generated in a session"},
    {"mu_bg_tot", "cycles", "Delay of all background messages (Wang et al. 1992).", "latency - switches passed",
     "at the sink, over messages generated in a session"},
    {"mu_syn", "cycles", "Delay of messages of the synchronization (Wang et al. 1992).", "latency - switches passed",
     "at the sink, over messages generated in a session"},
    {"multicast_latency_last", "cycles", "From generation until a multicast has arrived everywhere.",
     "last arrival - birth", kMulticast},
    {"multicast_latency_mean", "cycles", "From generation to the mean arrival of a multicast.",
     "mean over destinations of (arrival - birth)", kMulticast},
    {"multiplexing_degree", "circuits", "Circuits that share a channel that is used (Dally's degree).",
     "sum v^2 / sum v over channels with v circuits", "switch circuit, in the measured cycles"},
    {"network_latency", "cycles", "Time in the network.", "packet_latency - source_queueing", kCounted},
    {"notifications_rejected", "messages", "RECN notifications for which no queue was free.", "a count", kRecn},
    {"notifications_to_sources", "words", "RECN notifications of roots that were sent to the sources of their traffic.",
     "a count", kRecn},
    {"occupancy_level_*", "packets",
     "Series: packets in the buffers of a stage; of packet_node buffers in use, also those kept for a packet on its "
     "way.",
     "mean over sessions, by cycle after the begin", "run.series = \"occupancy\" or \"all\""},
    {"offered_load", "flits/cycle/terminal", "Flits that are generated.", "generated flits / (cycles x terminals)",
     "at the sources, in the measured cycles; what waits in source queues included"},
    {"operations", "operations", "Operations of jobs that ended.", "a count", kOfJobs},
    {"packet_first", "cycles", "Predicted: first data of a message cut into packets, in an empty network.",
     "docs/analysis/transport_times.md", kModel},
    {"packet_hops", "hops", "Packets times switches that they passed.", "a count", "switch packet_node; whole run"},
    {"packet_last", "cycles", "Predicted: last data of a message cut into packets, in an empty network.",
     "docs/analysis/transport_times.md", kModel},
    {"packet_latency", "cycles", "From generation to the arrival of the last flit.",
     "last flit arrives - birth; = source_queueing + head_latency + serialization_latency", kCounted},
    {"packet_latency_max", "cycles", "The greatest packet latency.", "greatest over packets", kCounted},
    {"packet_latency_p50", "cycles", "Half of the packets are faster.",
     "median, from a histogram of bounded relative error", kCounted},
    {"packet_latency_p95", "cycles", "95 % of the packets are faster.",
     "quantile 0.95, from a histogram of bounded relative error", kCounted},
    {"packet_latency_p99", "cycles", "99 % of the packets are faster.",
     "quantile 0.99, from a histogram of bounded relative error", kCounted},
    {"packet_moves", "moves", "Moves of packets or flits between switches: the work of the simulation.", "a count",
     kSessions},
    {"packets_in_network", "packets", "Series: packets between source queue and destination.",
     "mean over the cycles of the window", kSeriesWindow},
    {"packets_left", "packets", "Packets that were in the network at the end of a run of fixed length.",
     "packets that entered - packets that arrived", "with run.duration"},
    {"pause_headroom_most", "B", "Most bytes of a class above its pause threshold.", "greatest",
     "switch cioq with priority flow control; whole run"},
    {"pauses", "frames", "Pause frames that stop a class.", "a count",
     "switch cioq with priority flow control; whole run"},
    {"phases_*", "phases", "Predicted: phases in which a multicast reaches its destinations.",
     "docs/analysis/multicast_phases.md", kModel},
    {"received_load", "flits/cycle/terminal", "Flits that arrive, each copy of a multicast by itself.",
     "arrived flits / (cycles x terminals)",
     "at the sink, in the measured cycles, where messages have several destinations"},
    {"receiver_stall", "cycles", "For which a receiver waits for the next packet of a message that it consumes.",
     "mean over messages", "switch packet_node with a consumption time"},
    {"receiver_stalls", "per message", "How often a receiver waits for the next packet of a message that it consumes.",
     "mean over messages", "switch packet_node with a consumption time"},
    {"recovery_time", "cycles", "From the end of a disturbance until the throughput is back.",
     "begin of the first of three windows with 95 % of throughput_before, less a packet - end of the disturbance",
     kFire},
    {"reductions", "reductions", "Reductions in the network that turned round where all have met.", "a count",
     "switch central_buffer; whole run"},
    {"root.*", "lines", "Roots of congestion that RECN knew at that port.", "a count", "switch cioq with its log"},
    {"roots_egress", "ports", "Output ports that are roots of a congestion tree at the end.", "a count", kRecn},
    {"roots_ingress", "ports", "Input ports that are roots of a congestion tree at the end.", "a count", kRecn},
    {"saq_most_after_xoff", "packets", "Most packets that came into a set-aside queue after it said stop.", "greatest",
     kRecn},
    {"saq_most_packets", "packets", "Most packets in one set-aside queue.", "greatest", kRecn},
    {"saqs_allocated", "queues", "Set-aside queues that were allocated.", "a count", kRecn},
    {"saqs_at_end", "queues", "Set-aside queues in use at the end.", "a count", kRecn},
    {"saqs_freed", "queues", "Set-aside queues that were given back.", "a count", kRecn},
    {"saqs_most_per_port", "queues", "Most set-aside queues of one port at a time.", "greatest", kRecn},
    {"saturation_load", "flits/cycle/terminal", "Predicted: the load from which on the model has no steady state.",
     "docs/analysis/circuit_torus.md", kModel},
    {"serialization_latency", "cycles", "From the arrival of the first flit to that of the last.",
     "last flit arrives - first flit arrives", kCounted},
    {"service_time", "cycles", "For which a message occupies a server of its source.",
     "tail leaves the source - message leaves its source queue", "switch circuit, over measured messages"},
    {"service_time_squared", "cycles^2", "Second moment of service_time, for queueing models.", "mean of the square",
     "switch circuit, over measured messages"},
    {"session_background", "packets", "Background messages of a session.", "mean over sessions", kSessions},
    {"session_bandwidth", "packets/cycle", "Packets of all traffics that arrive while a session lasts.",
     "arrivals from its first message to its last arrival / cycles, over all sessions", kSessions},
    {"session_cycles", "cycles", "From the first message of a synchronization to its last arrival.",
     "mean over sessions of (end - begin)", kSessions},
    {"session_hot_background", "packets", "Background messages to the hot spot in a session.", "mean over sessions",
     kSessions},
    {"sessions", "sessions", "Sessions that were run.", "a count", kSessions},
    {"setup_attempts", "attempts", "Times that a header was sent until its circuit was set up.", "mean over messages",
     "switch circuit, over measured messages"},
    {"setup_latency", "cycles", "Until the circuit of a message is set up, repeated attempts included.",
     "circuit is set up - message leaves its source queue", "switch circuit, over measured messages"},
    {"simulated_cycles", "cycles", "Cycles that were simulated.", "a count", kWhole},
    {"skipped_messages", "messages", "Messages that were not generated because as many waited as traffic.limit allows.",
     "a count", "switch cioq; whole run"},
    {"slowdown_alone", "", "How much longer a job takes beside the others and the background than without them.",
     "(completion - start) / the same of the job alone", kOfJobs},
    {"slowdown_ideal", "", "How much longer a job takes than without contention.",
     "(completion - start) / the same on a network where no message waits", kOfJobs},
    {"source_backlog", "flits", "Series: flits that wait at their sources.",
     "generated - taken, at the end of the window", kSeriesWindow},
    {"source_queueing", "cycles", "Time in the source queue.", "first flit leaves the source - birth", kCounted},
    {"take_overs", "packets",
     "Passing packets that took a link while a message of its own node was first and could not start.", "a count",
     "switch packet_node; whole run"},
    {"terminal_cycles", "terminal cycles", "Cycles times terminals: the work of the simulation.",
     "simulated_cycles x terminals", kSessions},
    {"throughput", "flits/cycle", "Series: flits that arrive, of the whole network.",
     "arrived flits / cycles of the window", kSeriesWindow},
    {"throughput_after", "flits/cycle", "What the other traffics get through after a disturbance.",
     "mean over the windows after its end", kFire},
    {"throughput_before", "flits/cycle", "What the other traffics get through before a disturbance.",
     "mean over the windows of the second half of the time before it", kFire},
    {"throughput_during", "flits/cycle", "What the other traffics get through during a disturbance.",
     "mean over the windows from its begin to its end", kFire},
    {"tree_boxes", "switches", "Switches in the saturation tree.", "sum over cycles / cycles", kTreesSession},
    {"tree_boxes_outside", "switches",
     "Switches of the tree that do not lead to its root by the first input of the last box.",
     "sum over cycles / cycles", kTreesSession},
    {"tree_height", "stages", "Height of the saturation tree: links from its root to the box furthest away.",
     "sum over cycles / cycles", kTreesSession},
    {"tree_height_most", "stages", "Greatest height of the saturation tree in a session.", "mean over sessions",
     kTreesSession},
    {"unbuffered_throughput", "flits/cycle/terminal", "Predicted: throughput of a network without buffers.",
     "p_(i+1) = 1 - (1 - p_i / b)^b per stage of b x b switches", kModel},
    {"unicast_latency", "cycles", "Latency of messages with one destination, of a traffic that also multicasts.",
     "arrival - birth", kMulticast},
    {"vc_allocations", "packets", "Packets that were given a virtual channel by a switch.", "a count",
     "with run.activity; whole run"},
    {"victim_latency_p99", "cycles",
     "Of the slowest bystander: 99 % of its packets to others than the receivers are faster. Known to within 0.8 %, "
     "3 % above 4,096 terminals.",
     "greatest over bystanders of quantile 0.99", kFire},
    {"virtual_circuit_first", "cycles", "Predicted: first data over a virtual circuit, in an empty network.",
     "docs/analysis/transport_times.md", kModel},
    {"virtual_circuit_last", "cycles", "Predicted: last data over a virtual circuit, in an empty network.",
     "docs/analysis/transport_times.md", kModel},
    {"wait_behind_flows", "cycles",
     "By which messages came late into their flows, because those of their queue were full.",
     "sum of (message enters its flow - birth)", "with an admission; whole run"},
    {"wait_buffer_peak", "requests", "Most requests in one wait buffer.", "greatest",
     "switch output_queued with combining"},
    {"worms_multiport", "worms", "Predicted: worms that a multicast with multiport headers needs.",
     "docs/analysis/multicast_phases.md", kModel},
};

constexpr std::string_view kBookSim = "booksim2_";

/// Quantities of models that no run measures and no row tells.
constexpr MetricRow kOfModel{"NAME@MODEL", "", "Predicted: a quantity of the model alone.", "the page of the model",
                             kModel};

const MetricRow* find_exactly(std::string_view name) {
  for (const MetricRow& row : kRows) {
    const bool open = row.name.ends_with('*');
    if (row.name == name || (open && name.starts_with(row.name.substr(0, row.name.size() - 1)))) return &row;
  }
  return nullptr;
}

}  // namespace

std::span<const MetricRow> metric_rows() { return kRows; }

const MetricRow* find_metric(std::string_view printed) {
  if (const MetricRow* row = find_exactly(printed)) return row;
  // What "run --booksim" adds beside the metric that it is.
  if (printed.starts_with(kBookSim)) printed.remove_prefix(kBookSim.size());
  const std::size_t at = printed.find(kPredictedBy);
  const std::string_view name = printed.substr(0, at);
  for (const std::string_view known : {name, name.substr(0, name.find('.'))}) {
    if (const MetricRow* row = find_exactly(known)) return row;
  }
  return at == std::string_view::npos ? nullptr : &kOfModel;
}

std::string to_text(const MetricRow& row) {
  return fmt::format("metric {}{}\n  {}\n  Formula: {}\n  Counted: {}\n", row.name,
                     row.unit.empty() ? "" : fmt::format(" [{}]", row.unit), row.definition, row.formula, row.counted);
}

std::string metrics_text() {
  std::size_t width = 0;
  for (const MetricRow& row : kRows) width = std::max(width, row.name.size());
  std::string text = "Metrics\n";
  for (const MetricRow& row : kRows) {
    text += fmt::format("  {:<{}}  {}{}\n", row.name, width, row.definition,
                        row.unit.empty() ? "" : fmt::format(" [{}]", row.unit));
  }
  return text + "\n\"banyan describe NAME\" tells the formula of one of them, and where it is counted.\n";
}

std::string metrics_markdown() {
  std::string text =
      "# Metrics\n\nEvery name that a result can print. A traffic's own metric has the traffic's name behind it "
      "(`packet_latency.uniform`), a model's prediction the model's (`packet_latency@kruskal_snir`), what BookSim2 "
      "would "
      "print `booksim2_` before it. Means have intervals: [how a mean gets its "
      "interval](../explanation/statistics.md).\n\n"
      "| metric | unit | means | formula | counted |\n|---|---|---|---|---|\n";
  for (const MetricRow& row : kRows) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.name, row.unit, row.definition, row.formula, row.counted);
  }
  return text;
}

}  // namespace banyan::api
