// The study of a chip's networks measures traces and has no figures of its own.
#include "banyan/study/study.hpp"
#include "report.hpp"

namespace banyan::study::silicon {
namespace {

std::vector<Claim> claims() { return {}; }

FilesResult measure(const Study& study, const FilesOptions& options) {
  const std::string constants(file_text(study.files, "constants.toml"));
  const Comparison comparison = compare(read_traces(options.folder), read_constants(constants, options.overrides));
  return {to_table(comparison), to_json(comparison)};
}

}  // namespace

extern const StudyRow row_silicon;
const StudyRow row_silicon{.slug = "silicon", .claims = &claims, .curves = nullptr, .measure = &measure};

}  // namespace banyan::study::silicon
