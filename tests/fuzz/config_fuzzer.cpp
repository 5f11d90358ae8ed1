// Is there any text that the configuration reader neither reads nor refuses? (libFuzzer; tests/README.md says how to
// run it.) A text is refused by ConfigError alone: anything else that is thrown, a crash, an endless loop or a
// sanitizer's finding is a fault. What is read must be readable again from its own canonical form.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "banyan/api/catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/base/error.hpp"

namespace {

void read(const std::string& text) {
  banyan::api::ExperimentSet set;
  try {
    set = banyan::api::read_experiments_text(text, "fuzz.toml", {});
  } catch (const banyan::ConfigError&) { return; }
  const banyan::api::Experiment& first = set.points.at(0);
  const banyan::api::Experiment again = banyan::api::experiment_from(first.configuration, banyan::api::catalog());
  if (again.configuration != first.configuration) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read(std::string(data, data + size));
  return 0;
}
