// banyan convert, and what run --booksim shares with it.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "banyan/booksim/booksim.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/converted.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/workload_file.hpp"
#include "banyan/workload/formats.hpp"

namespace banyan::cli {

using booksim::Remark;

booksim::Conversion converted(const std::string& file, const std::vector<std::string>& overrides, bool ignore_unmapped,
                              const std::function<void(const std::string&)>& tell) {
  std::vector<booksim::Setting> settings = booksim::read_settings(read_file(file), file);
  for (const std::string& text : overrides) settings.push_back(booksim::read_override(text));
  booksim::Conversion conversion = booksim::convert(settings, file);
  for (const Remark& remark : conversion.remarks) tell(booksim::to_text(remark));
  const auto is_unmapped = [](const Remark& r) { return r.kind == Remark::Kind::unmapped; };
  const auto count = std::count_if(conversion.remarks.begin(), conversion.remarks.end(), is_unmapped);
  if (conversion.toml.empty()) {
    throw ConfigError({file, 0, 0, ""}, "there is no experiment that means this configuration",
                      "see the settings above that are not mapped");
  }
  if (count != 0 && !ignore_unmapped) {
    throw ConfigError({file, 0, 0, ""},
                      fmt::format("{} of the settings {} not mapped", count, count == 1 ? "is" : "are"),
                      "change them, or leave them out with --ignore-unmapped");
  }
  return conversion;
}

namespace {

/// Whether every line is "key = value;".
bool is_booksim(const std::string& file) {
  try {
    return !booksim::read_settings(read_file(file), file).empty();
  } catch (const ConfigError&) { return false; }
}

}  // namespace

api::ExperimentSet read_experiments(const std::string& file, const api::Overrides& overrides) {
  try {
    return api::read_experiments(file, overrides);
  } catch (const ConfigError& error) {
    if (error.where().file != file || !error.cause().starts_with("not valid TOML") || !is_booksim(file)) throw;
    const std::string toml = std::filesystem::path(file).stem().string() + ".toml";
    throw ConfigError({file, 0, 0, ""}, "is a configuration of BookSim2, not an experiment",
                      fmt::format("\"banyan run {} --booksim\" runs it; \"banyan convert {} --out {}\" writes the "
                                  "experiment that it means, which every command takes",
                                  file, file, toml));
  }
}

namespace {

bool ends_with(const std::string& text, const char* end) { return std::string_view(text).ends_with(end); }

/// Text has no interface for a computation, which uses none.
void note_lost_interfaces(const workload::Program& program, const std::string& to) {
  u64 lost = 0;
  for (u32 r = 0; r < program.ranks(); ++r) {
    for (u32 i = 0; i < program.operations(r); ++i) {
      program.passes(r, i);
      const workload::Operation o = program.operation(r, i);
      lost += o.kind == workload::OperationKind::calculate && o.nic != 0 ? 1 : 0;
    }
  }
  if (lost == 0) return;
  note(fmt::format("{}: {} computation{} name{} a network interface, which text cannot; what runs is the same", to,
                   lost, lost == 1 ? "" : "s", lost == 1 ? "s" : ""));
}

/// A workload file in the format that the name of the other file tells.
int convert_workload(const ConvertArguments& arguments) {
  const bool binary = ends_with(arguments.to, ".bin");
  if (!binary && !ends_with(arguments.to, ".goal")) {
    throw ConfigError({arguments.to, 0, 0, "--to"}, "the name does not tell the format",
                      "end it with .goal (text) or .bin (binary)");
  }
  if (!arguments.overrides.empty() || !arguments.out.empty()) {
    throw ConfigError({arguments.file, 0, 0, "--to"}, "settings and --out are for configurations of BookSim2",
                      "give FILE and --to alone");
  }
  require_outputs({{"--to", arguments.to}}, {{"the workload", arguments.file}});
  const workload::Program program = read_workload_file(arguments.file, arguments.trace);
  if (!binary) note_lost_interfaces(program, arguments.to);
  write_file(arguments.to, binary ? std::string(program.bytes()) : workload::to_goal_text(program));
  return kDone;
}

}  // namespace

int convert(const ConvertArguments& arguments) {
  if (!arguments.to.empty()) return convert_workload(arguments);
  std::error_code ignored;
  const bool regular = std::filesystem::is_regular_file(arguments.file, ignored);
  if (const workload::Format* const format = regular ? workload::format_of(arguments.file) : nullptr) {
    throw ConfigError({arguments.file, 0, 0, ""}, fmt::format("this is a workload: {}", format->summary),
                      "say what to make of it, with --to FILE.goal (text) or --to FILE.bin (binary)");
  }
  if (is_told(arguments.trace)) {
    throw ConfigError({arguments.file, 0, 0, ""},
                      "--groups, --incomplete, --rate and --collectives are for Chakra traces",
                      "leave them out, or say what to make of a trace with --to");
  }
  require_outputs({{"--out", arguments.out}}, {{"the configuration", arguments.file}});
  const booksim::Conversion conversion =
      converted(arguments.file, arguments.overrides, arguments.ignore_unmapped, &note);
  // What cannot run is said here, of the setting, and not when it is run, of a parameter.
  try {
    for (const api::Experiment& point : api::read_experiments_text(conversion.toml, arguments.file, {}).points) {
      static_cast<void>(api::check(point));
    }
  } catch (const ConfigError& error) { throw booksim::in_terms_of_settings(error, conversion, arguments.file); }
  if (arguments.out.empty()) {
    print(conversion.toml);
  } else {
    write_file(arguments.out, conversion.toml);
  }
  return kDone;
}

}  // namespace banyan::cli
