// banyan completion and banyan manual: what the parser knows, for shells and for man(1).
#include <algorithm>

#include "banyan/api/catalog.hpp"
#include "banyan/api/version.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/completion.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/manual.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/study/study.hpp"

namespace banyan::cli {
namespace {

using Words = std::vector<std::string>;

Choices choices() {
  Choices all;
  for (const api::Kind* kind : api::catalog().kinds()) {
    for (const std::string& name : kind->names()) all["COMPONENT"].push_back(name);
  }
  for (const study::Study& study : study::studies()) all["STUDY"].emplace_back(study.row->slug);
  all["SHELL"] = shells();
  Words& keys = all["key=value"];
  for (const api::Kind* kind : api::catalog().kinds()) {
    for (const config::ComponentInfo* info : kind->components) {
      for (const config::Parameter& parameter : info->parameters) {
        keys.push_back(kind->section + "." + parameter.name + "=");
      }
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return all;
}

}  // namespace

int completion(const CommandRow& program, const CompletionArguments& arguments) {
  print(completion_script(arguments.shell, program, choices()));
  return kDone;
}

int manual(const CommandRow& program, const ManualArguments& arguments) {
  print(arguments.markdown ? manual_markdown(program) : manual_page(program, api::version()));
  return kDone;
}

}  // namespace banyan::cli
