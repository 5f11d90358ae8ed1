// What the command line asks for, one struct per command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::cli {

/// Options that every command that runs has.
struct Running {
  std::optional<u32> threads;
  std::optional<u64> seed;
  std::string out;
  bool quiet = false;
  bool json = false;
};

struct RunArguments {
  std::string file;
  std::vector<std::string> overrides;
  Running running;
  bool csv = false;
  bool plot = false;
  bool profile = false;
  std::string svg;
  std::vector<std::string> metrics;
  std::vector<std::string> watches;
  std::string trace;
  std::string log;
  bool booksim = false;
  bool ignore_unmapped = false;
  std::string checkpoint;
  double checkpoint_seconds = 600.0;
  bool checkpoints = false;  ///< --checkpoint-every was given
  std::string resume;
  const std::vector<std::string>* plugins = nullptr;  ///< that are loaded
  // For a sweep that many share:
  std::string part;  ///< "2/8"
  bool slurm = false;
  bool wait = false;
  u32 slurm_tasks = 0;    ///< 0: as many as fit
  u32 slurm_at_once = 0;  ///< 0: all
  std::string slurm_array;
  std::string slurm_time;
  std::string slurm_partition;
  double silence = 60.0;  ///< seconds after which a worker that says nothing is dead
};

struct MergeArguments {
  std::vector<std::string> from;
  std::string out;
};

/// How a Chakra trace is read, as the keys of [[job]] say.
struct TraceArguments {
  std::string groups;
  std::string incomplete;
  double rate = 0.0;
  std::vector<std::string> collectives;  ///< "all_reduce=ring"
};

struct ConvertArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::string out;
  std::string to;
  TraceArguments trace;
  bool ignore_unmapped = false;
};

struct WorkloadInfoArguments {
  std::string file;
  TraceArguments trace;
  bool json = false;
};

struct ExportArguments {
  std::string from;
  bool json = false;
  bool csv = false;
  std::vector<std::string> metrics;
};

struct TreesArguments {
  std::string from;
  std::optional<u64> point;
  std::optional<u64> at;
  u64 least = 1;
  bool timeline = false;
  bool events = false;
  bool json = false;
};

struct ReportArguments {
  std::string from;
  std::string out;
};

struct VerifyArguments {
  std::string from;
  Running running;
};

struct SaturationArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::string key;
  double width = 0.01;
  Running running;
};

struct CompareArguments {
  std::string a;
  std::string b;
  bool json = false;
  std::vector<std::string> metrics;
};

struct CheckArguments {
  std::string file;
  std::vector<std::string> overrides;
  bool keys = false;
};

struct ExportTopologyArguments {
  std::string file;
  std::vector<std::string> overrides;
  bool dot = false;
  bool json = false;
  bool svg = false;
};

struct DescribeArguments {
  std::string component;
  bool json = false;
  bool markdown = false;
  bool schema = false;
};

struct CompletionArguments {
  std::string shell;
};

struct ManualArguments {
  bool markdown = false;
};

struct StudyListArguments {
  bool names = false;
  bool json = false;
};

struct StudyRunArguments {
  std::string name;
  std::vector<std::string> overrides;
  std::vector<std::string> figures;
  std::vector<std::string> fires;
  std::string traces;
  bool quick = false;
  bool full = false;
  bool search = false;  ///< for the best sets of parameters, not for the figures
  Running running;
};

struct StudyReportArguments {
  std::string from;
  std::string out;
  bool judge = false;
};

}  // namespace banyan::cli
