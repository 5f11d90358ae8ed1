#include "banyan/booksim/booksim.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "banyan/booksim/converter.hpp"
#include "banyan/booksim/keys.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::booksim {
namespace {

/// What a number is at least of which no single parameter is made, which would be refused itself.
constexpr std::pair<const char*, double> kLeast[]{
    {"k", 1}, {"n", 1}, {"c", 1}, {"classes", 1}, {"sample_period", 1}, {"max_samples", 1}};

}  // namespace

bool Conversion::complete() const {
  return std::none_of(remarks.begin(), remarks.end(), [](const Remark& r) { return r.kind == Remark::Kind::unmapped; });
}

Conversion convert(const std::vector<Setting>& settings, const std::string& name) {
  return Converter(settings, name).convert();
}

Converter::Converter(const std::vector<Setting>& settings, std::string name) : name_(std::move(name)) {
  for (const Setting& s : settings) {
    if (!values_.contains(s.key)) order_.push_back(s.key);
    values_[s.key] = s;
  }
}

Conversion Converter::convert() {
  for (const std::string& key : order_) {
    if (find_key(key) != nullptr) continue;
    std::vector<std::string> names;
    for (const Key& known : keys()) names.emplace_back(known.name);
    const std::string near = config::suggestion(key, names, "there are");
    unmapped(key, "BookSim2 has no such key and stops" +
                      (near.starts_with("did") ? "; " + near.substr(0, near.find('?') + 1) : ""));
    read_.insert(key);
  }
  for (const auto& [key, least] : kLeast) {
    if (!given(key) || find_key(key) == nullptr) continue;
    for (const std::string& each : elements(setting(key).value, key)) {
      if (number(each, key) >= least) continue;
      throw ConfigError(setting(key).where, fmt::format("{} is {}", key, each),
                        fmt::format("write {:g} or more", least));
    }
  }
  if (const std::string router = setting("router").value; router != "iq" && router != "event" && router != "chaos") {
    throw ConfigError(setting("router").where, fmt::format("BookSim2 has no router \"{}\"", router),
                      "write router = iq, which is the one that runs");
  }
  read_topology();
  read_routing();
  read_router();
  read_run();
  read_traffics();
  explain_rest();
  const auto place = [&](const Remark& r) {
    return std::find(order_.begin(), order_.end(), r.setting.key) - order_.begin();
  };
  std::stable_sort(remarks_.begin(), remarks_.end(),
                   [&](const Remark& a, const Remark& b) { return place(a) < place(b); });
  Conversion conversion{{}, remarks_, {}};
  if (possible_) write(conversion);
  return conversion;
}

Setting Converter::setting(std::string_view key) const {
  const auto found = values_.find(std::string(key));
  if (found != values_.end()) return found->second;
  return {std::string(key), std::string(find_key(key)->fallback), {"BookSim2's default", 0, 0, ""}};
}

std::string Converter::text(std::string_view key) {
  reading_ = key;
  read_.insert(reading_);
  return setting(key).value;
}

double Converter::number(const std::string& text, std::string_view key) const {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(value)) return value;
  throw ConfigError(setting(key).where, fmt::format("{} is \"{}\"", key, text), "write a number");
}

double Converter::real(std::string_view key) { return number(text(key), key); }

i64 Converter::integer(std::string_view key) {
  const double value = real(key);
  if (value != std::floor(value) || std::fabs(value) > 1e15) {
    throw ConfigError(setting(key).where, fmt::format("{} is {}", key, setting(key).value), "write a whole number");
  }
  return static_cast<i64>(value);
}

std::string Converter::of_class(std::string_view key, std::size_t index) {
  const std::vector<std::string> all = elements(text(key), key);
  return all[std::min(index, all.size() - 1)];
}

std::vector<std::string> Converter::elements(const std::string& text, std::string_view key) const {
  return elements_of(text, setting(key).where);
}

Converter::Call Converter::call_of(const std::string& text, std::string_view key) const {
  const std::size_t open = text.find('(');
  if (open == std::string::npos) return {text, {}};
  const std::string name = text.substr(0, open);
  if (text.back() != ')') {
    throw ConfigError(setting(key).where,
                      fmt::format("\"{}\" stands behind the arguments of {}", text.substr(text.rfind(')') + 1), name),
                      fmt::format("write {}({{...}})", name));
  }
  const std::string inside = text.substr(open + 1, text.size() - open - 2);
  if (!inside.starts_with('{') && inside.find(',') != std::string::npos) {
    throw ConfigError(setting(key).where,
                      fmt::format("the arguments of {} are not in braces: BookSim2 takes the first alone", name),
                      fmt::format("write {}({{{}}})", name, inside));
  }
  return {name, elements(inside, key)};
}

