// The Extra Stage Cube (paper 1, section 2; Adams and Siegel 1982): a multistage cube with a second stage for digit 0
// in front, multiplexers that bypass either outer stage, and dual links to the terminals. With both outer stages
// enabled every pair has n paths that share nothing between the outer stages.
//
// Where the multiplexers stand decides what a fault breaks. The one behind stage k chooses between the box's output and
// the terminal's bypass link and feeds the link k L; the demultiplexer in front of stage 0 sits at the end of the link
// 1 L. So links k L and 1 L are used whether the outer stage is bypassed or not, and a box's fault leaves them whole.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "banyan/core/reachability.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/topology/parts/columns.hpp"
#include "banyan/topology/parts/subnetworks.hpp"

namespace banyan::topology::extra_stage_cube {
namespace {

/// Tracing faults takes a bit per box and terminal: 64 MB here with radix 4, 16 times as much with 4 times as many.
constexpr u32 kLargestWithFaults = 16384;

/// Which outer stages are enabled.
struct Setting {
  bool input = true;
  bool output = true;
  bool operator==(const Setting&) const = default;
};

enum class Part { box, link, input_link, input_bypass, output_link, output_bypass };

struct Fault {
  Part part = Part::box;
  u32 stage = 0;  ///< of a box or link
  u32 index = 0;  ///< box of the stage, or label of the link
};

struct PartName {
  std::string_view name;
  Part part;
  bool staged;  ///< the stage's number stands before the index
};
constexpr std::array<PartName, 6> kPartNames{{{"box", Part::box, true},
                                              {"link", Part::link, true},
                                              {"input_link", Part::input_link, false},
                                              {"input_bypass", Part::input_bypass, false},
                                              {"output_link", Part::output_link, false},
                                              {"output_bypass", Part::output_bypass, false}}};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::optional<u32> number_of(std::string_view word) {
  u32 value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// Reads the parameter `faults`.
class FaultReader {
 public:
  FaultReader(const config::Values& values, u32 terminals, u32 radix, u32 extra)
      : values_(values), terminals_(terminals), boxes_(terminals / radix), extra_(extra) {}

  [[nodiscard]] std::vector<Fault> read() const {
    std::vector<Fault> faults;
    for (const std::string& text : values_.texts("faults")) faults.push_back(fault_of(text));
    return faults;
  }

 private:
  [[nodiscard]] Fault fault_of(const std::string& text) const {
    const std::vector<std::string_view> words = words_of(text);
    const PartName* const name = name_of(text, words);
    const std::size_t numbers = name->staged ? 2 : 1;
    std::vector<u32> values;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (const auto value = number_of(words[i])) values.push_back(*value);
    }
    if (words.size() != numbers + 1 || values.size() != numbers) {
      values_.fail("faults", fmt::format("the fault \"{}\" does not read as a part and its numbers", text),
                   fmt::format("write it as \"{} {}\"", name->name,
                               !name->staged             ? "LINK"
                               : name->part == Part::box ? "STAGE BOX"
                                                         : "STAGE LINK"));
    }
    return checked(text, {name->part, name->staged ? values[0] : 0, values.back()});
  }

  [[nodiscard]] const PartName* name_of(const std::string& text, const std::vector<std::string_view>& words) const {
    std::vector<std::string> known;
    for (const PartName& candidate : kPartNames) {
      if (!words.empty() && words[0] == candidate.name) return &candidate;
      known.emplace_back(candidate.name);
    }
    const std::string near = words.empty() ? "" : nearest_name(words[0], known);
    values_.fail("faults", fmt::format("the fault \"{}\" names no part of the network", text),
                 (near.empty() ? std::string() : fmt::format("did you mean \"{}\"? ", near)) +
                     "parts are box, link, input_link, input_bypass, output_link and output_bypass");
  }

  [[nodiscard]] Fault checked(const std::string& text, Fault fault) const {
    const u32 lowest = fault.part == Part::link ? 1 : 0;
    const bool staged = fault.part == Part::box || fault.part == Part::link;
    if (staged && (fault.stage < lowest || fault.stage > extra_)) {
      values_.fail("faults", fmt::format("the fault \"{}\" names a stage outside the network", text),
                   fmt::format("use a stage from {} to {}", lowest, extra_));
    }
    const u32 count = fault.part == Part::box ? boxes_ : terminals_;
    if (fault.index >= count) {
      values_.fail("faults", fmt::format("the fault \"{}\" names a part outside the network", text),
                   fmt::format("use a {} from 0 to {}", fault.part == Part::box ? "box" : "link", count - 1));
    }
    return fault;
  }

  const config::Values& values_;
  u32 terminals_;
  u32 boxes_;
  u32 extra_;
};

class ExtraStageCube final : public core::Topology {
 public:
  explicit ExtraStageCube(const config::Values& values) {
    facet_.radix = values.natural("radix");
    facet_.digits = checked_digits(values);
    terminals_ = values.natural("terminals");
    const Setting asked{values.text("input_stage") == "enabled", values.text("output_stage") == "enabled"};
    if (!asked.input && !asked.output) {
      values.fail("output_stage", "with both outer stages bypassed no stage sets digit 0 of the destination",
                  "enable output_stage or input_stage");
    }
    const std::vector<Fault> faults = FaultReader(values, terminals_, facet_.radix, facet_.digits).read();
    if (!faults.empty() && terminals_ > kLargestWithFaults) {
      values.fail("faults", fmt::format("faults are traced for up to {} terminals only", kLargestWithFaults),
                  "use fewer terminals or no faults");
    }
    build(asked, faults);
    if (!faults.empty() && values.flag("reconfigure")) reconfigure(asked, faults);
  }

