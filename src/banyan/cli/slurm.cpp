#include "banyan/cli/slurm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <sstream>

#include "banyan/base/error.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/process.hpp"

namespace banyan::cli {
namespace {

[[noreturn]] void no_slurm(const std::string& program) {
  throw ConfigError({"command line", 0, 0, "--slurm"},
                    fmt::format("there is no {} on the PATH of this machine", program),
                    "run this where Slurm is, or start \"banyan sweep FILE --part i/n --out DIR\" by other means");
}

/// The first line that says something, without the program's name in front.
std::string words_of(const ProgramSaid& said) {
  std::istringstream lines(said.err.empty() ? said.out : said.err);
  std::string words;
  for (std::string line; std::getline(lines, line);) {
    for (const char* prefix : {"sbatch: ", "squeue: ", "error: "}) {
      if (line.starts_with(prefix)) line.erase(0, std::string(prefix).size());
    }
    if (line.empty()) continue;
    // "Batch job submission failed: REASON" comes last and says most.
    words = line;
  }
  return words.empty() ? fmt::format("exit status {}", said.status) : words;
}

std::optional<u32> index_from(const std::string& text) {
  u32 value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string submit(const SlurmJob& job, const std::vector<u32>& tasks) {
  const std::string script = (std::filesystem::path(job.folder) / "job.sh").string();
  write_file(script, job.script);
  std::string array = fmt::format("--array={}", fmt::join(tasks, ","));
  if (job.at_once > 0) array += fmt::format("%{}", job.at_once);
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--no-requeue",
                                 array,
                                 "--job-name=" + job.name,
                                 "--output=" + (std::filesystem::absolute(job.folder) / "%A_%a.out").string()};
  if (!job.time.empty()) words.push_back("--time=" + job.time);
  if (!job.partition.empty()) words.push_back("--partition=" + job.partition);
  if (job.threads > 0) words.push_back(fmt::format("--cpus-per-task={}", job.threads));
  words.push_back(script);
  const ProgramSaid said = run_program(words);
  if (!said.found) no_slurm("sbatch");
  if (said.status != 0) {
    // Without a configuration no other command of Slurm works, and no option helps.
    const bool configured = said.err.find("configuration") == std::string::npos;
    throw ConfigError(
        {"command line", 0, 0, "--slurm"}, fmt::format("sbatch refuses the job: {}", words_of(said)),
        configured
            ? "change --array, --time, --partition or --threads to what \"sinfo\" and \"scontrol show config\" allow"
            : "submit where Slurm is set up (/etc/slurm/slurm.conf, or SLURM_CONF), or use --part i/n with any other "
              "scheduler");
  }
  // "123" or "123;cluster"
  return said.out.substr(0, said.out.find_first_of(";\n"));
}

std::optional<std::map<u32, SlurmTask>> queued(const std::string& name) {
  const ProgramSaid said = run_program({"squeue", "--noheader", "--array", fmt::format("--user={}", geteuid()),
                                        "--name=" + name, "--format=%F|%K|%T|%r"});
  if (!said.found) no_slurm("squeue");
  if (said.status != 0) return std::nullopt;
  std::map<u32, SlurmTask> tasks;
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, '|');) fields.push_back(field);
    if (fields.size() < 3) continue;
    const std::optional<u32> job = index_from(fields[0]);
    const std::optional<u32> index = index_from(fields[1]);
    if (!job || !index) continue;
    SlurmTask task{fmt::format("{}_{}", *job, *index), fields[2], fields.size() > 3 ? fields[3] : ""};
    const auto [place, first] = tasks.emplace(*index, task);
    if (first) continue;
    const std::optional<u32> other = index_from(place->second.id.substr(0, place->second.id.find('_')));
    if (other && *other < *job) place->second = task;
  }
  return tasks;
}

void cancel(const std::string& task) { static_cast<void>(run_program({"scancel", "--quiet", task})); }

}  // namespace banyan::cli
