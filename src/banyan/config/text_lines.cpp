#include "banyan/config/text_lines.hpp"

#include <fmt/core.h>

#include <optional>

#include "banyan/base/file.hpp"

namespace banyan::config {

std::vector<TextLine> lines_of(const Values& values, const std::string& what, const std::vector<std::string>& given) {
  std::vector<TextLine> lines;
  const std::string& name = values.text("file");
  if (name.empty()) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      Where where = values.where("lines");
      where.key += fmt::format("[{}]", i);
      lines.emplace_back(where, given[i]);
    }
    return lines;
  }
  if (!given.empty()) {
    values.fail("lines", fmt::format("the {} is given twice, as a file and as lines", what), "leave out file or lines");
  }
  std::string why;
  const std::optional<std::string> content = read_text_file(name, &why);
  if (!content) {
    values.fail("file", fmt::format("{} cannot be read: {}", name, why),
                fmt::format("give the path of a {}, relative to the folder of the experiment", what));
  }
  for_each_line(*content, [&](u32 number, std::string_view line) {
    lines.emplace_back(Where{name, number, 1, ""}, line);
  });
  return lines;
}

}  // namespace banyan::config
