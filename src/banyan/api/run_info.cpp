#include "banyan/api/experiment.hpp"

namespace banyan::api {

using config::Parameter;

const config::ComponentInfo& run_info() {
  static const config::ComponentInfo info{
      "run",
      "How long to run, what to measure, and how strictly to check",
      "docs/explanation/statistics.md",
      {
          Parameter::integer("seed", 1).range(0, 9007199254740991.0).doc("Seed of all randomness"),
          Parameter::integer("sessions", 125)
              .only_with("duration", {"0"})
              .range(1, 1e9)
              .doc("Independent sessions (replications) of an experiment with a finite traffic"),
          Parameter::integer("warmup", 2000)
              .only_with("duration", {"0"})
              .unit("cycles")
              .range(0, 1e15)
              .doc("Cycles before measurement starts in a steady run"),
          Parameter::integer("measure", 20000)
              .only_with("duration", {"0"})
              .unit("cycles")
              .range(1, 1e15)
              .doc("Cycles in which generated packets are measured in a steady run"),
          Parameter::integer("extension", 0)
              .only_with("duration", {"0"})
              .range(0, 1000)
              .doc("Most times run.measure that a steady run measures whose verdict is uncertain: it goes on, twice as "
                   "long each time, until the verdict is certain and latencies stand on 20 degrees of freedom. 1: it "
                   "does not. 0: 64 where run.measure, "
                   "run.precision and run.duration are left at their defaults, otherwise 1"),
          Parameter::integer("duration", 0)
              .unit("cycles")
              .range(0, 1e15)
              .doc("Fixed length of a run without warm-up, steady state and waiting for the last packets, such as one "
                   "of traffic that changes with time; it replaces run.warmup, measure, drain, precision and sessions. "
                   "0: none"),
          Parameter::integer("settle", 0)
              .unit("cycles")
              .range(0, 1e15)
              .doc("A run of fixed length beside a disturbance (the traffics incast and congestion) ends before "
                   "run.duration: when the others' throughput is back at 95 % of what it was before, or so long after "
                   "the disturbance. Needs run.window. 0: it does not"),
          Parameter::integer("window", 0)
              .unit("cycles")
              .range(0, 1e15)
              .doc("Length of the windows of time in which a run without sessions records load, latency and packets in "
                   "the network as series. 0: no series"),
          Parameter::real("precision", 0.0)
              .only_with("duration", {"0"})
              .range(0, 0.5)
              .doc("Largest half width of an interval, as a fraction of its mean, at which a run stops itself; before, "
                   "it "
                   "goes on beyond run.measure or run.sessions. 0: it does not"),
          Parameter::integer("precision_limit", 100)
              .only_with("precision")
              .range(1, 1e6)
              .doc("Most times run.measure or run.sessions that a run with a precision may take"),
          Parameter::integer("drain", 20000)
              .only_with("duration", {"0"})
              .unit("cycles")
              .range(0, 1e15)
              .doc("Most cycles to wait for measured packets after the measurement"),
          Parameter::integer("session_limit", 1000000)
              .unit("cycles")
              .range(1, 1e15)
              .doc("A session that is not finished after so many cycles is saturated"),
          Parameter::real("confidence", 0.95).range(0.01, 0.99999).doc("Confidence of every reported interval"),
          Parameter::integer("watchdog", 10000)
              .unit("cycles")
              .range(0, 1e15)
              .doc("Cycles without any movement, with packets in the network, that count as a deadlock, beyond those "
                   "that "
                   "channels, transfers and pipelines take; 0: never"),
          Parameter::choice("audit", {"cheap", "full"}, "cheap")
              .doc("cheap: conservation at the end and destination on delivery; full: also order of delivery and all "
                   "counters of every switch, periodically"),
          Parameter::choice("step_order", {"ascending", "permuted"}, "ascending")
              .doc("Order of switches within one phase; results must not depend on it"),
          Parameter::choice("wake", {"needed", "all"}, "needed")
              .doc("all: step every switch in every cycle; results must not depend on it"),
          Parameter::integer("shards", 0)
              .range(0, 255)
              .doc("Parts that the network is cut into; 0: chosen by size. Results do not depend on it"),
          Parameter::choice("series", {"none", "occupancy", "tree", "generation", "all"}, "none")
              .doc("Time series of a session run: occupancy per stage, saturation tree, generated messages"),
          Parameter::boolean("activity", false)
              .doc("Count buffer reads and writes, crossbar and link traversals and allocations of the whole run, "
                   "warm-up included, for energy models"),
          Parameter::real("cycle_time", 0.0)
              .unit("ns")
              .range(0, 1e9)
              .doc("Length of a cycle, for switch models that give it none: then parameters in cycles may be given as "
                   "times, and results are shown in them. 0: none (docs/how-to/use-units.md)"),
          Parameter::integer("flit", 0).unit("B").range(0, 1e6).doc(
              "Size of a flit, for switch models that give it none: then parameters in flits may be given in bytes, "
              "and results are shown in them. 0: none"),
          Parameter::text("energy", "")
              .file()
              .doc("Table of costs, relative to the folder of the experiment, with which what run.activity counts "
                   "becomes "
                   "energy, and the network an area (docs/how-to/count-energy.md)"),
          Parameter::choice("tables", {"none", "channels", "flows", "all"}, "none")
              .doc("Tables of the measured part of the run: flits and utilization of every channel; packets, load and "
                   "latency of every pair of terminals"),
          Parameter::boolean("trees", false)
              .doc(
                  "Record congestion trees: their members, victims and history (docs/explanation/congestion-trees.md); "
                  "of a session run those of the first session"),
          Parameter::integer("trees_interval", 0)
              .only_with("trees")
              .unit("cycles")
              .range(0, 1e15)
              .doc("Cycles between two samples of run.trees; more than 2,048 samples are thinned. 0: 1,000, or 80 us "
                   "where the links of the switch model have a rate; doubled, and the samples thinned, where they read "
                   "more than a quarter as many packets as arrive, as long as the run keeps 12"),
          Parameter::real("trees_threshold", 1.0)
              .only_with("trees")
              .range(0.001, 1.0)
              .doc("Share of its capacity from which a buffer before a port makes the port the root of a tree"),
      }};
  return info;
}

}  // namespace banyan::api
