// Parameters are declared once: name, type, unit, default, range, one sentence. Parsing, range checks, nearest-name
// hints, `banyan describe`, the docs tables, the JSON Schema and the resolved-configuration dump all read these rows.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/base/types.hpp"

namespace banyan::config {

/// What a parameter holds. The plural types are TOML arrays of the singular (a lone value counts as an array of one).
enum class Type { boolean, integer, real, text, choice, integers, reals, texts };

using Value =
    std::variant<bool, i64, double, std::string, std::vector<i64>, std::vector<double>, std::vector<std::string>>;

/// Whether a network that runs may go on with another value (docs/how-to/share-a-warm-up.md).
enum class InFlight : u8 {
  no,
  yes,
  growing,  ///< with a larger one
  above_0,  ///< from one above 0 to another: 0 is another kind of network
};

/// Another parameter of the same component has a certain value.
struct Condition {
  std::string name;
  std::vector<std::string> values;  ///< one of these, as to_text() writes them; none: any but 0, false, "" and []
};

/// One parameter of one component. Build it with the named constructors:
///   Parameter::integer("buffer", 12).unit("packets").range(1, 65535).doc("Places per output buffer, S.")
struct Parameter {
  std::string name;
  Type type = Type::integer;
  std::string unit_name;          ///< "cycles", "flits", "bytes", "ns", "Gbps", "%" ...; "" for a pure number
  std::optional<Value> fallback;  ///< the default; absent: the user must give it
  double low = -std::numeric_limits<double>::infinity();  ///< inclusive
  double high = std::numeric_limits<double>::infinity();  ///< inclusive
  bool low_open = false;                                  ///< true: `low` itself is not allowed
  bool high_open = false;
  std::vector<std::string> choices;
  std::string summary;
  InFlight changes_in_flight = InFlight::no;
  bool names_file = false;            ///< of Type::text: a file or folder that a run reads
  std::vector<std::string> words;     ///< values that name none all the same
  std::vector<Condition> conditions;  ///< it means something where one of them holds; none: always

  static Parameter boolean(std::string name, bool fallback);
  static Parameter integer(std::string name, i64 fallback);
  static Parameter real(std::string name, double fallback);
  static Parameter text(std::string name, std::string fallback);
  static Parameter choice(std::string name, std::vector<std::string> choices, std::string fallback);
  static Parameter integers(std::string name, std::vector<i64> fallback);
  static Parameter reals(std::string name, std::vector<double> fallback);
  static Parameter texts(std::string name, std::vector<std::string> fallback);

  Parameter& required() {
    fallback.reset();
    return *this;
  }
  Parameter& unit(std::string u) {
    unit_name = std::move(u);
    return *this;
  }
  Parameter& range(double l, double h) {
    low = l;
    high = h;
    return *this;
  }
  Parameter& above(double l) {
    low = l;
    low_open = true;
    return *this;
  }
  Parameter& below(double h) {
    high = h;
    high_open = true;
    return *this;
  }
  /// A state of the network fits whatever the value is, and from then on it does what the new value says.
  Parameter& in_flight(InFlight how = InFlight::yes) {
    changes_in_flight = how;
    return *this;
  }
  /// It means something only where the parameter `other` has one of these values (none: any but 0, false, "" and []).
  /// Called again: or where that holds. Whoever gives it beside other values is told (api/idle.hpp).
  Parameter& only_with(std::string other, std::vector<std::string> values = {}) {
    conditions.push_back({std::move(other), std::move(values)});
    return *this;
  }
  /// The text is the path of a file that results depend on. It is found from the folder of the experiment, and its
  /// content is a part of the identity of a run.
  Parameter& file(std::vector<std::string> no_files = {}) {
    names_file = true;
    words = std::move(no_files);
    return *this;
  }
  Parameter& doc(std::string sentence) {
    summary = std::move(sentence);
    return *this;
  }
};

/// The description of one component: the row that its file ends with.
struct ComponentInfo {
  std::string name;       ///< equals the file name without ".cpp"
  std::string summary;    ///< one sentence
  std::string reference;  ///< literature
  std::vector<Parameter> parameters;
};

/// The resolved parameters of one component: every declared parameter has a value of its declared type, converted to
/// its declared unit and inside its range. Asking for a name that was not declared is a programming error (throws
/// std::logic_error).
class Values {
 public:
  Values() = default;
  Values(std::string component, Where where) : component_(std::move(component)), where_(std::move(where)) {}

  /// All defaults of `info` (tests, and components without a table of their own). Throws ConfigError when a required
  /// parameter has no value.
  static Values defaults(const ComponentInfo& info);

  void set(const std::string& name, Value value, Where where = {}, bool given = true);

  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] i64 integer(std::string_view name) const;
  [[nodiscard]] u32 natural(std::string_view name) const;  ///< integer() that is known to be in [0, 2^32)
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;  ///< text and choice
  [[nodiscard]] const std::vector<i64>& integers(std::string_view name) const;
  [[nodiscard]] const std::vector<double>& reals(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& texts(std::string_view name) const;

  /// True when the user wrote the value (file or command line), false when it is the default.
  [[nodiscard]] bool given(std::string_view name) const;
  [[nodiscard]] Where where(std::string_view name) const;
  [[nodiscard]] const std::string& component() const { return component_; }
  [[nodiscard]] const std::map<std::string, Value, std::less<>>& all() const { return values_; }
  /// Parameters whose values are paths of files, as they are opened from the current folder.
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  void add_file(const std::string& name) { files_.push_back(name); }

  /// Throws ConfigError at the place of `name`.
  [[noreturn]] void fail(std::string_view name, std::string cause, std::string remedy) const;

 private:
  std::string component_;
  Where where_;
  std::map<std::string, Value, std::less<>> values_;
  std::map<std::string, Where, std::less<>> places_;
  std::map<std::string, bool, std::less<>> given_;
  std::vector<std::string> files_;
};

}  // namespace banyan::config