  [[nodiscard]] std::string label(u32 node) const override {
    const u32 boxes = terminals_ / facet_.radix;
    return fmt::format("stage {} box {}", facet_.stage_label[node / boxes], node % boxes);
  }
  [[nodiscard]] const core::Multistage* multistage() const override { return &facet_; }

 private:
  /// Stages k .. 0 without the bypassed ones, and the faults marked. Stage k sets digit 0, like stage 0.
  void build(Setting setting, const std::vector<Fault>& faults) {
    const u32 extra = facet_.digits;
    facet_.stage_label.clear();
    facet_.digit_of_stage.clear();
    for (u32 stage = extra + 1; stage-- > 0;) {
      if ((stage == extra && !setting.input) || (stage == 0 && !setting.output)) continue;
      facet_.stage_label.push_back(stage);
      facet_.digit_of_stage.push_back(stage == extra ? 0 : stage);
    }
    facet_.extra_stage = setting.input && setting.output;
    graph_ = build_cube_columns(terminals_, facet_.radix, facet_.digits, facet_.digit_of_stage);
    for (const Fault& fault : faults) mark(setting, fault);
  }

  void mark(Setting setting, const Fault& fault) {
    switch (fault.part) {
      case Part::box:
        fail_box(setting, fault.stage, fault.index);
        break;
      case Part::link:
        graph_.fail_channel(channel_of_link(setting, fault.stage, fault.index));
        break;
      case Part::input_link:
        if (setting.input) graph_.fail_channel(graph_.injection(fault.index));
        break;
      case Part::input_bypass:
        if (!setting.input) graph_.fail_channel(graph_.injection(fault.index));
        break;
      case Part::output_link:
        if (setting.output) graph_.fail_channel(graph_.ejection(fault.index));
        break;
      case Part::output_bypass:
        if (!setting.output) graph_.fail_channel(graph_.ejection(fault.index));
        break;
    }
  }

  /// The first traversed stage has level 0.
  [[nodiscard]] u32 level_of(Setting setting, u32 stage) const {
    return facet_.digits - (setting.input ? 0 : 1) - stage;
  }

  void fail_box(Setting setting, u32 stage, u32 box) {
    if ((stage == facet_.digits && !setting.input) || (stage == 0 && !setting.output)) return;
    const u32 s = level_of(setting, stage) * (terminals_ / facet_.radix) + box;
    for (u32 port = 0; port < facet_.radix; ++port) {
      graph_.fail_channel(graph_.channel_into(s, port));
      graph_.fail_channel(graph_.channel_out_of(s, port));
    }
  }

