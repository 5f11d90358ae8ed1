#include "banyan/api/keys.hpp"

#include <algorithm>

#include "banyan/api/draft.hpp"
#include "banyan/config/toml_reader.hpp"

namespace banyan::api {

std::vector<Key> keys_of(const std::string& file) {
  const config::Node root = config::read_toml_file(file);
  const Draft draft(root, catalog());
  std::vector<Key> keys;
  const std::vector<Part>& parts = draft.parts();
  for (const Part& part : parts) {
    if (part.kind == &catalog().analysis) continue;  // all models are given at once
    const Part named = draft.named(part);
    const bool alone = std::ranges::count(parts, part.kind, &Part::kind) == 1;
    const std::string path = alone ? part.kind->section : draft.path(part);
    if (part.kind->components.size() > 1) keys.push_back({path, part.kind->names()});
    const config::ComponentInfo* info = part.kind->find(named.name);
    if (info == nullptr) continue;
    for (const config::Parameter& parameter : info->parameters) {
      const bool flag = parameter.type == config::Type::boolean;
      keys.push_back(
          {path + "." + parameter.name, flag ? std::vector<std::string>{"true", "false"} : parameter.choices});
    }
  }
  return keys;
}

}  // namespace banyan::api
