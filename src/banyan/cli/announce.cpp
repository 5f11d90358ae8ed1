#include "banyan/cli/announce.hpp"

#include "banyan/api/advice.hpp"
#include "banyan/api/idle.hpp"
#include "banyan/api/needs.hpp"
#include "banyan/cli/output.hpp"

namespace banyan::cli {

std::string announce_needs(const std::vector<api::Experiment>& points, u32 at_once, bool quiet) {
  // What jobs need depends on their schedules.
  if (!points.empty() && !points.front().jobs.empty()) return "";
  const double available = api::available_memory();
  api::require_fit(points, at_once, available);
  if (quiet) return "";
  std::string text = api::needs_text(points, at_once, available);
  if (!api::slow_to_build(points)) return text;
  if (!text.empty()) note(text);
  return "";
}

void warn_of_idle_parameters(const std::vector<api::Experiment>& points) {
  for (const std::string& text : api::idle_parameters(points)) note("warning: " + text);
}

void warn_of_choices(const std::vector<api::Experiment>& saturated) {
  for (const std::string& text : api::check_choices(saturated)) note("warning: " + text);
}

}  // namespace banyan::cli
