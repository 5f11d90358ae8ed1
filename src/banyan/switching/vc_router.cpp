// Input-queued virtual-channel router (Dally, Virtual-Channel Flow Control, 1992; Dally and Towles 2004, chapters 16
// and 17): credit flow control, wormhole or virtual cut-through, and the canonical pipeline with a delay per stage.
//
// This file declares the parameters and chooses the kernel; the kernels lie beside it: vc_router/kernel.hpp
// (its stages and what observers ask in files of their own) for the ordinary settings, vc_router/general.hpp for all.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "banyan/core/switching.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/switching/vc_router/general.hpp"
#include "banyan/switching/vc_router/kernel_stages.hpp"
#include "banyan/switching/vc_router/kernel_view.hpp"

namespace banyan::switching::vc_router {
namespace {

using parts::AllocatorKind;
using parts::ArbiterKind;
using parts::kMostPorts;
using parts::kMostVcs;
using parts::RouterSetup;

template <class Kernel>
void add_routers(engine::Builder& builder, const RouterSetup& setup) {
  for (const u32 i : builder.own_shards()) {
    static_assert(core::SwitchModel<Kernel>);
    builder.add_switches(i, std::make_unique<Kernel>(builder, i, setup), setup.ports);
  }
}

constexpr u64 kCacheBytes = 1U << 20U;  ///< of a common second level
constexpr u64 kMostBuffer = 65535;      ///< places of a virtual channel

template <bool OneWord, u32 Shift>
void add_fast_routers(engine::Builder& builder, const RouterSetup& setup) {
  if (setup.bytes > kCacheBytes && setup.buffer <= parts::LentPlaces::kMostPlaces) {
    add_routers<parts::VcRouterKernel<OneWord, Shift, true>>(builder, setup);
  } else {
    add_routers<parts::VcRouterKernel<OneWord, Shift, false>>(builder, setup);
  }
}

AllocatorKind allocator_named(const std::string& name) {
  if (name == "input_first") return AllocatorKind::input_first;
  if (name == "output_first") return AllocatorKind::output_first;
  if (name == "islip") return AllocatorKind::islip;
  if (name == "pim") return AllocatorKind::pim;
  if (name == "pim_offset") return AllocatorKind::pim_offset;
  if (name == "lonely") return AllocatorKind::lonely;
  return name == "wavefront" ? AllocatorKind::wavefront : AllocatorKind::max_size;
}

ArbiterKind arbiter_named(const std::string& name) {
  if (name == "matrix") return ArbiterKind::matrix;
  return name == "age" ? ArbiterKind::age : ArbiterKind::round_robin;
}

bool draws(AllocatorKind kind) { return kind == AllocatorKind::pim || kind == AllocatorKind::pim_offset; }

parts::AllocatorChoice read_allocator(const config::Values& values, const std::string& name,
                                      const std::string& iterations, ArbiterKind arbiter) {
  const parts::AllocatorChoice choice{allocator_named(values.text(name)), values.natural(iterations)};
  if (choice.kind == AllocatorKind::islip && arbiter != ArbiterKind::round_robin) {
    values.fail("arbiter", fmt::format("iSLIP is defined with round-robin arbiters, and {} is islip", name),
                fmt::format("set {} = \"output_first\", which is the same with any arbiter", name));
  }
  if (draws(choice.kind) && arbiter != ArbiterKind::round_robin) {
    values.fail("arbiter", fmt::format("the arbiters of {} = \"{}\" draw", name, values.text(name)),
                fmt::format("leave arbiter out, or set {} = \"output_first\"", name));
  }
  if (choice.kind == AllocatorKind::lonely && arbiter != ArbiterKind::round_robin) {
    values.fail("arbiter", fmt::format("the arbiters of {} = \"lonely\" go round", name),
                fmt::format("leave arbiter out, or set {} = \"output_first\"", name));
  }
  if (choice.kind == AllocatorKind::lonely && choice.iterations > 1) {
    values.fail(iterations, "lonely is defined with one iteration", fmt::format("leave {} out", iterations));
  }
  if (choice.iterations > 1 && (choice.kind == AllocatorKind::wavefront || choice.kind == AllocatorKind::max_size)) {
    values.fail(iterations, fmt::format("{} needs no second iteration: its matching is maximal", values.text(name)),
                fmt::format("leave {} out", iterations));
  }
  return choice;
}

void read_buffers(const config::Values& values, RouterSetup& setup) {
  setup.buffer = setup.reserved = values.natural("buffer");
  if (values.text("buffer_policy") == "private") {
    if (values.natural("reserved") != 1) {
      values.fail("reserved", "places are reserved where others are shared, and buffer_policy is private",
                  "leave reserved out, or set buffer_policy = \"shared\"");
    }
    return;
  }
  setup.reserved = values.natural("reserved");
  if (setup.reserved > setup.buffer) {
    values.fail("reserved",
                fmt::format("{} places per virtual channel cannot be reserved of {}", setup.reserved, setup.buffer),
                fmt::format("use reserved = {} or less", setup.buffer));
  }
  const u64 pool = u64{setup.vcs} * (setup.buffer - setup.reserved);
  if (setup.reserved + pool > 65535) {
    values.fail("buffer", fmt::format("a shared pool of {} flits is too large", pool), "use a smaller buffer");
  }
  setup.pool = static_cast<u32>(pool);
  setup.buffer = setup.reserved + setup.pool;
}

void read_flow(const config::Values& values, const engine::Builder& builder, RouterSetup& setup) {
  const std::string& flow = values.text("flow");
  setup.store_and_forward = flow == "store_and_forward";
  setup.cut_through = flow != "wormhole";
  const u32 longest = builder.longest_message();
  // A packet that waits for the whole of its room must not depend on what others keep in the pool.
  const u32 sure = setup.pool == 0 ? setup.buffer : setup.reserved;
  if (!setup.cut_through || longest <= sure) return;
  const std::string key = setup.pool == 0 ? "buffer" : "reserved";
  values.fail(key,
              fmt::format("{} stores whole packets, and packets of {} flits do not fit into {}", flow, longest, sure),
              fmt::format("use {} = {}, shorter packets, or flow = \"wormhole\"", key, longest));
}

void read_pipeline(const config::Values& values, RouterSetup& setup) {
  setup.pipeline = {.routing = values.natural("routing_delay"),
                    .vc_allocation = values.natural("vc_alloc_delay"),
                    .sw_allocation = values.natural("sw_alloc_delay"),
                    .traversal = values.natural("traversal_delay"),
                    .credit = values.natural("credit_delay"),
                    .source_credit = values.natural("source_credit_delay"),
                    .overlapping = values.flag("overlapping_stages")};
  setup.speculative = values.flag("speculative");
  if (!setup.speculative || (setup.pipeline.vc_allocation == 1 && setup.pipeline.sw_allocation == 1)) return;
  values.fail("speculative",
              "both allocations run side by side in one cycle when the switch is asked for speculatively",
              "set vc_alloc_delay = 1 and sw_alloc_delay = 1, or speculative = false");
}

void read_speedup(const config::Values& values, RouterSetup& setup) {
  setup.input_speedup = values.natural("input_speedup");
  setup.output_speedup = values.natural("output_speedup");
  setup.internal_speedup = values.real("internal_speedup");
  setup.output_buffer = values.natural("output_buffer");
  if (setup.output_buffer != 0 && !setup.output_queues()) {
    values.fail("output_buffer", "without speedup a flit that passes the crossbar finds its channel free",
                "leave output_buffer out, or set output_speedup or internal_speedup above 1");
  }
  if (setup.input_speedup > setup.vcs) {
    values.fail("input_speedup",
                fmt::format("{} virtual channels cannot use {} ways into the crossbar", setup.vcs, setup.input_speedup),
                fmt::format("use input_speedup = {} or less", setup.vcs));
  }
}

/// Throws ConfigError when the model cannot run the network or its traffic.
RouterSetup read_setup(const config::Values& values, const engine::Builder& builder) {
  RouterSetup setup;
  setup.ports = builder.topology().graph().most_ports();
  setup.vcs = values.natural("vcs");
  read_buffers(values, setup);
  read_flow(values, builder, setup);
  read_pipeline(values, setup);
  read_speedup(values, setup);
  setup.utilization_period = builder.settings().utilization_time;
  // Of a virtual channel the packet at the front waits for the output, and what lies behind it may want another.
  const u32 longest = std::max(1U, builder.longest_message());
  setup.marking = parts::read_marking(values, u64{setup.ports} * setup.vcs * std::min(setup.buffer, longest),
                                      u64{setup.ports} * setup.vcs * std::min<u64>(kMostBuffer, longest));
  setup.arbiter = arbiter_named(values.text("arbiter"));
  setup.vc_allocator = read_allocator(values, "vc_allocator", "vc_alloc_iterations", setup.arbiter);
  setup.sw_allocator = read_allocator(values, "sw_allocator", "sw_alloc_iterations", setup.arbiter);
  setup.hold_switch = values.flag("hold_switch_for_packet");
  setup.wait_for_tail_credit = values.flag("wait_for_tail_credit");
  setup.vc_busy_when_full = values.flag("vc_busy_when_full");

  for (const core::Traffic* traffic : builder.traffics()) {
    for (const bool replies : {false, true}) setup.priorities.push_back(traffic->service(replies).priority);
  }
  const auto none = [](u8 priority) { return priority == 0; };
  if (std::all_of(setup.priorities.begin(), setup.priorities.end(), none)) setup.priorities.clear();
  u32 cycles_per_flit = 1;
  for (const core::Channel& c : builder.topology().graph().channels()) {
    cycles_per_flit = std::max(cycles_per_flit, c.link.cycles_per_flit);
  }
  const u64 queued = !setup.output_queues()     ? 0
                     : setup.output_buffer != 0 ? setup.output_buffer + u64{setup.ports} * setup.output_speedup
                                                : u64{setup.vcs} * setup.buffer;
  setup.horizon = builder.longest_latency() +
                  std::max<Tick>({setup.pipeline.departure() + (queued + 1) * cycles_per_flit,
                                  setup.pipeline.credit_return(false), setup.pipeline.credit_return(true)}) +
                  (setup.pipeline.sequential_crossbar() ? setup.pipeline.traversal : 0);  // until the crossbar is idle
  setup.slow_channels = cycles_per_flit > 1;
  return setup;
}

/// Whether all stages overlap, or are too short to matter.
bool overlaps(const parts::Pipeline& p) {
  return p.overlapping || std::max({p.routing, p.vc_allocation, p.sw_allocation, p.traversal}) <= 1;
}

/// Whether the fast kernel does what the setup asks for.
bool ordinary(const RouterSetup& setup) {
  const auto plain = [](const parts::AllocatorChoice& c) {
    return c.kind == AllocatorKind::islip && c.iterations == 1;
  };
  return Tick{setup.pipeline.routing} + 2 <= parts::kMostAhead && plain(setup.vc_allocator) &&
         plain(setup.sw_allocator) && setup.arbiter == ArbiterKind::round_robin && setup.pipeline.vc_allocation <= 1 &&
         setup.pipeline.sw_allocation == 1 && overlaps(setup.pipeline) && !setup.speculative &&
         setup.input_speedup == 1 && !setup.output_queues() && !setup.hold_switch && !setup.wait_for_tail_credit &&
         !setup.store_and_forward && setup.pool == 0 && setup.priorities.empty() && !setup.slow_channels &&
         !setup.marking.on() && setup.utilization_period == 0;
}

/// The bytes that a virtual channel takes as an input and as an output.
template <class N>
constexpr u64 vc_bytes() {
  return sizeof(parts::InputVcOf<N>) + sizeof(parts::OutputVcOf<N>);
}

void install(const config::Values& values, engine::Builder& builder) {
  RouterSetup setup = read_setup(values, builder);
  const parts::VcLayout layout(setup.ports, setup.vcs);
  const bool fast = ordinary(setup) && values.text("kernel") != "general";
  const bool narrow = fast && layout.words() == 1 && setup.buffer <= parts::VcRouterBase<u8>::kMostPlaces;
  const u64 bytes =
      layout.size() * ((narrow ? vc_bytes<u8>() : vc_bytes<u16>()) + sizeof(parts::BufferedFlit) * u64{setup.buffer});
  setup.bytes = bytes * builder.topology().graph().switches();
  const bool alone = fast && builder.settings().threads <= 1 && builder.settings().shards == 0;
  if (builder.routing().sight() == core::Sight::network) {
    builder.partition_as_one("the routing looks at queues everywhere, so that the network is stepped as a whole",
                             "use another routing, or run it without mpirun");
  } else if (alone) {
    builder.partition_for_threads(bytes, 1);  // every router touches its neighbours without a detour
  } else if (fast && setup.bytes > kCacheBytes) {
    builder.partition_for_threads(bytes);  // blocks find their state in the cache in parts of any size
  } else {
    builder.partition_by_size(bytes);
  }
  engine::Interfaces::Setup interfaces;
  interfaces.vcs = setup.vcs;
  interfaces.credits = setup.buffer;
  interfaces.pool = setup.pool;
  interfaces.credit_delay = setup.pipeline.credit_return(false);
  interfaces.horizon = setup.horizon;
  interfaces.whole_packet = setup.cut_through;
  interfaces.wait_for_tail_credit = setup.wait_for_tail_credit;
  for (const core::Traffic* traffic : builder.traffics()) {
    for (const bool replies : {false, true}) {
      const core::Service service = traffic->service(replies);
      interfaces.classes.emplace_back(service.vc_begin, std::min(service.vc_end, setup.vcs));
    }
  }
  const std::pair<u32, u32> all{0, setup.vcs};
  if (std::all_of(interfaces.classes.begin(), interfaces.classes.end(), [&](const auto& c) { return c == all; })) {
    interfaces.classes.clear();
  }
  builder.add_interfaces(interfaces);
  if (!fast) {
    add_routers<parts::VcRouterGeneral>(builder, setup);
  } else if (narrow && layout.shift() == 3) {  // the common 5 to 8 virtual channels
    add_fast_routers<true, 3>(builder, setup);
  } else if (narrow) {
    add_fast_routers<true, parts::kAnyShift>(builder, setup);
  } else {
    add_fast_routers<false, parts::kAnyShift>(builder, setup);
  }
  builder.wire(1);  // flits traverse the crossbar, credits wait for the place to be free
}

u32 vcs(const config::Values& values) { return values.natural("vcs"); }

/// A switch allocation of several cycles that does not overlap with the next one gives every way of a port one flit in
/// that time, however many virtual channels ask. Steps of an internal speedup shorten it by an amount that depends on
/// the step in which it begins, and a packet that keeps its way does not ask.
core::Capacity capacity(const config::Values& values) {
  const bool asks_each_cycle = values.flag("overlapping_stages") || values.integer("sw_alloc_delay") == 1;
  if (asks_each_cycle || values.flag("hold_switch_for_packet") || values.real("internal_speedup") != 1.0) return {};
  const double time = static_cast<double>(values.integer("sw_alloc_delay"));
  const double in = std::min(1.0, static_cast<double>(values.integer("input_speedup")) / time);
  const double out = std::min(1.0, static_cast<double>(values.integer("output_speedup")) / time);
  return {.channel = std::min(in, out), .injection = in, .ejection = out};
}

/// Cycles from the allocation of a place behind a channel to the next one of the same place.
struct CreditRoundTrip {
  u64 latency = 0;  ///< of the channel
  bool to_terminal = false;
  u64 cycles = 1;    ///< in which the channel carries a flit
  u64 least = 0;     ///< however packets meet
  u64 alone = 0;     ///< of a packet that meets nobody, at least
  u64 enough = 0;    ///< at most
  u64 interval = 1;  ///< from one flit of a packet that meets nobody to the next, if nothing else is slower
  u64 quickest = 1;  ///< the same, at least

