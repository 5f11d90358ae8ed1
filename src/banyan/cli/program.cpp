#include "banyan/cli/program.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <sstream>
#include <system_error>

#include "banyan/api/plugin.hpp"
#include "banyan/api/version.hpp"
#include "banyan/base/error.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/completion.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/failure.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/ranks.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/store/parts.hpp"

namespace banyan::cli {
namespace {

constexpr const char* kFileHelp = "Experiment file (TOML)";
constexpr const char* kResultHelp = "Folder that --out filled, or the JSON of a run or a sweep";
constexpr const char* kOverrideHelp = "Overrides, such as switch.buffer=8 or traffic.uniform.load=0.5";

/// Help that fits a terminal of 80 columns: descriptions go on below themselves.
class NarrowFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return folded(Formatter::make_option_desc(option), kWidth - get_column_width());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream text;
    CLI::detail::format_help(text, command->get_display_name(true),
                             folded(command->get_description(), kWidth - get_column_width()), get_column_width());
    return text.str();
  }
  std::string make_description(const CLI::App* command) const override {
    return folded(Formatter::make_description(command), kWidth);
  }

 private:
  static constexpr std::size_t kWidth = 80;

  /// The text with line breaks between its words, so that no line has more than `width` characters.
  static std::string folded(const std::string& text, std::size_t width) {
    std::string out;
    std::size_t column = 0;
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
      if (column > 0 && column + (end - at) > width) {
        out.back() = '\n';
        column = 0;
      }
      out += text.substr(at, end - at);
      column += end - at;
      if (end < text.size()) {
        out += text[end];
        column = text[end] == '\n' ? 0 : column + 1;
      }
      at = end + 1;
    }
    return out;
  }
};

/// What the user asked for, once the command line is parsed.
using Action = std::function<int()>;

/// The parser would wrap a negative number around.
CLI::Validator is_natural() {
  return {[](const std::string& text) {
            const bool natural = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            return natural ? std::string() : fmt::format("{} is not a whole number from 0", text);
          },
          "", "natural"};
}

/// An empty name, as an unset variable of a shell leaves it, would mean that nothing is kept.
CLI::Validator is_named() {
  return {[](const std::string& text) { return text.empty() ? std::string("the name is empty") : std::string(); }, "",
          "named"};
}

/// Likewise an empty part would mean that everything is run. The words are those for every other text that is no part.
CLI::Validator is_part() {
  return {[](const std::string& text) {
            static_cast<void>(store::read_part(text));
            return std::string();
          },
          "", "part"};
}

void add_running(CLI::App& command, Running& running) {
  command.add_option("--threads", running.threads, "Threads to use")->check(CLI::Range(1U, 1024U))->type_name("N");
  command.add_option("--seed", running.seed, "Seed of all randomness")->check(is_natural())->type_name("N");
  command.add_option("--out", running.out, "Folder that results are written to")->check(is_named())->type_name("DIR");
  command.add_flag("--quiet,-q", running.quiet, "No progress on standard error");
}

template <typename Arguments>
std::shared_ptr<Arguments> with_action(CLI::App& command, Action& action, int (*act)(const Arguments&)) {
  auto arguments = std::make_shared<Arguments>();
  command.callback([&action, arguments, act] { action = [arguments, act] { return act(*arguments); }; });
  return arguments;
}

/// "16", or "16%4": sixteen tasks, four at a time.
CLI::Validator is_array(RunArguments& arguments) {
  return {[&arguments](const std::string& text) {
            const char* const end = text.data() + text.size();
            const auto tasks = std::from_chars(text.data(), end, arguments.slurm_tasks);
            bool right = tasks.ec == std::errc{} && arguments.slurm_tasks > 0;
            if (right && tasks.ptr != end) {
              const auto at_once = std::from_chars(tasks.ptr + 1, end, arguments.slurm_at_once);
              right =
                  *tasks.ptr == '%' && at_once.ec == std::errc{} && at_once.ptr == end && arguments.slurm_at_once > 0;
            }
            return right ? std::string() : fmt::format("{} is no number of tasks, such as 16 or 16%4", text);
          },
          "", "array"};
}

