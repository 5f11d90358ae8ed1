// Configurations of BookSim2 (Jiang et al., ISPASS 2013): reads its own format and writes the experiment that means the
// same, with a remark on every setting that does not, or that cannot be said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "banyan/api/result.hpp"
#include "banyan/base/error.hpp"

namespace banyan::booksim {

/// One "key = value;". Values are kept as text; vectors keep their braces, without spaces.
struct Setting {
  std::string key;
  std::string value;
  Where where;  ///< key is empty
};

/// Settings in the order of the text. Throws ConfigError with the line of what is not "key = value;".
[[nodiscard]] std::vector<Setting> read_settings(std::string_view text, const std::string& name);
/// "key=value" of the command line.
[[nodiscard]] Setting read_override(const std::string& text);
/// The elements of "{a,b}", nested braces kept; a text without braces is its own only element. `where`: the setting,
/// for the error that is thrown where braces do not match.
[[nodiscard]] std::vector<std::string> elements_of(const std::string& value, const Where& where);

struct Remark {
  enum class Kind {
    unmapped,   ///< has no counterpart
    differs,    ///< mapped, but Banyan means something else by it
    no_effect,  ///< means nothing, here or in BookSim2
  };
  Kind kind = Kind::unmapped;
  Setting setting;
  std::string reason;
};

/// Where a setting stands in the text of the experiment.
struct Origin {
  u32 line = 0;
  u32 column = 0;  ///< of the name of its parameter
  Setting setting;
};

struct Conversion {
  std::string toml;
  std::vector<Remark> remarks;  ///< in the order of the settings
  std::vector<Origin> origins;  ///< in the order of the text

  [[nodiscard]] bool complete() const;  ///< nothing is unmapped
};

/// The experiment of a file's settings and overrides (the last of a key counts), BookSim2's defaults for the others.
[[nodiscard]] Conversion convert(const std::vector<Setting>& settings, const std::string& name);

/// BookSim2 registers a flit once more on its way from the source into the injection channel.
inline constexpr double kMoreCycles = 1.0;

/// Adds what BookSim2 would print for the latencies of a result, under names of their own: booksim2_packet_latency
/// beside packet_latency, and so on.
void add_printed_latencies(api::Result& result);

/// What is wrong with the experiment, said of the setting that it came from; with its place in the text of the
/// experiment where that is none.
[[nodiscard]] ConfigError in_terms_of_settings(const ConfigError& error, const Conversion& conversion,
                                               const std::string& name);

/// "FILE:LINE: key = value: not mapped: reason".
[[nodiscard]] std::string to_text(const Remark& remark);

}  // namespace banyan::booksim
