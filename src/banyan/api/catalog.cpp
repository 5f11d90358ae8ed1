#include "banyan/api/catalog.hpp"

#include <cstddef>
#include <deque>
#include <mutex>

#include "banyan/api/experiment.hpp"
#include "banyan/api/jobs.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::api {
namespace {

template <typename Rows>
void add_all(const Rows& rows, Kind& kind) {
  for (const auto* row : rows) kind.components.push_back(&row->info);
}

Catalog registered() {
  Catalog all;
  add_all(core::topology_rows(), all.topology);
  add_all(core::switching_rows(), all.switching);
  add_all(core::routing_rows(), all.routing);
  add_all(core::traffic_rows(), all.traffic);
  add_all(core::admission_rows(), all.admission);
  add_all(core::analysis_rows(), all.analysis);
  all.job.components.push_back(&job_info());
  all.messages.components.push_back(&messages_info());
  all.run.components.push_back(&run_info());
  return all;
}

/// The catalogue before and after each plug-in: who reads an experiment may have one that is not the newest any more.
class Catalogs {
 public:
  const Catalog& newest() {
    const std::lock_guard lock(mutex_);
    const std::size_t components = core::topology_rows().size() + core::switching_rows().size() +
                                   core::routing_rows().size() + core::traffic_rows().size() +
                                   core::admission_rows().size() + core::analysis_rows().size();
    if (components != components_) {
      all_.push_back(registered());
      components_ = components;
    }
    return all_.back();
  }

 private:
  std::mutex mutex_;
  std::deque<Catalog> all_;
  std::size_t components_ = 0;  ///< of the newest
};

}  // namespace

const config::ComponentInfo* Kind::find(std::string_view name) const {
  for (const config::ComponentInfo* info : components) {
    if (info->name == name) return info;
  }
  return nullptr;
}

std::vector<std::string> Kind::names() const {
  std::vector<std::string> list;
  for (const config::ComponentInfo* info : components) list.push_back(info->name);
  return list;
}

const Catalog& catalog() {
  static Catalogs all;  // plug-ins
  return all.newest();
}

}  // namespace banyan::api