void add_slurm(CLI::App& command, RunArguments& arguments) {
  auto* slurm = command.add_flag("--slurm", arguments.slurm, "Submit a job array of Slurm that runs the points")
                    ->excludes("--part");
  command.add_flag("--wait", arguments.wait, "Follow the jobs, submit again what is missing, then collect")
      ->needs(slurm);
  command.add_option("--array", arguments.slurm_array, "Tasks of the array; 16%4: of 16, four at a time")
      ->check(is_array(arguments))
      ->needs(slurm)
      ->type_name("N");
  command.add_option("--time", arguments.slurm_time, "Time limit of a task, as Slurm writes it")
      ->check(is_named())
      ->needs(slurm)
      ->type_name("TIME");
  command.add_option("--partition", arguments.slurm_partition, "Partition of Slurm")
      ->check(is_named())
      ->needs(slurm)
      ->type_name("NAME");
  command
      .add_option("--silence", arguments.silence,
                  "Seconds after which a worker that says nothing is taken for dead (60)")
      ->check(CLI::Range(5.0, 1e6))
      ->type_name("SECONDS");
}

/// "90", "90s", "10min", "1.5h": seconds, minutes, hours of wall clock.
std::optional<double> seconds_of(const std::string& text) {
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{}) return std::nullopt;
  std::string unit(read.ptr, end);
  unit.erase(0, unit.find_first_not_of(' '));
  for (const auto& [name, seconds] : {std::pair{"", 1.0}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}, {"d", 86400.0}}) {
    if (unit == name && number > 0.0) return number * seconds;
  }
  return std::nullopt;
}

CLI::Validator is_duration(RunArguments& arguments) {
  return {[&arguments](const std::string& text) {
            const std::optional<double> seconds = seconds_of(text);
            if (!seconds) return fmt::format("{} is no length of time, such as 30s, 10min or 2h", text);
            arguments.checkpoint_seconds = *seconds;
            arguments.checkpoints = true;
            return std::string();
          },
          "", "duration"};
}

void add_checkpoints(CLI::App& command, RunArguments& arguments) {
  command
      .add_option("--checkpoint", arguments.checkpoint, "File that the state of the run is written to, now and then")
      ->check(is_named())
      ->type_name("FILE");
  command
      .add_option_function<std::string>(
          "--checkpoint-every", [](const std::string&) {}, "Time between two checkpoints: 30s, 10min (default), 2h")
      ->check(is_duration(arguments))
      ->type_name("TIME");
  command.add_option("--resume", arguments.resume, "Checkpoint that the run goes on from; FILE may be left out then")
      ->check(is_named())
      ->type_name("FILE");
}

void add_run(CLI::App& app, Action& action, const std::vector<std::string>& plugins, const char* name, const char* help,
             int (*act)(const RunArguments&)) {
  CLI::App& command = *app.add_subcommand(name, help);
  const auto arguments = with_action(command, action, act);
  arguments->plugins = &plugins;
  auto* file = command.add_option("FILE", arguments->file, kFileHelp);
  if (std::string(name) != "run") file->required();
  command.add_option("key=value", arguments->overrides, kOverrideHelp)->type_name("");
  add_running(command, arguments->running);
  auto* json = command.add_flag("--json", arguments->running.json, "JSON on standard output");
  command.add_flag("--csv", arguments->csv, "CSV on standard output")->excludes(json);
  command.add_flag("--plot", arguments->plot, "Chart in the terminal");
  command.add_option("--svg", arguments->svg, "Chart as an SVG file")->check(is_named())->type_name("FILE");
  if (std::string(name) == "run") {
    command
        .add_option("--watch", arguments->watches,
                    "Log every event of packet=SOURCE:NTH, port=SWITCH:PORT or terminal=T (repeatable)")
        ->type_name("WHAT")
        ->allow_extra_args(false);
    command.add_flag("--profile", arguments->profile, "Say where the time goes: work, waiting, mail, cut, memory");
    command
        .add_option("--record-trace", arguments->trace, "Write every message that is sent to a trace, to be run again")
        ->check(is_named())
        ->type_name("FILE");
    command.add_option("--log", arguments->log, "Write one line per packet: birth, entry, arrival, path")
        ->check(is_named())
        ->type_name("FILE");
    add_checkpoints(command, *arguments);
  }
  auto* booksim = command.add_flag("--booksim", arguments->booksim, "FILE and key=value are BookSim2's");
  command.add_flag("--ignore-unmapped", arguments->ignore_unmapped, "Run without the settings that are not mapped")
      ->needs(booksim);
  if (std::string(name) == "sweep") {
    command.add_option("--metric", arguments->metrics, "Metric to show or to plot (repeatable)")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command.add_option("--part", arguments->part, "Run one of n parts of the points, into a file of its own in --out")
        ->check(is_part())
        ->type_name("I/N");
    add_slurm(command, *arguments);
  }
}

