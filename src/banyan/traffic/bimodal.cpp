// Multicasts to m random terminals among messages with one random destination.
#include "banyan/traffic/parts/multicasts.hpp"

namespace banyan::traffic::bimodal {
extern const core::TrafficRow row_bimodal;
const core::TrafficRow row_bimodal{
    {"bimodal", "Multicasts to m random terminals among messages with one random destination",
     "R. Sivaram, C. B. Stunkel, D. K. Panda, Implementing Multidestination Worms in Switch-Based Parallel Systems, "
     "section 7.6; H. Xu, Y.-D. Gui, L. M. Ni, Optimal Software Multicast in Wormhole-Routed Multistage Networks, "
     "Supercomputing 1994",
     Multicasts::parameters(0.2)},
    &make_multicasts};

}  // namespace banyan::traffic::bimodal
