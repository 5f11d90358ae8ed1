#include "banyan/cli/workload_file.hpp"

#include <fmt/core.h>

#include <cmath>

#include "banyan/base/error.hpp"
#include "banyan/workload/formats.hpp"

namespace banyan::cli {

bool is_told(const TraceArguments& trace) {
  return !trace.groups.empty() || !trace.incomplete.empty() || trace.rate != 0.0 || !trace.collectives.empty();
}

workload::Program read_workload_file(const std::string& file, const TraceArguments& trace) {
  if (!is_told(trace)) return workload::read_workload(file);
  const workload::Format* const format = workload::format_of(file);
  if (format != &workload::format_chakra) {
    throw ConfigError(
        {file, 0, 0, ""},
        fmt::format("--groups, --incomplete, --rate and --collectives are for Chakra traces, and this is {}",
                    format == nullptr ? "none" : format->summary),
        "leave them out");
  }
  workload::ChakraOptions options;
  options.groups = trace.groups;
  options.skip_incomplete = trace.incomplete == "skip";
  if (!(trace.rate >= 0.0) || !std::isfinite(trace.rate)) {
    throw ConfigError({"command line", 0, 0, "--rate"}, fmt::format("{} is no rate", trace.rate),
                      "give operations per ns, from 0 on");
  }
  options.operations_per_ns = trace.rate;
  for (const std::string& text : trace.collectives) {
    const std::size_t middle = text.find('=');
    const Where where{"command line", 0, 0, "--collectives"};
    if (middle == std::string::npos)
      throw ConfigError(where, fmt::format("\"{}\" is no KEY=NAME", text), "write it as all_reduce=ring");
    workload::set_algorithm(options, text.substr(0, middle), text.substr(middle + 1), where);
    if (text.substr(middle + 1) == workload::name_of(workload::Algorithm::in_network))
      throw ConfigError(where, "what switches add up is no schedule of messages", "choose another algorithm");
  }
  return workload::read_workload(file, options);
}

}  // namespace banyan::cli