void add_merge(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("merge", "Join the result stores of the parts of a sweep");
  const auto arguments = with_action(command, action, &merge);
  command.add_option("FOLDER", arguments->from, "Folders that --out of a sweep's parts filled")->required();
  command.add_option("--out", arguments->out, "Folder of the joined result store")
      ->required()
      ->check(is_named())
      ->type_name("DIR");
}

void add_trace_options(CLI::App& command, TraceArguments& trace) {
  command.add_option("--groups", trace.groups, "Of a Chakra trace: JSON file of its groups")->type_name("FILE");
  command
      .add_option("--incomplete", trace.incomplete,
                  "Likewise: refuse or skip collectives without type or size, and dependencies on nodes that lack")
      ->check(CLI::IsMember({"refuse", "skip"}));
  command.add_option("--rate", trace.rate, "Likewise: operations per ns of computations that give num_ops and no time")
      ->type_name("N");
  command
      .add_option("--collectives", trace.collectives,
                  "Likewise: how a collective is done, such as all_reduce=ring (repeatable)")
      ->allow_extra_args(false)
      ->type_name("KEY=NAME");
}

void add_convert(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "convert", "Write the experiment that a BookSim2 configuration means, or a workload in another format");
  const auto arguments = with_action(command, action, &convert);
  command.add_option("FILE", arguments->file, "Configuration of BookSim2, or workload file (with --to)")->required();
  command.add_option("key=value", arguments->overrides, "BookSim2 overrides, such as injection_rate=0.2")
      ->type_name("");
  command.add_option("--out", arguments->out, "File that is written; default: standard output")->type_name("FILE");
  command.add_flag("--ignore-unmapped", arguments->ignore_unmapped, "Leave out the settings that are not mapped");
  command
      .add_option("--to", arguments->to,
                  "Workload file that is written: GOAL as text (.goal) or as a binary file (.bin)")
      ->type_name("FILE");
  add_trace_options(command, arguments->trace);
}

void add_workload(CLI::App& app, Action& action) {
  CLI::App& workload = *app.add_subcommand("workload", "Look at schedules and traces that jobs are made of");
  workload.require_subcommand(1);
  CLI::App& info = *workload.add_subcommand("info", "Say what is in a workload file, without running it");
  const auto arguments = with_action(info, action, &workload_info);
  info.add_option("FILE", arguments->file, "Workload file; its format is told by its content")->required();
  info.add_flag("--json", arguments->json, "JSON on standard output");
  add_trace_options(info, arguments->trace);
}

