// banyan study list, run and report.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "banyan/base/error.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/interrupt.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/progress.hpp"
#include "banyan/report/study_report.hpp"
#include "banyan/study/study.hpp"

namespace banyan::cli {
namespace {

namespace fs = std::filesystem;

study::Mode mode_of(const StudyRunArguments& arguments) {
  if (arguments.quick) return study::Mode::quick;
  return arguments.full ? study::Mode::full : study::Mode::standard;
}

std::string default_folder(const std::string& study) { return (fs::path("out") / study).string(); }

study::StudyOptions options_of(const StudyRunArguments& arguments) {
  study::StudyOptions options;
  options.mode = mode_of(arguments);
  options.figures = arguments.figures;
  options.threads = arguments.running.threads.value_or(std::max(1U, std::thread::hardware_concurrency()));
  options.out_dir = arguments.running.out.empty() ? default_folder(arguments.name) : arguments.running.out;
  options.seed = arguments.running.seed;
  options.overrides = arguments.overrides;
  options.interrupted = watch_interrupt();
  return options;
}

/// A folder with study.json, that file itself, or the name of a study that was run into its default folder.
std::string dump_path(const std::string& from) {
  std::error_code error;
  if (fs::is_directory(from, error)) return (fs::path(from) / study::kDumpFile).string();
  if (fs::exists(from, error)) return from;
  return (fs::path(default_folder(from)) / study::kDumpFile).string();
}

std::string read_dump(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream.is_open()) {
    throw ConfigError({path, 0, 0, ""}, "there is no finished study",
                      "name the folder that \"banyan study run NAME --out FOLDER\" wrote");
  }
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

int study_list(const StudyListArguments& arguments) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string text;
  for (const study::Study& one : study::studies()) {
    const study::StudySpec spec = study::spec_of(one);
    if (arguments.names) {
      text += spec.name + "\n";
    } else {
      text += fmt::format("{}\n  {}\n  {}\n", spec.name, spec.title, spec.reference);
    }
    list.push_back({{"study", spec.name}, {"title", spec.title}, {"reference", spec.reference}});
  }
  print(arguments.json ? list.dump(2) + "\n" : text);
  return kDone;
}

int study_run(const StudyRunArguments& arguments) {
  static_cast<void>(study::find_study(arguments.name));
  study::StudyOptions options = options_of(arguments);
  require_writable_folder(options.out_dir);
  study::StudyResult result;
  {
    ProgressDisplay display(arguments.running.quiet, "points", 1000.0);
    options.progress = [&display](u64 done, u64 total) { display(done, total); };
    result = study::run_study(arguments.name, options);
  }
  const std::string page = report::write_study_report(result, options.out_dir);
  if (arguments.running.json) {
    print(study::to_json(result) + "\n");
  } else {
    print(fmt::format("{}\nReport: {}\n", study::to_table(result), page));
  }
  return result.as_expected() ? kDone : kFailed;
}

int study_report(const StudyReportArguments& arguments) {
  const std::string path = dump_path(arguments.from);
  const std::string folder = arguments.out.empty() ? fs::path(path).parent_path().string() : arguments.out;
  const study::StudyResult result = study::load(read_dump(path));
  require_writable_folder(folder.empty() ? "." : folder);
  const std::string page = report::write_study_report(result, folder.empty() ? "." : folder);
  print(fmt::format("{}\nReport: {}\n", study::to_table(result), page));
  return kDone;
}

}  // namespace banyan::cli