void Converter::unmapped(std::string_view key, std::string reason) {
  remarks_.push_back({Remark::Kind::unmapped, setting(key), std::move(reason)});
}
void Converter::impossible(std::string_view key, std::string reason) {
  unmapped(key, std::move(reason));
  possible_ = false;
}
void Converter::differs(std::string_view key, std::string reason) {
  remarks_.push_back({Remark::Kind::differs, setting(key), std::move(reason)});
}
void Converter::no_effect(std::string_view key, std::string reason) {
  if (given(key)) remarks_.push_back({Remark::Kind::no_effect, setting(key), std::move(reason)});
}

// --- router --------------------------------------------------------------------------------------------------------

void Converter::pass_router_key(const char* key, const char* target, const char* neutral, const char* reason) {
  const std::string value = text(key);
  const config::ComponentInfo& router = *find_info(core::switching_rows(), "vc_router");
  const config::Parameter* parameter = config::find_parameter(router, target);
  if (parameter == nullptr) {
    if (number(value, key) != number(neutral, key)) unmapped(key, reason);
    return;
  }
  switch (parameter->type) {
    case config::Type::boolean:
      switch_.set(target, flag(key) ? "true" : "false");
      break;
    case config::Type::real:
      switch_.set(target, fmt::format("{}", real(key)));
      break;
    default:
      switch_.set(target, fmt::format("{}", integer(key)));
  }
}

void Converter::read_router() {
  switch_.name = "vc_router";
  if (text("router") != "iq") impossible("router", std::string(find_key("router")->reason));
  read_buffers();
  read_pipeline();
  pass_router_key("vc_busy_when_full", "vc_busy_when_full", "0", "vc_router gives such virtual channels away");
  pass_router_key("wait_for_tail_credit", "wait_for_tail_credit", "0",
                  "vc_router gives a virtual channel to the next packet as soon as the tail has left");
  pass_router_key("hold_switch_for_packet", "hold_switch_for_packet", "0",
                  "vc_router allocates the switch flit by flit");
  pass_router_key("input_speedup", "input_speedup", "1", "vc_router has no input speedup");
  pass_router_key("output_speedup", "output_speedup", "1", "vc_router has no output speedup");
  pass_router_key("internal_speedup", "internal_speedup", "1", "vc_router has no internal speedup");
  read_output_buffer();
  pass_router_key("noq", "next_hop_queueing", "0", "vc_router has no queueing by the next hop's output");
  pass_router_key("vc_prioritize_empty", "vc_prioritize_empty", "0", "vc_router has no such preference");
  pass_router_key("vc_priority_donation", "vc_priority_donation", "0", "vc_router has no such preference");
  pass_router_key("vc_shuffle_requests", "vc_shuffle_requests", "0", "vc_router has no such preference");
  read_allocator("vc_allocator", "vc_alloc_iterations");
  read_allocator("sw_allocator", "sw_alloc_iterations");
  read_priority();
}

/// BookSim2's separable allocators and wavefront look at priorities, islip, pim and max_size do not.
void Converter::read_priority() {
  const std::string priority = text("priority");
  if (priority == "none") return;
  const std::string vc = call_of(text("vc_allocator"), "vc_allocator").name;
  const std::string sw = call_of(text("sw_allocator"), "sw_allocator").name;
  const auto blind = [](const std::string& name) { return name == "islip" || name == "pim" || name == "max_size"; };
  const auto separable = [](const std::string& name) { return name.starts_with("separable"); };
  if (priority == "class") {
    if (!blind(vc) && !blind(sw)) return;
    differs(
        "priority",
        "the allocators islip, pim and max_size of BookSim2 do not look at it; those of vc_router do, as sources do");
  } else if (priority != "age") {
    unmapped("priority", "vc_router knows priorities of classes, and the age of packets since their generation");
  } else if (blind(vc) && blind(sw)) {
    differs("priority",
            "the allocators islip, pim and max_size of BookSim2 do not look at it; there it orders the classes of a "
            "terminal, here nothing");
  } else if (separable(vc) && separable(sw)) {
    switch_.set("arbiter", "\"age\"");
  } else {
    unmapped("priority", "vc_router looks at the age in the arbiters of separable allocators, of both or of none");
  }
}

