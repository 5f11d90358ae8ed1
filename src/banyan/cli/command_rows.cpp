#include "banyan/cli/command_rows.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

namespace banyan::cli {
namespace {

OptionRow row_of(const CLI::Option& option) {
  OptionRow row;
  row.help = option.get_description();
  row.positional = option.get_positional();
  row.required = option.get_required();
  row.repeatable = option.get_items_expected_max() > 1;
  if (row.positional) {
    row.names = {option.get_name(true)};
    row.value = row.names.front();
    return row;
  }
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
  if (option.get_items_expected_max() == 0) return row;
  const std::string type = option.get_type_name();
  row.value = type.substr(0, type.find(':'));  // what follows describes a check: "N:UINT in [1 - 1024]"
  return row;
}

CommandRow row_of(const CLI::App& app, const std::string& path) {
  CommandRow row{path, app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) row.options.push_back(row_of(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    row.commands.push_back(row_of(*command, path + " " + command->get_name()));
  }
  return row;
}

}  // namespace

std::string CommandRow::name() const { return path.substr(path.rfind(' ') + 1); }

std::vector<OptionRow> CommandRow::positionals() const {
  std::vector<OptionRow> rows;
  std::copy_if(options.begin(), options.end(), std::back_inserter(rows),
               [](const OptionRow& option) { return option.positional; });
  return rows;
}

CommandRow rows_of(const CLI::App& app) { return row_of(app, app.get_name()); }

std::vector<CommandRow> leaves_of(const CommandRow& row) {
  if (row.commands.empty()) return {row};
  std::vector<CommandRow> leaves;
  for (const CommandRow& command : row.commands) {
    const std::vector<CommandRow> below = leaves_of(command);
    leaves.insert(leaves.end(), below.begin(), below.end());
  }
  return leaves;
}

}  // namespace banyan::cli