void add_export(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("export", "Print the table of a result store");
  const auto arguments = with_action(command, action, &export_store);
  command.add_option("FOLDER", arguments->from, "Folder that --out of a sweep filled")->required();
  auto* csv = command.add_flag("--csv", arguments->csv, "CSV on standard output");
  command.add_flag("--json", arguments->json, "JSON on standard output")->excludes(csv);
  command.add_option("--metric", arguments->metrics, "Metric to show in the table (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->excludes("--csv")
      ->excludes("--json");
}

void add_trees(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("trees", "Print the congestion trees of a run that recorded them");
  const auto arguments = with_action(command, action, &trees);
  command.add_option("RESULT", arguments->from, "Folder that --out filled, of a run with run.trees")->required();
  auto* timeline = command.add_flag("--timeline", arguments->timeline, "Trees over time, one line each");
  auto* events = command.add_flag("--events", arguments->events, "Every event, one line each");
  auto* at = command.add_option("--at", arguments->at, "Trees at a time with their members, in cycles")
                 ->check(is_natural())
                 ->type_name("T");
  timeline->excludes(events)->excludes(at);
  events->excludes(at);
  command.add_option("--least", arguments->least, "Only trees that once had so many members (1)")
      ->check(is_natural())
      ->type_name("N");
  command.add_option("--point", arguments->point, "Point of a sweep, from 0; default: the first with trees")
      ->check(is_natural())
      ->type_name("N");
  command.add_flag("--json", arguments->json, "JSON on standard output")->excludes(timeline);
}

void add_report(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("report", "Write the page of a study, a sweep or a run");
  const auto arguments = with_action(command, action, &report);
  command.add_option("FOLDER", arguments->from, "Folder that --out filled")->required();
  command.add_option("--out", arguments->out, "Folder of the page; default: the same")->type_name("DIR");
}

void add_compare(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("compare", "Compare two runs, or the points of two sweeps, with intervals");
  const auto arguments = with_action(command, action, &compare);
  command.add_option("A", arguments->a, kResultHelp)->required();
  command.add_option("B", arguments->b, kResultHelp)->required();
  command.add_flag("--json", arguments->json, "JSON on standard output");
  command.add_option("--metric", arguments->metrics, "Only this metric (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

/// Text that is a number in (0, 1).
CLI::Validator is_share() {
  return {[](const std::string& text) {
            double value = 0.0;
            const char* end = text.data() + text.size();
            const auto read = std::from_chars(text.data(), end, value);
            const bool share = read.ec == std::errc{} && read.ptr == end && value > 0.0 && value < 1.0;
            return share ? std::string() : fmt::format("{} is not a number above 0 and below 1", text);
          },
          "", "share"};
}

void add_saturation(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("saturation", "Bracket the load at which a network saturates");
  const auto arguments = with_action(command, action, &saturation);
  command.add_option("FILE", arguments->file, kFileHelp)->required();
  command.add_option("key=value", arguments->overrides, kOverrideHelp)->type_name("");
  command.add_option("--width", arguments->width, "Width of the bracket, in load (0.01)")
      ->check(is_share())
      ->type_name("W");
  command.add_option("--key", arguments->key, "Load to vary alone; default: every load, in proportion")
      ->type_name("KEY");
  command.add_flag("--json", arguments->running.json, "JSON on standard output");
  add_running(command, arguments->running);
}

void add_verify(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("verify", "Run stored results again and compare their state");
  const auto arguments = with_action(command, action, &verify);
  command.add_option("RESULT", arguments->from, kResultHelp)->required();
  command.add_option("--seed", arguments->running.seed, "Only the runs of this seed")
      ->check(is_natural())
      ->type_name("N");
  command.add_option("--threads", arguments->running.threads, "Threads to use")
      ->check(CLI::Range(1U, 1024U))
      ->type_name("N");
  command.add_flag("--json", arguments->running.json, "JSON on standard output");
  command.add_flag("--quiet,-q", arguments->running.quiet, "No progress on standard error");
}

void add_check(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("check", "Validate an experiment file without running it");
  const auto arguments = with_action(command, action, &check);
  command.add_option("FILE", arguments->file, kFileHelp)->required();
  command.add_option("key=value", arguments->overrides, kOverrideHelp)->type_name("");
  command.add_flag("--keys", arguments->keys, "Instead list the keys that key=value may have, and their choices");
}

void add_export_topology(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("export-topology", "Print the network of an experiment");
  const auto arguments = with_action(command, action, &export_topology);
  command.add_option("FILE", arguments->file, kFileHelp)->required();
  command.add_option("key=value", arguments->overrides, kOverrideHelp)->type_name("");
  auto* json = command.add_flag("--json", arguments->json, "As JSON (default)");
  auto* dot = command.add_flag("--dot", arguments->dot, "For Graphviz: \"dot -Tsvg\" draws it")->excludes(json);
  command.add_flag("--svg", arguments->svg, "As a drawing, in the shape of the page of a run")
      ->excludes(json)
      ->excludes(dot);
}

void add_describe(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("describe", "List the components, or the parameters of one");
  const auto arguments = with_action(command, action, &describe);
  auto* component = command.add_option("COMPONENT", arguments->component, "Name of a component");
  auto* json = command.add_flag("--json", arguments->json, "As JSON");
  auto* markdown = command.add_flag("--markdown", arguments->markdown, "As Markdown")->excludes(json);
  command.add_flag("--schema", arguments->schema, "The JSON Schema of experiment files")
      ->excludes(component)
      ->excludes(json)
      ->excludes(markdown);
}

void add_study_run(CLI::App& study, Action& action) {
  CLI::App& command = *study.add_subcommand("run", "Run a study's figures and check its claims");
  const auto arguments = with_action(command, action, &study_run);
  command.add_option("STUDY", arguments->name, "Study (banyan study list)")->required();
  command.add_option("key=value", arguments->overrides, kOverrideHelp)->type_name("");
  auto* quick = command.add_flag("--quick", arguments->quick, "Short form");
  command.add_flag("--full", arguments->full, "The paper's own effort")->excludes(quick);
  command.add_option("--figure", arguments->figures, "Only this figure (repeatable)")
      ->type_name("N")
      ->allow_extra_args(false);
  command
      .add_option("--fire", arguments->fires, "Only the figures of this fire, where the study has fires (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--traces", arguments->traces, "Folder with the files of a study that measures files")
      ->type_name("DIR");
  command.add_flag("--json", arguments->running.json, "JSON on standard output");
  add_running(command, arguments->running);
}

void add_study_search(CLI::App& study, Action& action) {
  CLI::App& command = *study.add_subcommand(
      "search", "Search the best parameters of every series for every fire, into best.toml in --out");
  const auto arguments = with_action(command, action, &study_search);
  arguments->search = true;
  command.add_option("STUDY", arguments->name, "Study (banyan study list)")->required();
  command.add_option("key=value", arguments->overrides, kOverrideHelp)->type_name("");
  command.add_option("--fire", arguments->fires, "Only this fire (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_running(command, arguments->running);
}

void add_study(CLI::App& app, Action& action) {
  CLI::App& study = *app.add_subcommand("study", "Reproduce a paper: its figures and claims");
  study.require_subcommand(0, 1);
  CLI::App& list = *study.add_subcommand("list", "List the studies");
  const auto list_arguments = with_action(list, action, &study_list);
  list.add_flag("--names", list_arguments->names, "Names only");
  list.add_flag("--json", list_arguments->json, "As JSON");
  add_study_run(study, action);
  add_study_search(study, action);
  CLI::App& report = *study.add_subcommand("report", "Write the report of a finished study again");
  const auto report_arguments = with_action(report, action, &study_report);
  report.add_option("FOLDER", report_arguments->from, "Folder of a finished study, or its name")->required();
  report.add_option("--out", report_arguments->out, "Folder of the report")->type_name("DIR");
  report.add_flag("--judge", report_arguments->judge, "Check the claims again, as this program words them");
}

/// Makes the arguments of commands that tell what the parser knows.
template <typename Arguments>
std::shared_ptr<Arguments> with_rows(CLI::App& app, CLI::App& command, Action& action,
                                     int (*act)(const CommandRow&, const Arguments&)) {
  auto arguments = std::make_shared<Arguments>();
  command.callback(
      [&app, &action, arguments, act] { action = [&app, arguments, act] { return act(rows_of(app), *arguments); }; });
  return arguments;
}

void add_shell(CLI::App& app, Action& action) {
  CLI::App& completed = *app.add_subcommand("completion", "Print the script that completes commands in a shell");
  const auto completion_arguments = with_rows(app, completed, action, &completion);
  completed.add_option("SHELL", completion_arguments->shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember(shells()));
  CLI::App& page = *app.add_subcommand("manual", "Print the manual page, for man(1)");
  page.add_flag("--markdown", with_rows(app, page, action, &manual)->markdown, "As Markdown");
}

/// The command in use, as deep as it was given: "banyan study run".
struct Used {
  const CLI::App* app;
  std::string path;
};

Used used_command(const CLI::App& app) {
  Used used{&app, "banyan"};
  for (auto inner = app.get_subcommands(); !inner.empty(); inner = inner.front()->get_subcommands()) {
    used = {inner.front(), used.path + " " + inner.front()->get_name()};
  }
  return used;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

[[noreturn]] void refuse(const std::string& cause, const std::string& remedy) {
  throw ConfigError({"command line", 0, 0, ""}, cause, remedy);
}

/// Words that no option and no command took.
void refuse_extras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  if (extras.empty()) return;
  const Used used = used_command(app);
  const std::string word = extras.front().substr(0, extras.front().find('='));
  if (word.starts_with("-")) {
    refuse(fmt::format("{} has no option \"{}\"", used.path, word),
           config::suggestion(word, names_of_options(*used.app), "it has"));
  }
  const std::vector<std::string> commands = names_of_commands(*used.app);
  if (commands.empty())
    refuse(fmt::format("\"{}\" is one word too many", word), fmt::format("see \"{} --help\"", used.path));
  refuse(fmt::format("{} has no command \"{}\"", used.path, word), config::suggestion(word, commands, "it has"));
}

void refuse_nothing_to_do(const CLI::App& app) {
  const Used used = used_command(app);
  const std::vector<std::string> commands = names_of_commands(*used.app);
  refuse(fmt::format("{} needs a command", used.path), config::suggestion("", commands, "it has"));
}

/// For every command that reads an experiment, or tells of components: they may be somebody else's.
void add_plugins(CLI::App& app, std::vector<std::string>& plugins) {
  const auto add = [&](CLI::App* command) {
    command->add_option("--plugin", plugins, "Load the components of a plug-in (repeatable)")
        ->check(is_named())
        ->type_name("FILE")
        ->allow_extra_args(false);
  };
  for (const char* name :
       {"run", "sweep", "saturation", "verify", "check", "export-topology", "describe", "report", "trees", "compare"}) {
    add(app.get_subcommand(name));
  }
  add(app.get_subcommand("study")->get_subcommand("run"));
}

Action parse(CLI::App& app, Action& action, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    // --help and --version print and are done.
    std::ostringstream text;
    const int status = app.exit(success, text, text);
    return [status, said = text.str()] {
      print(said);
      return status;
    };
  } catch (const CLI::ParseError& error) {
    refuse_extras(app);
    refuse(error.what(), fmt::format("see \"{} --help\"", used_command(app).path));
  }
  refuse_extras(app);
  if (!action) refuse_nothing_to_do(app);
  return action;
}

int parse_and_act(int argc, const char* const* argv) {
  CLI::App app{"Banyan simulates interconnection networks and reproduces papers about them.", "banyan"};
  app.formatter(std::make_shared<NarrowFormatter>());
  app.set_version_flag("--version", "banyan " + api::version());
  app.require_subcommand(0, 1);
  // Extras are collected, not refused, so that the message can name the nearest option.
  app.allow_extras();
  Action action;
  std::vector<std::string> plugins;
  add_run(app, action, plugins, "run", "Run one experiment", &run);
  add_run(app, action, plugins, "sweep", "Run every point of an experiment's sweep", &sweep);
  add_merge(app, action);
  add_convert(app, action);
  add_workload(app, action);
  add_export(app, action);
  add_trees(app, action);
  add_report(app, action);
  add_compare(app, action);
  add_saturation(app, action);
  add_verify(app, action);
  add_check(app, action);
  add_export_topology(app, action);
  add_describe(app, action);
  add_study(app, action);
  add_shell(app, action);
  add_plugins(app, plugins);
  Action wanted;
  try {
    wanted = parse(app, action, argc, argv);
  } catch (const ConfigError&) {
    // One of several processes with the same arguments complains.
    if (const auto of = launched(); of && of->rank != 0) return kDone;
    throw;
  }
  for (const std::string& plugin : plugins) api::load_plugin(plugin);
  return wanted();
}

/// Prints what the exception that is being handled means, and returns the status that stands for it.
int report_exception() { return tell(failure_of(std::current_exception())); }

/// The hot loop is noexcept. What it throws nonetheless, where memory or packets run out, comes here.
[[noreturn]] void end_of_hot_loop() {
  if (std::current_exception() != nullptr) std::_Exit(report_exception());
  std::abort();
}

}  // namespace

int program(int argc, const char* const* argv) {
  std::set_terminate(&end_of_hot_loop);
  try {
    return parse_and_act(argc, argv);
  } catch (...) { return report_exception(); }
}

}  // namespace banyan::cli