void Converter::read_pipeline() {
  if (integer("vc_alloc_delay") != 1 && !flag("speculative")) {
    differs("vc_alloc_delay", "BookSim2 itself stops at an assertion with another delay than 1");
  }
  if (integer("sw_alloc_delay") != 1) {
    differs("sw_alloc_delay", "BookSim2 itself stops at an assertion with another delay than 1");
  }
  switch_.set("routing_delay", std::to_string(integer("routing_delay")));
  switch_.set("vc_alloc_delay", std::to_string(integer("vc_alloc_delay")));
  switch_.set("sw_alloc_delay", std::to_string(integer("sw_alloc_delay")));
  switch_.set("traversal_delay", std::to_string(integer("st_prepare_delay") + integer("st_final_delay")));
  const i64 longest = std::max({integer("routing_delay"), integer("vc_alloc_delay"), integer("sw_alloc_delay"),
                                integer("st_prepare_delay") + integer("st_final_delay")});
  if (longest > 1) switch_.set("overlapping_stages", "false");
  switch_.set("credit_delay", std::to_string(integer("credit_delay")));
  // BookSim2's sources write into the channel after it has read its input, so that a flit stays there for one cycle.
  switch_.set("source_credit_delay", "1");
  if (!flag("speculative")) return;
  switch_.set("speculative", "true");
  for (const char* key : {"spec_check_elig", "spec_check_cred", "spec_mask_by_reqs", "spec_sw_allocator"}) {
    if (given(key)) differs(key, "vc_router grants to speculation what the other requests leave");
    read_.insert(key);
  }
}

/// Flits that wait between the crossbar and a channel.
void Converter::read_output_buffer() {
  const i64 size = integer("output_buffer_size");
  const i64 crossbar = integer("st_prepare_delay") + integer("st_final_delay");
  if (size == 0) impossible("output_buffer_size", "a router without such a place never sends; -1 means any number");
  if (size <= 0) return;
  if (real("internal_speedup") > 1.0 || integer("output_speedup") > 1 || crossbar > 1) {
    switch_.set("output_buffer", std::to_string(size), "output_buffer_size");
    if (size <= crossbar) {
      differs(
          "output_buffer_size",
          "a flit has its place from when it is granted the crossbar; in BookSim2 it takes one when it has crossed, "
          "so that as many more are on their way: here so few places hold packets up");
    }
  } else {
    no_effect("output_buffer_size", "without speedup a flit that has passed the crossbar finds its channel free");
  }
}

void Converter::read_buffers() {
  const i64 vcs = integer("num_vcs");
  i64 buffer = integer("vc_buf_size");
  const std::string policy = text("buffer_policy");
  const i64 whole = integer("buf_size");
  if (policy != "private" && policy != "shared") {
    unmapped("buffer_policy", "vc_router has private and shared buffers");
  } else if (policy == "shared") {
    switch_.set("buffer_policy", "\"shared\"");
    switch_.set("reserved", text("private_buf_size"));
    if (integer("private_bufs") != -1) unmapped("private_bufs", "every virtual channel has places of its own");
  }
  if (whole != -1) {
    if (whole % vcs != 0) unmapped("buf_size", "vc_router has equally many places for every virtual channel");
    buffer = std::max<i64>(whole / vcs, 1);
  }
  switch_.set("vcs", std::to_string(vcs), "num_vcs");
  switch_.set("buffer", std::to_string(buffer), whole != -1 ? "buf_size" : "vc_buf_size");
}

void Converter::read_allocator(const char* key, const char* iterations) {
  static const std::map<std::string, std::string> names{{"islip", "islip"},
                                                        {"pim", "pim_offset"},
                                                        {"separable_input_first", "input_first"},
                                                        {"separable_output_first", "output_first"},
                                                        {"wavefront", "wavefront"},
                                                        {"max_size", "max_size"},
                                                        {"loa", "lonely"},
                                                        {"select", "islip"}};
  const Call call = call_of(text(key), key);
  const auto found = names.find(call.name);
  if (found == names.end()) {
    unmapped(key, fmt::format("vc_router has no allocator {}; islip comes next to most", call.name));
    return;
  }
  switch_.set(key, fmt::format("\"{}\"", found->second));
  if (call.name == "loa") return;  // BookSim2 reads no iterations either
  if (call.name == "select" && !call.arguments.empty() && call.arguments.front() != "1") {
    differs(key, "select is islip with priorities; further iterations of BookSim2's keep the grants of earlier ones");
  }
  if (!call.arguments.empty()) switch_.set(iterations, call.arguments.front());
}

// --- run -----------------------------------------------------------------------------------------------------------

