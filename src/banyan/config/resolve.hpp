// A table of the file against the declared parameters: every value checked, converted and in range, or one error that
// says where, what and how to mend it.
#pragma once

#include <string>
#include <vector>

#include "banyan/config/schema.hpp"
#include "banyan/config/tree.hpp"

namespace banyan::config {

/// One value. `where` is the place of the value, with the key's dotted path.
[[nodiscard]] Value resolve_value(const Node& node, const Parameter& parameter, const Where& where);

/// All parameters of `info`, from the keys of its table (without "name"). `where` is the place of the component
/// (defaults point at it); `where.key` is the path that parameters are named under ("switch", "traffic.0").
[[nodiscard]] Values resolve(const std::vector<Entry>& entries, const ComponentInfo& info, const Where& where);

/// The parameter of that name, or nullptr.
[[nodiscard]] const Parameter* find_parameter(const ComponentInfo& info, std::string_view name);

/// "did you mean "x"?" when a name is near, with the list of all names after `lead` where it is short; otherwise the
/// list alone.
[[nodiscard]] std::string suggestion(std::string_view name, const std::vector<std::string>& candidates,
                                     std::string_view lead);

// Texts for messages, help and docs.
[[nodiscard]] std::string type_text(const Parameter& parameter);   ///< "integer", "one of a, b"
[[nodiscard]] std::string range_text(const Parameter& parameter);  ///< "1 to 65535", "above 0", "" when unlimited
/// "may change in flight, to a larger value", "" when it may not.
[[nodiscard]] std::string in_flight_text(const Parameter& parameter);
/// "only with queues = recn_basic or recn_enhanced", "only with mark.high", "" when it means something always.
[[nodiscard]] std::string conditions_text(const Parameter& parameter);
[[nodiscard]] std::string default_text(const Parameter& parameter);  ///< "12 packets", "required"
[[nodiscard]] std::string to_text(const Value& value);

/// Whether a parameter of `info` means something beside the other values: one of its conditions holds. (Where what it
/// asks for is idle itself, that is what is told.) Throws std::logic_error where a condition names no parameter.
[[nodiscard]] bool has_meaning(const Parameter& parameter, const Values& values, const ComponentInfo& info);

/// Changes a number that was resolved before, within the range of its parameter: what a program tries by itself is as
/// bounded as what a file gives. Throws ConfigError at the place of the value.
void change(Values& values, const ComponentInfo& info, const std::string& name, const Value& value);

}  // namespace banyan::config
