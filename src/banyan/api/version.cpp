#include "banyan/api/version.hpp"

#ifndef BANYAN_VERSION
#define BANYAN_VERSION "unknown"
#endif

namespace banyan::api {

std::string version() { return BANYAN_VERSION; }

}  // namespace banyan::api
