// Every component by kind, as an experiment file names them. A catalog can be made by hand, for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "banyan/config/schema.hpp"

namespace banyan::api {

/// Components of one kind.
struct Kind {
  std::string
      section;  ///< key of the experiment file: "topology", "switch", "routing", "traffic"; "admission", "analysis"
  std::string plural;  ///< for messages and headings
  std::vector<const config::ComponentInfo*> components;

  [[nodiscard]] const config::ComponentInfo* find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
};

struct Catalog {
  Kind topology{"topology", "topologies", {}};
  Kind switching{"switch", "switches", {}};
  Kind routing{"routing", "routings", {}};
  Kind traffic{"traffic", "traffics", {}};
  Kind admission{"admission", "admissions", {}};
  Kind analysis{"analysis", "analytical models", {}};
  Kind job{"job", "jobs", {}};                ///< one component: the parameters of a [[job]]
  Kind messages{"messages", "messages", {}};  ///< likewise: flit, packet and cycle_time of an experiment of jobs
  Kind run{"run", "run", {}};                 ///< one component: the parameters of the run itself

  [[nodiscard]] std::vector<const Kind*> kinds() const {
    return {&topology, &switching, &routing, &traffic, &admission, &analysis, &job, &messages, &run};
  }
};

/// All registered components.
[[nodiscard]] const Catalog& catalog();

}  // namespace banyan::api
