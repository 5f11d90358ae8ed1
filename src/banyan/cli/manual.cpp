#include "banyan/cli/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "banyan/cli/exit_status.hpp"

namespace banyan::cli {
namespace {

/// Text that the formatter takes as it is.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\n') {
      out += ' ';
    } else {
      out += c;
    }
  }
  // A dot or an apostrophe at the front of a line would be a request.
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string slanted(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

using Style = std::string (*)(const std::string&);

std::string usage_in(const CommandRow& command, Style path, Style word) {
  std::string line = path(command.path);
  for (const OptionRow& option : command.positionals()) {
    const std::string value = word(option.value) + (option.repeatable ? " ..." : "");
    line += option.required ? " " + value : " [" + value + "]";
  }
  return line + " [" + word("options") + "]";
}

std::string usage(const CommandRow& command) { return usage_in(command, &bold, &slanted); }

std::string plain_usage(const CommandRow& command) {
  constexpr auto as_it_is = [](const std::string& text) { return text; };
  return usage_in(command, as_it_is, as_it_is);
}

std::string entry(const std::string& head, const std::string& text) {
  return ".TP\n" + head + "\n" + plain(text) + "\n";
}

std::string head_of(const OptionRow& option) {
  std::string head;
  for (const std::string& name : option.names) {
    if (!head.empty()) head += ", ";
    head += option.positional ? slanted(name) : bold(name);
  }
  return option.positional || option.value.empty() ? head : head + " " + slanted(option.value);
}

std::string section_of(const CommandRow& command) {
  std::string text = fmt::format(".SS {}\n{}\n.PP\n{}.\n", plain(command.path), usage(command), plain(command.help));
  for (const OptionRow& option : command.options) {
    if (option.names.front() != "--help") text += entry(head_of(option), option.help);
  }
  return text;
}

}  // namespace

std::string manual_page(const CommandRow& program, const std::string& version) {
  std::string text = fmt::format(".TH BANYAN 1 \"\" \"banyan {}\" \"User Commands\"\n", plain(version));
  text += fmt::format(".SH NAME\n{} \\- simulator of interconnection networks\n", plain(program.name()));
  text += ".SH SYNOPSIS\n";
  for (const CommandRow& command : leaves_of(program)) text += usage(command) + "\n.br\n";
  text += fmt::format(".SH DESCRIPTION\n{}\n", plain(program.help));
  text += ".SH OPTIONS\n";
  for (const OptionRow& option : program.options) text += entry(head_of(option), option.help);
  text += ".SH COMMANDS\n";
  for (const CommandRow& command : leaves_of(program)) text += section_of(command);
  text += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : kExitMeanings) text += entry(bold(fmt::format("{}", int{status})), meaning);
  text += ".SH ENVIRONMENT\n";
  text += entry(bold("NO_COLOR"), "When set, nothing is printed in colour.");
  text += entry(bold("COLUMNS"),
                "Width of charts, and that text and tables are folded for, into pipes and files too when it is set.");
  text += ".SH FILES\n";
  text += entry(slanted("results.sqlite"), "The result store, in the folder that --out names.");
  return text;
}

std::string manual_markdown(const CommandRow& program) {
  std::string text = fmt::format("# Commands\n\n{}\n", program.help);
  for (const CommandRow& command : leaves_of(program)) {
    text +=
        fmt::format("\n## {}\n\n{}.\n\n```console\n$ {}\n```\n\n", command.path, command.help, plain_usage(command));
    text += "| | |\n|---|---|\n";
    for (const OptionRow& option : command.options) {
      if (option.names.front() == "--help") continue;
      const bool valued = !option.positional && !option.value.empty();
      text += fmt::format("| `{}{}` | {} |\n", fmt::join(option.names, "`, `"), valued ? " " + option.value : "",
                          option.help);
    }
  }
  text += "\n## Exit status\n\n| | |\n|---|---|\n";
  for (const auto& [status, meaning] : kExitMeanings) text += fmt::format("| {} | {} |\n", int{status}, meaning);
  return text;
}

}  // namespace banyan::cli
