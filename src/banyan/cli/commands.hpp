// The commands. Each returns its exit status and throws the library's errors (program.cpp prints them).
#pragma once

#include "banyan/cli/arguments.hpp"
#include "banyan/cli/command_rows.hpp"

namespace banyan::cli {

[[nodiscard]] int run(const RunArguments& arguments);
[[nodiscard]] int sweep(const RunArguments& arguments);
[[nodiscard]] int merge(const MergeArguments& arguments);
[[nodiscard]] int convert(const ConvertArguments& arguments);
[[nodiscard]] int workload_info(const WorkloadInfoArguments& arguments);
[[nodiscard]] int export_store(const ExportArguments& arguments);
[[nodiscard]] int trees(const TreesArguments& arguments);
[[nodiscard]] int report(const ReportArguments& arguments);
[[nodiscard]] int compare(const CompareArguments& arguments);
[[nodiscard]] int saturation(const SaturationArguments& arguments);
[[nodiscard]] int verify(const VerifyArguments& arguments);
[[nodiscard]] int check(const CheckArguments& arguments);
[[nodiscard]] int export_topology(const ExportTopologyArguments& arguments);
[[nodiscard]] int describe(const DescribeArguments& arguments);
[[nodiscard]] int study_list(const StudyListArguments& arguments);
[[nodiscard]] int study_run(const StudyRunArguments& arguments);
[[nodiscard]] int study_search(const StudyRunArguments& arguments);
[[nodiscard]] int study_report(const StudyReportArguments& arguments);
[[nodiscard]] int completion(const CommandRow& program, const CompletionArguments& arguments);
[[nodiscard]] int manual(const CommandRow& program, const ManualArguments& arguments);

}  // namespace banyan::cli
