// banyan compare: is B better than A, and could chance have done it?
#include "banyan/api/measure/compare.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/stored.hpp"

namespace banyan::cli {

int compare(const CompareArguments& arguments) {
  const api::Runs a = stored_runs(arguments.a);
  const api::Runs b = stored_runs(arguments.b);
  const api::RunsComparison comparison = api::compare(a, b);
  if (arguments.json) {
    print(api::to_json(comparison, arguments.metrics) + "\n");
  } else {
    show_text(api::to_text(comparison, a, b, arguments.metrics));
  }
  return kDone;
}

}  // namespace banyan::cli
