// banyan convert, and what run --booksim shares with it.
#include <fmt/core.h>

#include <algorithm>

#include "banyan/api/booksim.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/converted.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"

namespace banyan::cli {

using api::booksim::Remark;

api::booksim::Conversion converted(const std::string& file, const std::vector<std::string>& overrides,
                                   bool ignore_unmapped) {
  std::vector<api::booksim::Setting> settings = api::booksim::read_settings(read_file(file), file);
  for (const std::string& text : overrides) settings.push_back(api::booksim::read_override(text));
  api::booksim::Conversion conversion = api::booksim::convert(settings, file);
  for (const Remark& remark : conversion.remarks) note(api::booksim::to_text(remark));
  const auto is_unmapped = [](const Remark& r) { return r.kind == Remark::Kind::unmapped; };
  const auto count = std::count_if(conversion.remarks.begin(), conversion.remarks.end(), is_unmapped);
  if (conversion.toml.empty()) {
    throw ConfigError({file, 0, 0, ""}, "there is no experiment that means this configuration",
                      "see the settings above that are not mapped");
  }
  if (count != 0 && !ignore_unmapped) {
    throw ConfigError({file, 0, 0, ""},
                      fmt::format("{} of the settings {} not mapped", count, count == 1 ? "is" : "are"),
                      "change them, or leave them out with --ignore-unmapped");
  }
  return conversion;
}

int convert(const ConvertArguments& arguments) {
  const std::string toml = converted(arguments.file, arguments.overrides, arguments.ignore_unmapped).toml;
  if (arguments.out.empty()) {
    print(toml);
  } else {
    write_file(arguments.out, toml);
  }
  return kDone;
}

}  // namespace banyan::cli