  /// Places with which all packets together wait for none.
  [[nodiscard]] u64 places() const { return (enough + cycles - 1) / cycles; }
  /// The same of one packet by itself.
  [[nodiscard]] u64 places_alone() const { return (enough + quickest - 1) / quickest; }
};

CreditRoundTrip credit_round_trip(const config::Values& values, const core::Channel& c) {
  const u64 allocation = values.natural("sw_alloc_delay");
  const u64 traversal = values.natural("traversal_delay");
  const bool held = values.flag("hold_switch_for_packet");
  // Steps of a cycle bring a flit, or its credit, to the end of a cycle in which it would have been in the next.
  const u64 sooner = values.real("internal_speedup") != 1.0 ? 1 : 0;
  const bool batches = !values.flag("overlapping_stages");
  CreditRoundTrip trip{
      .latency = c.link.latency_cycles, .to_terminal = c.to.terminal, .cycles = c.link.cycles_per_flit};
  const u64 wires = traversal + values.natural("credit_delay") + 2 * trip.latency + trip.cycles - 1;
  // The flit is allocated the switch here, and there. A terminal takes it at once; a packet that keeps its way is
  // allocated it once, by its head, but loses it for each flit of a slow channel.
  const u64 next = c.to.terminal ? 1 : allocation;
  const u64 further = held && trip.cycles == 1 ? 1 : allocation;
  trip.least = wires + (held ? 2 : allocation + next) - sooner;
  trip.alone = wires + further + next - sooner;
  trip.enough = wires + allocation + next;
  trip.interval = trip.cycles + further - 1;
  // Flits that wait behind the crossbar are allocated it while the channel is busy.
  const bool queued = sooner != 0 || values.natural("output_speedup") > 1;
  trip.quickest = sooner != 0 ? trip.cycles : queued ? std::max(trip.cycles, further) : trip.interval;
  // A crossbar that takes what waits when it is empty makes a flit wait for those before it, where flits follow each
  // other in fewer cycles than it takes.
  if (batches && traversal > 1) {
    trip.enough += traversal - 1;
    if (trip.quickest == 1) trip.alone += traversal - 1;
  }
  if (batches) trip.enough += allocation - 1;
  return trip;
}

/// A place of a buffer is used again when its flit has passed the switch before, crossed the channel and left, and its
/// credit has come back: a stream through fewer places than flits of that round trip pauses.
std::string credit_warning(const config::Values& values, const core::Topology& topology, u32 longest_packet) {
  CreditRoundTrip fullest;  // behind which most places are needed
  CreditRoundTrip longest;  // of a packet by itself
  u64 own = 0;              // places with which a packet by itself waits nowhere
  u64 slowest = 1;          // cycles from one flit of it to the next where it is slowest, wherever that is
  const auto fuller = [](const CreditRoundTrip& a, const CreditRoundTrip& b) {
    return a.least * b.cycles > b.least * a.cycles ||
           (a.least * b.cycles == b.least * a.cycles && a.places() > b.places());
  };
  for (const core::Channel& c : topology.graph().channels()) {
    if (c.failed) continue;
    if (c.from.terminal) {
      slowest = std::max(slowest, u64{c.link.cycles_per_flit});
      continue;
    }
    const CreditRoundTrip trip = credit_round_trip(values, c);
    if (fuller(trip, fullest)) fullest = trip;
    if (trip.alone > longest.alone) longest = trip;
    own = std::max(own, trip.places_alone());
    slowest = std::max(slowest, trip.interval);
  }
  const bool shared = values.text("buffer_policy") == "shared";
  const u64 vcs = values.natural("vcs");
  const u64 all = vcs * values.natural("buffer");
  const u64 one = shared ? all - (vcs - 1) * values.natural("reserved") : values.natural("buffer");
  const u64 together = (fullest.places() + vcs - 1) / vcs;
  // Of what is shared each has all but what the others have reserved.
  const u64 each = shared ? (own + (vcs - 1) * values.natural("reserved") + vcs - 1) / vcs : own;
  const auto with = [](u64 places, const std::string& text) {
    if (places <= kMostBuffer) return fmt::format("use switch.buffer = {}", text);
    return fmt::format("that would take a switch.buffer of {}, which has {} at most: use shorter channels", text,
                       kMostBuffer);
  };
  const auto said = [](const CreditRoundTrip& trip, u64 cycles) {
    return fmt::format("the credit round trip of a channel of latency {}{} is {} cycles{}", trip.latency,
                       trip.to_terminal ? " to a terminal" : "", cycles, cycles < trip.enough ? " or more" : "");
  };
  if (all * fullest.cycles < fullest.least) {
    const std::string remedy =
        together >= each ? with(together, std::to_string(together))
        : each <= kMostBuffer || together > kMostBuffer
            ? with(each, fmt::format("{} for full speed of all together, {} for that of each", together, each))
            : with(together, fmt::format("{} for full speed of all together", together));
    return fmt::format(
        "{}, and all virtual channels of an input port together hold {} flits: no such channel carries more than "
        "{:.3g} "
        "of its flits; {}",
        said(fullest, fullest.least), all,
        static_cast<double>(all * fullest.cycles) / static_cast<double>(fullest.least), remedy);
  }
  if (one * slowest >= longest.alone || longest_packet <= one) return {};
  return fmt::format(
      "{}, and a virtual channel holds {} flits: a packet of {} flits pauses on its way, even when it is alone; {}",
      said(longest, longest.alone), one, longest_packet, with(each, std::to_string(each)));
}

std::string warning(const config::Values& values, const core::Topology& topology, u32 longest_packet) {
  const core::Capacity most = capacity(values);
  std::string text = credit_warning(values, topology, longest_packet);
  if (most.channel == 1.0) return text;
  return fmt::format(
      "without overlapping_stages a port is granted the switch once in sw_alloc_delay = {} cycles, so that a channel "
      "carries {:.3g} flits per cycle at most; use switch.overlapping_stages = true, or switch.sw_alloc_delay = 1{}{}",
      values.integer("sw_alloc_delay"), most.channel, text.empty() ? "" : "; ", text);
}

/// The next head in a buffer is routed when the tail before it has left: the stages of the pipeline follow each other
/// once per packet, and further flits pass one switch allocation each.
/// What of the pipeline a router without turns does not have.
std::vector<std::pair<std::string, config::Value>> turn_delays() {
  return {{"routing_delay", i64{0}},
          {"vc_alloc_delay", i64{0}},
          {"sw_alloc_delay", i64{1}},
          {"speculative", false},
          {"wait_for_tail_credit", false}};
}

/// Cycles from a flit of a packet to the next through a switch: every one is allocated for itself, unless the packet
/// keeps its way through the crossbar.
double flit_time(const config::Values& values) {
  return values.flag("hold_switch_for_packet") ? 1.0 : static_cast<double>(values.integer("sw_alloc_delay"));
}

core::VcTurn vc_turn(const config::Values& values) {
  // A head that another one beats waits for the next allocation, which several cycles make longer. Of routers with all
  // delays from 0 to 4 and packets of 1, 2 and 4 flits, 1.8 times the turns of one flit filled a channel at the most.
  const bool waits = values.integer("vc_alloc_delay") > 1 || !values.flag("overlapping_stages");
  const double in_step = waits ? 2.0 : 1.0;
  const bool speculative = values.flag("speculative");
  const double vc = static_cast<double>(values.integer("vc_alloc_delay"));
  const double allocation = static_cast<double>(values.integer("sw_alloc_delay"));
  const double both = speculative ? std::max(vc, allocation) : vc + allocation;
  const double flit = flit_time(values);
  const bool held = values.flag("hold_switch_for_packet");
  const std::string rest = held ? "flits - 1" : "(flits - 1) * sw_alloc_delay";
  const double speedup = values.real("internal_speedup");
  const double routing = static_cast<double>(values.integer("routing_delay"));
  if (values.flag("wait_for_tail_credit")) {
    // From the allocation at one switch to the next there: its tail has left the switch behind, and the credit is back.
    // Terminals start their packets by other stages.
    const double wires = static_cast<double>(values.integer("traversal_delay") + values.integer("credit_delay"));
    std::string stages = std::string("routing_delay + 2 * ") +
                         (speculative ? "max(vc_alloc_delay, sw_alloc_delay)" : "(vc_alloc_delay + sw_alloc_delay)") +
                         " + " + rest;
    if (speedup != 1.0) stages = "(" + stages + ") / internal_speedup";
    return {.fixed = (routing + 2 * both - flit) / speedup + wires,
            .per_flit = flit / speedup,
            .per_latency = 2.0,
            .from_terminals = false,
            .in_step = 2.0,
            .without = turn_delays(),
            .formula = stages + " + traversal_delay + credit_delay + 2 * latency (wait_for_tail_credit)"};
  }
  const double fixed = routing + both - flit;
  std::string formula = speculative ? "routing_delay + max(vc_alloc_delay, sw_alloc_delay) + " + rest
                        : held      ? "routing_delay + vc_alloc_delay + sw_alloc_delay + flits - 1"
                                    : "routing_delay + vc_alloc_delay + flits * sw_alloc_delay";
  if (speedup != 1.0) formula = "(" + formula + ") / internal_speedup";
  return {.fixed = fixed / speedup,
          .per_flit = flit / speedup,
          .in_step = in_step,
          .without = turn_delays(),
          .formula = std::move(formula)};
}

/// Marks are drawn unless all or none are marked.
bool draws_words(const config::Values& values) {
  return draws(allocator_named(values.text("vc_allocator"))) || draws(allocator_named(values.text("sw_allocator"))) ||
         parts::draws_marks(values);
}

using config::Parameter;

constexpr double kMostDelay = 1000;

std::vector<std::string> allocators() {
  return {"input_first", "output_first", "islip", "pim", "pim_offset", "wavefront", "max_size", "lonely"};
}

core::ZeroLoad zero_load(const config::Values& values, u32 flits) {
  const auto number = [&](const char* parameter) { return static_cast<double>(values.integer(parameter)); };
  if (values.real("internal_speedup") != 1.0) {
    return {.unknown = "does not know what an internal speedup puts into one cycle",
            .remedy = "use internal_speedup = 1"};
  }
  if (flits > 1 && !values.flag("overlapping_stages")) {
    return {.unknown = "does not know how flits wait for stages that do not overlap",
            .remedy = "use overlapping_stages = true, or packets of one flit"};
  }
  const double vc = number("vc_alloc_delay");
  const double allocation = number("sw_alloc_delay");
  const double both = values.flag("speculative") ? std::max(vc, allocation) : vc + allocation;
  const double router = number("routing_delay") + number("traversal_delay") + both;
  const double rest = (flits - 1.0) * flit_time(values);
  // Stored and forwarded: the rest of the packet comes in from the terminal, and leaves every switch.
  if (values.text("flow") == "store_and_forward") {
    return {.fixed = router + (flits - 1.0) + rest, .per_hop = router + rest, .per_cycle = 1, .ends = 1};
  }
  return {.fixed = router + rest, .per_hop = router, .per_cycle = 1, .ends = 1};
}

}  // namespace

extern const core::SwitchRow row_vc_router;
const core::SwitchRow row_vc_router{
    .info =
        {"vc_router",
         "Input-queued router with virtual channels, credit flow control and a pipeline with a delay per stage",
         "W. J. Dally, Virtual-Channel Flow Control, IEEE Transactions on Parallel and Distributed Systems 3(2), 1992; "
         "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapters 16 and 17",
         parts::with_marking(
             {Parameter::integer("vcs", 8).range(1, kMostVcs).doc("Virtual channels per channel."),
              Parameter::integer("buffer", 8)
                  .unit("flits")
                  .range(1, kMostBuffer)
                  .doc("Places per virtual channel of an input port."),
              Parameter::choice("buffer_policy", {"private", "shared"}, "private")
                  .doc("shared: all virtual channels of an input port share vcs x buffer places, but for the reserved "
                       "ones."),
              Parameter::integer("reserved", 1)
                  .unit("flits")
                  .range(1, 65535)
                  .doc("Of shared buffers, the places of each virtual channel that no other may use."),
              Parameter::choice("flow", {"wormhole", "cut_through", "store_and_forward"}, "wormhole")
                  .doc("wormhole: a packet moves on when the next buffer has a place; cut_through: when it has room "
                       "for the "
                       "whole packet; store_and_forward: when, besides, its tail has arrived."),
              Parameter::integer("routing_delay", 1)
                  .unit("cycles")
                  .range(0, kMostDelay)
                  .doc("Cycles of route computation; 0: routes are known on arrival (lookahead)."),
              Parameter::integer("vc_alloc_delay", 1)
                  .unit("cycles")
                  .range(0, kMostDelay)
                  .doc("Cycles of virtual-channel allocation; 0: in the first cycle of switch allocation."),
              Parameter::integer("sw_alloc_delay", 1)
                  .unit("cycles")
                  .range(1, kMostDelay)
                  .doc("Cycles of switch allocation; a virtual channel asks again when they are over."),
              Parameter::integer("traversal_delay", 1)
                  .unit("cycles")
                  .range(0, kMostDelay)
                  .doc("Cycles through the crossbar, from the end of switch allocation to the channel."),
              Parameter::integer("credit_delay", 0)
                  .unit("cycles")
                  .range(0, kMostDelay)
                  .doc("Cycles from the arrival of a credit at a router until it counts."),
              Parameter::integer("source_credit_delay", 0)
                  .unit("cycles")
                  .range(0, kMostDelay)
                  .doc("Cycles from the arrival of a credit at a terminal until it counts; 1: as in BookSim2, where a "
                       "register between a source and its channel lengthens the round trip."),
              Parameter::boolean("overlapping_stages", true)
                  .doc("Whether a stage of several cycles takes new packets in every cycle; false: all that wait, when "
                       "it "
                       "has "
                       "finished with those before, as in BookSim2."),
              Parameter::boolean("speculative", false)
                  .doc("Whether heads ask for the switch while they ask for a virtual channel; what others leave is "
                       "granted."),
              Parameter::choice("vc_allocator", allocators(), "islip")
                  .doc("Allocator of output virtual channels to heads."),
              Parameter::integer("vc_alloc_iterations", 1).range(1, 64).doc("Iterations of a separable vc_allocator."),
              Parameter::choice("sw_allocator", allocators(), "islip").doc("Allocator of output ports to input ports."),
              Parameter::integer("sw_alloc_iterations", 1).range(1, 64).doc("Iterations of a separable sw_allocator."),
              Parameter::choice("arbiter", {"round_robin", "matrix", "age"}, "round_robin")
                  .doc("Arbiters of separable allocators: round_robin, matrix (least recently served), or age (oldest "
                       "packet)."),
              Parameter::integer("input_speedup", 1)
                  .range(1, 16)
                  .doc("Ways from an input port into the crossbar; virtual channels are dealt out to them."),
              Parameter::integer("output_speedup", 1)
                  .range(1, 16)
                  .doc("Ways from the crossbar to an output port; input ports are dealt out to them."),
              Parameter::real("internal_speedup", 1.0)
                  .range(1, 16)
                  .doc("Steps of the router per cycle of the channels."),
              Parameter::integer("output_buffer", 0)
                  .unit("flits")
                  .range(0, 65535)
                  .doc("Flits that may wait between crossbar and channel where there is speedup; 0: any number."),
              Parameter::boolean("hold_switch_for_packet", false)
                  .doc("Whether a packet keeps its way through the crossbar as long as it can send."),
              Parameter::boolean("wait_for_tail_credit", false)
                  .doc("Whether an output virtual channel, or a source's, is given again only when the buffer behind "
                       "it is "
                       "empty."),
              Parameter::boolean("vc_busy_when_full", false)
                  .doc("Whether a virtual channel without a credit is withheld from heads that ask for one."),
              Parameter::choice("kernel", {"auto", "general"}, "auto")
                  .doc("auto: the fast kernel where it can do what is asked; general: the other one, which delivers "
                       "every "
                       "packet in the same cycle.")},
             "flits")},
    .install = &install,
    .vcs = &vcs,
    .most_ports = kMostPorts,
    // A packet of one flit that asks only for what has a credit leaves as soon as it has asked.
    .shares_vcs =
        [](const config::Values& values, u32 longest_packet) {
          const bool leaves = longest_packet == 1 && values.flag("vc_busy_when_full");
          return !values.flag("wait_for_tail_credit") && !leaves;
        },
    .shares_vcs_remedy =
        "switch.wait_for_tail_credit = true, with which a virtual channel takes its next packet only when the credit "
        "of the last flit is back: short packets need several times as many virtual channels for the same throughput",
    .sight = core::Sight::network,
    .writes_utilization = true,
    .serves_classes = true,
    .warning = &warning,
    .draws_nothing = true,
    .draws = &draws_words,
    .hop_cost = {.flit = 60e-9, .most_of_flits = std::numeric_limits<double>::infinity()},  // flits, one by one
    .vc_turn = &vc_turn,
    .capacity = &capacity,
    .zero_load = &zero_load,
    .memory =
        [](const config::Values& values, const core::NetworkSize& size, double) {
          // Measured on grids of 128 x 128 with full buffers, 1 to 16 virtual channels of 1 to 64 flits: within 10 % of
          // this, and a fifth more where the general kernel runs. Lightly loaded they take two thirds of it.
          const auto vcs = static_cast<double>(values.natural("vcs"));
          constexpr double kPage = 4096.0;
          const double buffers =
              std::min(sizeof(parts::BufferedFlit) * vcs * static_cast<double>(values.natural("buffer")),
                       sizeof(parts::BufferedFlit) * size.moved / size.inputs + vcs * kPage);
          return size.inputs * (330.0 + vcs * 50.0 + buffers);
        }};

}  // namespace banyan::switching::vc_router
