#include "banyan/cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace banyan::cli {
namespace {

using Words = std::vector<std::string>;

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Every command, the program itself and groups of commands included.
std::vector<const CommandRow*> all_of(const CommandRow& row) {
  std::vector<const CommandRow*> all{&row};
  for (const CommandRow& command : row.commands) {
    const auto below = all_of(command);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

// --- bash, and zsh that understands it -----------------------------------------------------------------------------

/// A case of `case`: patterns, as the shell reads them, to what is done; nothing when there is no pattern.
std::string branch_of(const Words& patterns, const std::string& action) {
  if (patterns.empty()) return "";
  return fmt::format("      {})\n        {}\n        ;;\n", fmt::join(patterns, " | "), action);
}

std::string branch(const Words& texts, const std::string& action) {
  Words all;
  for (const std::string& text : texts) all.push_back(quoted(text));
  return branch_of(all, action);
}

Words dashed(const CommandRow& command) {
  Words words;
  for (const OptionRow& option : command.options) {
    if (!option.positional) words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return words;
}

Words names_of(const std::vector<CommandRow>& commands) {
  Words names;
  for (const CommandRow& command : commands) names.push_back(command.name());
  return names;
}

/// "banyan run --out", for every option with a value of that name, or of any name.
Words before_values(const CommandRow& program, const std::string& value = "") {
  Words patterns;
  for (const CommandRow* command : all_of(program)) {
    for (const OptionRow& option : command->options) {
      if (option.positional || option.value.empty() || (!value.empty() && option.value != value)) continue;
      for (const std::string& name : option.names) patterns.push_back(command->path + " " + name);
    }
  }
  return patterns;
}

/// 'banyan run 0', for every argument with a value of that name; 'banyan run '[1-9]* for one that may be repeated.
Words places_of(const CommandRow& program, const std::string& value) {
  Words patterns;
  for (const CommandRow* command : all_of(program)) {
    const auto positionals = command->positionals();
    for (std::size_t i = 0; i < positionals.size(); ++i) {
      if (positionals[i].value != value) continue;
      patterns.push_back(positionals[i].repeatable ? fmt::format("{}[{}-9]*", quoted(command->path + " "), i)
                                                   : quoted(fmt::format("{} {}", command->path, i)));
    }
  }
  return patterns;
}

constexpr const char* kBash = R"sh(# Completion of {name} for {shell}. Load it with: source <({name} completion {shell})
_{name}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} path={name} place=0 words='' word i file='' key='' prefix='' line
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    case "$path $word" in
{commands}{valued}      *' -'*) ;;
      *) [[ $place == 0 && -f $word ]] && file=$word
        place=$((place + 1)) ;;
    esac
  done
  if ((i > COMP_CWORD)); then
    case "$path $word" in
{values}      *) return ;;
    esac
  elif [[ $current == -* ]]; then
    case $path in
{options}    esac
  elif [[ $current == *=* || $word == '=' ]]; then
    # Of key=value bash makes three words, zsh one.
    if [[ $word == '=' ]]; then
      key=${{COMP_WORDS[COMP_CWORD - 2]}}
    elif [[ $current == '=' ]]; then
      key=$word current=''
    else
      key=${{current%%=*}} prefix="${{current%%=*}}="
    fi
    [[ -n $file ]] || return
    while read -r line; do
      if [[ $line == "$key= "* ]]; then words=" ${{line#* }}"; fi
    done <<<"$("${{COMP_WORDS[0]}}" check --keys "$file" 2>/dev/null)"
    words=${{words// / $prefix}}
  else
    case "$path $place" in
{places}    esac
    # Of an experiment only its own components' keys.
    if [[ -n $file && $words == *'run.seed='* ]]; then
      while read -r line; do key+=" ${{line%%=*}}="; done \
        <<<"$("${{COMP_WORDS[0]}}" check --keys "$file" 2>/dev/null)"
      if [[ $key != ' =' ]]; then words=$key; fi
    fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ ${{COMPREPLY[0]}} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}}
# Without a word to offer, the shell completes names of files.
complete -o default -F _{name} {name}
)sh";