  /// The channel that contains the link `link` from stage `stage` towards the next lower one.
  [[nodiscard]] u32 channel_of_link(Setting setting, u32 stage, u32 link) const {
    if (stage == facet_.digits && !setting.input) return graph_.injection(link);
    const u32 level = level_of(setting, stage);
    const BoxPort at = cube_box(link, facet_.radix, facet_.digits, facet_.digit_of_stage[level]);
    return graph_.channel_out_of(level * (terminals_ / facet_.radix) + at.box, at.port);
  }

  /// Enables and disables the outer stages as Adams and Siegel 1982, section III, do: a fault in the input stage
  /// bypasses it, a fault in the output stage bypasses that one and enables the input stage, a fault in between enables
  /// both. This is the search for the setting that connects the most pairs, in that order of preference.
  void reconfigure(Setting asked, const std::vector<Fault>& faults) {
    const u64 all = u64{terminals_} * terminals_;
    u64 most = connected_pairs();
    Setting best = asked;
    for (const Setting setting : {Setting{false, true}, Setting{true, true}, Setting{true, false}}) {
      if (most == all) break;
      build(setting, faults);
      const u64 pairs = connected_pairs();
      if (pairs <= most) continue;
      most = pairs;
      best = setting;
    }
    build(best, faults);
  }

  [[nodiscard]] u64 connected_pairs() const {
    const core::Reachability reach(graph_);
    u64 pairs = 0;
    for (u32 t = 0; t < terminals_; ++t) {
      const core::Channel& entry = graph_.channel(graph_.injection(t));
      if (entry.failed) continue;
      for (u32 w = 0; w < reach.words(); ++w) { pairs += static_cast<u64>(std::popcount(reach.row(entry.to.node)[w])); }
    }
    return pairs;
  }

  core::Multistage facet_;
  u32 terminals_ = 0;
};

std::unique_ptr<core::Topology> make(const config::Values& values) { return std::make_unique<ExtraStageCube>(values); }

/// Faults may bring a bypassed stage back.
core::NetworkSize size(const config::Values& values) {
  const double outer =
      (values.text("input_stage") == "enabled" ? 1.0 : 0.0) + (values.text("output_stage") == "enabled" ? 1.0 : 0.0);
  return columns_size(values, outer - 1.0);
}

}  // namespace

using config::Parameter;
extern const core::TopologyRow row_extra_stage_cube;
const core::TopologyRow row_extra_stage_cube{
    {"extra_stage_cube",
     "Extra Stage Cube: a multistage cube with one more stage in front, n disjoint paths per pair, and outer stages "
     "that "
     "can be bypassed.",
     "G. B. Adams III, H. J. Siegel: The extra stage cube: a fault-tolerant interconnection network for supersystems. "
     "IEEE Trans. Computers C-31(5), 1982; M.-C. Wang, H. J. Siegel, M. A. Nichols, S. Abraham: Using the extra stage "
     "cube multipath network to reduce the impact of hot spots. Purdue TR-EE 92-25, 1992, section 2",
     {
         Parameter::integer("terminals", 256).range(2, 1 << 20).doc("Terminals N, a power of the radix."),
         Parameter::integer("radix", 4).range(2, 64).doc("Inputs and outputs of an interchange box, n."),
         Parameter::choice("input_stage", {"enabled", "bypassed"}, "enabled")
             .doc("Whether packets pass the boxes of the extra stage, log_n N."),
         Parameter::choice("output_stage", {"enabled", "bypassed"}, "enabled")
             .doc("Whether packets pass the boxes of stage 0."),
         Parameter::texts("faults", {})
             .doc("Failed parts: \"box STAGE BOX\", \"link STAGE LINK\" (leaving that stage), \"input_link LINK\", "
                  "\"input_bypass LINK\", \"output_link LINK\", \"output_bypass LINK\"."),
         Parameter::boolean("reconfigure", true)
             .doc("Whether faults change which outer stages are enabled, so that as many pairs as possible stay "
                  "connected."),
         parts::subnetworks_parameter(),
     }},
    make,
    size,
    {"destination_tag"}};

}  // namespace banyan::topology::extra_stage_cube
