#include "banyan/api/version.hpp"

#include "banyan_state.hpp"

#ifndef BANYAN_VERSION
#define BANYAN_VERSION "unknown"
#endif

namespace banyan::api {

std::string version() { return BANYAN_VERSION; }

std::string state_digest() { return BANYAN_STATE; }

}  // namespace banyan::api