std::string bash_script(const std::string& shell, const CommandRow& program, const Choices& choices) {
  Words paths;
  std::string options;
  std::string places;
  for (const CommandRow* command : all_of(program)) {
    if (command != &program) paths.push_back(command->path);
    options +=
        branch({command->path}, fmt::format("words={}", quoted(fmt::format("{}", fmt::join(dashed(*command), " ")))));
    if (command->commands.empty()) continue;
    const Words names = names_of(command->commands);
    places += branch({command->path + " 0"}, fmt::format("words={}", quoted(fmt::format("{}", fmt::join(names, " ")))));
  }
  std::string values;
  for (const auto& [value, words] : choices) {
    const std::string action = fmt::format("words={}", quoted(fmt::format("{}", fmt::join(words, " "))));
    values += branch(before_values(program, value), action);
    places += branch_of(places_of(program, value), action);
  }
  return fmt::format(kBash, fmt::arg("name", program.name()), fmt::arg("shell", shell),
                     fmt::arg("commands", branch(paths, "path=\"$path $word\" place=0")),
                     fmt::arg("valued", branch(before_values(program), "((i++))")), fmt::arg("values", values),
                     fmt::arg("options", options), fmt::arg("places", places));
}

// --- fish ----------------------------------------------------------------------------------------------------------

/// The command line is in this command, and in none of its own commands.
std::string fish_condition(const CommandRow& command) {
  std::string names = "__fish_use_subcommand";
  const std::size_t first = command.path.find(' ');
  if (first != std::string::npos) {
    names = fmt::format("string match -qr '^{}( |$)' -- (string join ' ' (commandline -opc))", command.path);
  }
  if (first == std::string::npos || command.commands.empty()) return names;
  return fmt::format("{}; and not __fish_seen_subcommand_from {}", names, fmt::join(names_of(command.commands), " "));
}

std::string fish_option(const OptionRow& option, const Choices& choices) {
  std::string line;
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) line += " -r";
  const auto words = choices.find(option.value);
  if (words != choices.end()) line += " -f -a " + quoted(fmt::format("{}", fmt::join(words->second, " ")));
  return line;
}

constexpr const char* kFishKeys =
    R"fish(# The keys of the experiment whose file is on the line, and the choices of the one that is written; or the arguments.
function __{name}_keys
  set -l words (commandline -opc)
  set -l token (commandline -ct)
  for word in $words[2..-1]
    test -f "$word"; or continue
    set -l lines ($words[1] check --keys "$word" 2>/dev/null)
    test (count $lines) -gt 0; or break
    for line in $lines
      set -l key (string replace -r '=.*' '=' -- "$line")
      if string match -q -- "$key*" "$token"
        printf '%s\n' "$key"(string split -n ' ' -- (string replace -r '^[^=]*=' '' -- "$line"))
      else
        echo "$key"
      end
    end
    return
  end
  printf '%s\n' $argv
end
)fish";

std::string fish_script(const CommandRow& program, const Choices& choices) {
  const std::string name = program.name();
  std::string script = fmt::format("# Completion of {0} for fish. Load it with: {0} completion fish | source\n", name);
  script += fmt::format(kFishKeys, fmt::arg("name", name));
  for (const CommandRow* command : all_of(program)) {
    const std::string line = fmt::format("complete -c {} -n {}", name, quoted(fish_condition(*command)));
    for (const CommandRow& below : command->commands) {
      script += fmt::format("{} -f -a {} -d {}\n", line, below.name(), quoted(below.help));
    }
    for (const OptionRow& option : command->options) {
      const auto words = choices.find(option.value);
      if (!option.positional) {
        script += fmt::format("{}{} -d {}\n", line, fish_option(option, choices), quoted(option.help));
      } else if (words != choices.end()) {
        const std::string listed = fmt::format("{}", fmt::join(words->second, " "));
        // The values of a key may be files.
        const bool keys = option.value.find('=') != std::string::npos;
        script += keys ? fmt::format("{} -a {}\n", line, quoted(fmt::format("(__{}_keys {})", name, listed)))
                       : fmt::format("{} -f -a {}\n", line, quoted(listed));
      }
    }
  }
  return script;
}

}  // namespace

const std::vector<std::string>& shells() {
  static const std::vector<std::string> names{"bash", "zsh", "fish"};
  return names;
}

std::string completion_script(const std::string& shell, const CommandRow& program, const Choices& choices) {
  if (shell == "fish") return fish_script(program, choices);
  const std::string script = bash_script(shell, program, choices);
  if (shell != "zsh") return script;
  // Where zsh loads the script by itself, as the function _banyan, the first call has to complete too.
  return fmt::format(
      "#compdef {0}\nautoload -U +X bashcompinit && bashcompinit\n{1}"
      "[[ $funcstack[1] != _{0} ]] || eval \"$_comps[{0}]\"\n",
      program.name(), script);
}

}  // namespace banyan::cli
