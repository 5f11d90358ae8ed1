// The files that an experiment reads: what is in them is a part of the identity of its runs, and where they lie is not.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "banyan/api/experiment.hpp"

namespace banyan::api {

/// Digests of files, each file read once.
class InputDigests {
 public:
  /// `recorded`: digests of the files that parameters name, by key: what a configuration recorded, which is believed
  /// until the experiment is built.
  explicit InputDigests(std::map<std::string, u64> recorded) : recorded_(std::move(recorded)), is_recorded_(true) {}
  InputDigests() = default;

  [[nodiscard]] Input read(const std::string& key, const std::string& path);

 private:
  std::map<std::string, u64> recorded_;
  bool is_recorded_ = false;
  std::map<std::string, Input> known_;  ///< by path
};

/// Lists the files that parameters of the experiment name (config::Parameter::file), in Experiment::inputs.
void find_inputs(Experiment& experiment, InputDigests& digests);

/// Which file has another content than when the experiment was read, or recorded, in a sentence; "": none.
[[nodiscard]] std::string changed_input(const Experiment& experiment);
/// Throws ConfigError where there is one.
void require_unchanged(const Experiment& experiment);
/// Throws ConfigError where the content of a file cannot be told before a run reads it: no store could find such a run
/// again.
void require_files(const Experiment& experiment);

/// Writes the digests beside the configuration: "inputs": {"topology.file": "00f3..."}.
void describe_inputs(const Experiment& experiment, nlohmann::json& configuration);
/// Takes them out again.
[[nodiscard]] std::map<std::string, u64> take_inputs(nlohmann::json& configuration);
/// Takes out the paths of files whose content is known.
void leave_out_paths(nlohmann::json& configuration);
[[nodiscard]] std::string without_paths(const std::string& configuration);

}  // namespace banyan::api
