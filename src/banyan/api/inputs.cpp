#include "banyan/api/inputs.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/config/json.hpp"
#include "banyan/workload/chakra.hpp"

namespace banyan::api {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kInputs = "inputs";

/// A trace of Chakra is a folder, or one file of several. What is wrong with it, who builds the experiment will say.
std::vector<std::string> files_of(const std::string& path) {
  try {
    return workload::chakra_files(path);
  } catch (const ConfigError&) { return {path}; }
}

/// Changes with the size of the files and the times at which they were written. 0: one is not there.
u64 stamp_of(const std::vector<std::string>& files) {
  Hasher hasher;
  for (const std::string& file : files) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    hasher.add(static_cast<u64>(status.st_ino));
    hasher.add(static_cast<u64>(status.st_size));
    hasher.add(static_cast<u64>(status.st_mtim.tv_sec));
    hasher.add(static_cast<u64>(status.st_mtim.tv_nsec));
  }
  return std::max<u64>(hasher.value(), 1);
}

std::optional<u64> digest_of(const std::vector<std::string>& files) {
  if (files.size() == 1) return digest_of_file(files.front());
  Hasher hasher;
  for (const std::string& file : files) {
    const std::optional<u64> one = digest_of_file(file);
    if (!one) return std::nullopt;
    hasher.add(*one);
  }
  return hasher.value();
}

/// "traffic.0.file" in a configuration.
json::json_pointer place_of(std::string key) {
  std::replace(key.begin(), key.end(), '.', '/');
  return json::json_pointer("/" + key);
}

template <typename F>
void for_each_part(const Experiment& experiment, F&& f) {
  f("topology", experiment.topology);
  f("switch", experiment.switching);
  f("routing", experiment.routing);
  f("admission", experiment.admission);
  f("run", experiment.run);
  const auto several = [&](const char* section, const std::vector<config::Values>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) f(fmt::format("{}.{}", section, i), all[i]);
  };
  several("traffic", experiment.traffics);
  several("analysis", experiment.analyses);
  several("job", experiment.jobs);
}

}  // namespace

Input InputDigests::read(const std::string& key, const std::string& path) {
  if (is_recorded_) {
    const auto found = recorded_.find(key);
    return {key, path, found == recorded_.end() ? std::nullopt : std::optional(found->second), 0};
  }
  const auto [place, fresh] = known_.try_emplace(path);
  if (fresh) {
    const std::vector<std::string> files = files_of(path);
    const u64 stamp = stamp_of(files);  // first: what is written meanwhile has a later one
    place->second = {key, path, stamp == 0 ? std::nullopt : digest_of(files), stamp};
  }
  Input input = place->second;
  input.key = key;
  return input;
}

void find_inputs(Experiment& experiment, InputDigests& digests) {
  experiment.inputs.clear();
  for_each_part(experiment, [&](const std::string& section, const config::Values& values) {
    for (const std::string& name : values.files()) {
      experiment.inputs.push_back(digests.read(section + "." + name, values.text(name)));
    }
  });
}

namespace {

const Input* first_changed(const Experiment& experiment, u64& now) {
  for (const Input& input : experiment.inputs) {
    if (!input.digest) continue;
    const std::vector<std::string> files = files_of(input.path);
    const u64 stamp = stamp_of(files);
    if (stamp != 0 && stamp == input.stamp) continue;
    const std::optional<u64> digest = digest_of(files);
    // Nothing there: whoever reads it says so better.
    if (stamp == 0 || !digest || *digest == *input.digest) continue;
    now = *digest;
    return &input;
  }
  return nullptr;
}

std::string change_text(const Input& input, u64 now) {
  return fmt::format(
      "has changed since it was read for this run: its content had the digest {:016x}, and has {:016x} now",
      *input.digest, now);
}

}  // namespace

std::string changed_input(const Experiment& experiment) {
  u64 now = 0;
  const Input* input = first_changed(experiment, now);
  return input == nullptr ? "" : fmt::format("{} ({}) {}", input->path, input->key, change_text(*input, now));
}

void require_unchanged(const Experiment& experiment) {
  u64 now = 0;
  const Input* input = first_changed(experiment, now);
  if (input == nullptr) return;
  throw ConfigError({input->path, 0, 0, input->key}, change_text(*input, now),
                    "give the run the file that it was made with, or run the experiment again");
}

void require_files(const Experiment& experiment) {
  for (const Input& input : experiment.inputs) {
    std::error_code ignored;
    const fs::file_status status = fs::status(input.path, ignored);
    // What is not there, or may not be read, who builds the experiment will say.
    if (input.digest || !fs::exists(status) || fs::is_directory(status) || fs::is_regular_file(status)) continue;
    throw ConfigError({input.path, 0, 0, input.key},
                      "this is a pipe or a device, and a store must tell by the content of a file whether it has a run",
                      "write it into a file first, or leave out --out");
  }
}

void describe_inputs(const Experiment& experiment, json& configuration) {
  for (const Input& input : experiment.inputs) {
    // Runs of jobs keep a part of [run].
    if (!input.digest || !configuration.contains(place_of(input.key))) continue;
    configuration[kInputs][input.key] = fmt::format("{:016x}", *input.digest);
  }
}

std::map<std::string, u64> take_inputs(json& configuration) {
  std::map<std::string, u64> digests;
  const auto inputs = configuration.find(kInputs);
  if (inputs == configuration.end() || !inputs->is_object()) return digests;
  for (const auto& [key, value] : inputs->items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    u64 digest = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), digest, 16);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size()) digests.emplace(key, digest);
  }
  configuration.erase(inputs);
  return digests;
}

void leave_out_paths(json& configuration) {
  if (!configuration.contains(kInputs)) return;
  for (const auto& [key, value] : configuration.at(kInputs).items()) {
    const json::json_pointer place = place_of(key);
    if (configuration.contains(place)) configuration.at(place.parent_pointer()).erase(place.back());
  }
}

std::string without_paths(const std::string& configuration) {
  json all = json::parse(configuration);
  leave_out_paths(all);
  return config::dump(all);
}

}  // namespace banyan::api
