// banyan describe: components, parameters, and the schema for editors.
#include "banyan/api/catalog.hpp"
#include "banyan/api/describe.hpp"
#include "banyan/api/schema_export.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"

namespace banyan::cli {
namespace {

std::string text_of(const DescribeArguments& arguments) {
  const api::Catalog& all = api::catalog();
  if (arguments.schema) return api::experiment_schema(all) + "\n";
  if (arguments.json) return api::describe_json(all, arguments.component) + "\n";
  if (arguments.markdown) return api::describe_markdown(all, arguments.component);
  return arguments.component.empty() ? api::describe_all(all) : api::describe(all, arguments.component);
}

}  // namespace

int describe(const DescribeArguments& arguments) {
  const bool for_people = !arguments.schema && !arguments.json && !arguments.markdown;
  for_people ? show_text(text_of(arguments)) : print(text_of(arguments));
  return kDone;
}

}  // namespace banyan::cli
