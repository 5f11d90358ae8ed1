// The study of a chip's networks measures traces and has no figures of its own.
#include "banyan/study/study.hpp"
#include "report.hpp"

namespace banyan::study::silicon {
namespace {

std::vector<Claim> claims() { return {}; }

FilesResult measure(const Study& study, const FilesOptions& options) {
  const std::string constants(file_text(study.files, "constants.toml"));
  const Traces traces = read_traces(options.folder);
  Comparison comparison = compare(traces.read, read_constants(constants, options.overrides));
  comparison.refused = traces.refused;
  FilesResult result{to_table(comparison), to_json(comparison), {}, figures_of(comparison), {}, traces.refused};
  u64 barriers = 0;
  for (const ClassResult& one : comparison.classes) barriers += one.waits.size();
  result.tiles = {{std::to_string(comparison.traces.size()), "traces"},
                  {std::to_string(barriers), "barriers compared"}};
  std::string text;
  for (const auto& [name, value] : comparison.constants) text += (text.empty() ? "" : ", ") + name + " = " + value;
  result.provenance = {{"Constants", text}};
  return result;
}

}  // namespace

extern const StudyRow row_silicon;
const StudyRow row_silicon{.slug = "silicon", .claims = &claims, .curves = nullptr, .measure = &measure};

}  // namespace banyan::study::silicon
