#include "banyan/cli/announce.hpp"

#include "banyan/api/needs.hpp"
#include "banyan/cli/output.hpp"

namespace banyan::cli {

void announce_needs(const std::vector<api::Experiment>& points, u32 at_once, bool quiet) {
  api::require_fit(points, at_once, api::available_memory());
  if (quiet) return;
  const std::string text = api::needs_text(points, at_once);
  if (!text.empty()) note(text);
}

}  // namespace banyan::cli