void Converter::read_run() {
  const std::string seed = text("seed");
  if (seed == "time") {
    unmapped("seed", "a seed from the clock cannot be repeated; give a number");
  } else {
    run_.set("seed", std::to_string(integer("seed")));
  }
  if (!flag("include_queuing")) {
    differs("include_queuing", "Banyan's packet_latency includes the source queue; network_latency does not");
  }
  const std::string type = text("sim_type");
  if (type == "batch") {
    for (const char* key : {"sample_period", "warmup_periods", "max_samples"}) {
      static_cast<void>(integer(key));
      no_effect(key, "a batch ends with its last packet and has no samples");
    }
    if (integer("sim_count") != 1)
      unmapped("sim_count", "a batch is repeated with run.sessions = N beside the configuration");
    return;
  }
  if (type != "latency" && type != "throughput") impossible("sim_type", "BookSim2 has latency, throughput and batch");
  const i64 runs = integer("sim_count");
  if (runs < 1) return impossible("sim_count", "there is at least one simulation");
  if (runs > 1) differs("sim_count", "one run as long as all of them, with one interval; BookSim2 prints their mean");
  const i64 period = integer("sample_period");
  run_.set("warmup", std::to_string(integer("warmup_periods") * period));
  run_.set("measure", std::to_string(runs * integer("max_samples") * period));
  if (given("max_samples")) differs("max_samples", std::string(find_key("stopping_thres")->reason));
}

void Converter::explain_rest() {
  for (const std::string& key : order_) {
    if (read_.contains(key)) continue;
    const Key& known = *find_key(key);
    if (known.silent == Silent::always) {
      no_effect(key, std::string(known.reason));
    } else if (values_.at(key).value != known.fallback) {
      unmapped(key, known.reason.empty() ? "nothing that is mapped reads it" : std::string(known.reason));
    }
  }
}

std::string Converter::near(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest);
}

void Converter::write(Conversion& into) const {
  into.toml = fmt::format("# From the BookSim2 configuration {}.\n", name_);
  for (const Remark& r : remarks_) into.toml += fmt::format("# {}\n", to_text(r));
  const std::pair<const char*, const Table*> components[] = {
      {"topology", &topology_}, {"switch", &switch_}, {"routing", &routing_}};
  for (const auto& [name, table] : components) {
    note_origin(table->origin, into);
    into.toml += fmt::format("{} = ", name);
    write(*table, true, into);
    into.toml += '\n';
  }
  for (const Table& table : traffics_) {
    into.toml += '\n';
    note_origin(table.origin, into);
    into.toml += "[[traffic]]\n";
    write(table, false, into);
  }
  into.toml += "\n[run]\n";
  write(run_, false, into);
}

void Converter::write(const Table& table, bool inline_table, Conversion& into) const {
  std::string& text = into.toml;
  if (!table.name.empty()) {
    note_origin(table.origin, into);
    text += fmt::format("{}name = \"{}\"{}", inline_table ? "{ " : "", table.name, inline_table ? "" : "\n");
  }
  for (const Table::Parameter& parameter : table.parameters) {
    if (inline_table) text += ", ";
    note_origin(parameter.origin, into);
    text += fmt::format("{} = {}{}", parameter.name, parameter.value, inline_table ? "" : "\n");
  }
  if (inline_table) text += " }";
}

/// Notes which key of BookSim2 made what is written next.
void Converter::note_origin(const std::string& key, Conversion& into) const {
  if (key.empty()) return;
  const std::size_t begin = into.toml.rfind('\n') + 1;
  const auto line = static_cast<u32>(std::count(into.toml.begin(), into.toml.end(), '\n') + 1);
  into.origins.push_back({line, static_cast<u32>(into.toml.size() - begin + 1), setting(key)});
}

void add_printed_latencies(api::Result& result) {
  std::vector<stats::Metric> metrics;
  for (const stats::Metric& metric : result.metrics) {
    metrics.push_back(metric);
    const std::string name = metric.name.substr(0, metric.name.find('.'));
    // The wait for the network is not the same in batches: they are there from the beginning.
    const bool packet = name == "packet_latency" && result.verdict != api::Verdict::finished;
    if (!packet && name != "network_latency") continue;
    stats::Metric& printed = metrics.emplace_back(metric);
    printed.name = "booksim2_" + metric.name;
    printed.mean += kMoreCycles;
  }
  result.metrics = std::move(metrics);
}

ConfigError in_terms_of_settings(const ConfigError& error, const Conversion& conversion, const std::string& name) {
  const Where& at = error.where();
  if (at.file != name || at.line == 0) return error;
  const Setting* setting = nullptr;
  for (const Origin& origin : conversion.origins) {
    if (origin.line == at.line && origin.column <= at.column) setting = &origin.setting;
  }
  const std::string cause = at.key.empty() ? error.cause() : fmt::format("{}: {}", at.key, error.cause());
  if (setting == nullptr) {
    return {{name, 0, 0, ""},
            fmt::format("line {} of the experiment that this means (banyan convert): {}", at.line, cause),
            error.remedy()};
  }
  return {setting->where, fmt::format("{} = {}: {}", setting->key, setting->value, cause), error.remedy()};
}

}  // namespace banyan::booksim
