// banyan export-topology: the network of an experiment, as a drawing, for Graphviz or as JSON.
#include "banyan/api/network.hpp"
#include "banyan/api/topology_export.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/converted.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/report/drawing.hpp"

namespace banyan::cli {

int export_topology(const ExportTopologyArguments& arguments) {
  const api::ExperimentSet set = read_experiments(arguments.file, arguments.overrides);
  // A sweep gives the network of its first point.
  const api::Experiment& first = set.points.front();
  if (arguments.svg) {
    print(report::network_svg(first.topology.component(), *api::build_topology(first)));
  } else {
    print(arguments.dot ? api::topology_dot(first) : api::topology_json(first));
  }
  return kDone;
}

}  // namespace banyan::cli
