// Multicasts to m uniformly random terminals, in hardware or in software.
#include "banyan/traffic/parts/multicasts.hpp"

namespace banyan::traffic::multicast {
extern const core::TrafficRow row_multicast;
const core::TrafficRow row_multicast{
    {"multicast", "Multicasts to m uniformly random terminals, in hardware or in software",
     "R. Sivaram, C. B. Stunkel, D. K. Panda, Implementing Multidestination Worms in Switch-Based Parallel Systems, "
     "section 7; H. Xu, Y.-D. Gui, L. M. Ni, Optimal Software Multicast in Wormhole-Routed Multistage Networks, "
     "Supercomputing 1994",
     Multicasts::parameters(1.0)},
    &make_multicasts};

}  // namespace banyan::traffic::multicast
