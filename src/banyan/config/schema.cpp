#include "banyan/config/schema.hpp"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

namespace banyan::config {
namespace {

Parameter make(std::string name, Type type, Value fallback) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.type = type;
  parameter.fallback = std::move(fallback);
  return parameter;
}

}  // namespace

Parameter Parameter::boolean(std::string name, bool fallback) {
  return make(std::move(name), Type::boolean, Value(fallback));
}
Parameter Parameter::integer(std::string name, i64 fallback) {
  return make(std::move(name), Type::integer, Value(fallback));
}
Parameter Parameter::real(std::string name, double fallback) {
  return make(std::move(name), Type::real, Value(fallback));
}
Parameter Parameter::text(std::string name, std::string fallback) {
  return make(std::move(name), Type::text, Value(std::move(fallback)));
}
Parameter Parameter::choice(std::string name, std::vector<std::string> choices, std::string fallback) {
  Parameter parameter = make(std::move(name), Type::choice, Value(std::move(fallback)));
  parameter.choices = std::move(choices);
  return parameter;
}
Parameter Parameter::integers(std::string name, std::vector<i64> fallback) {
  return make(std::move(name), Type::integers, Value(std::move(fallback)));
}
Parameter Parameter::reals(std::string name, std::vector<double> fallback) {
  return make(std::move(name), Type::reals, Value(std::move(fallback)));
}
Parameter Parameter::texts(std::string name, std::vector<std::string> fallback) {
  return make(std::move(name), Type::texts, Value(std::move(fallback)));
}

Values Values::defaults(const ComponentInfo& info) {
  Values values(info.name, Where{});
  for (const Parameter& parameter : info.parameters) {
    if (!parameter.fallback) {
      throw ConfigError({"", 0, 0, info.name}, fmt::format("{} is missing, and it has no default", parameter.name),
                        fmt::format("give {} a value", parameter.name));
    }
    values.set(parameter.name, *parameter.fallback, {}, false);
  }
  return values;
}

void Values::set(const std::string& name, Value value, Where where, bool given) {
  values_.insert_or_assign(name, std::move(value));
  places_.insert_or_assign(name, std::move(where));
  given_.insert_or_assign(name, given);
}

namespace {

template <typename T>
const T& get(const std::map<std::string, Value, std::less<>>& values, const std::string& component,
             std::string_view name) {
  const auto found = values.find(name);
  if (found == values.end()) throw std::logic_error(fmt::format("{} declares no parameter {}", component, name));
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr) throw std::logic_error(fmt::format("{}.{} is read as another type", component, name));
  return *value;
}

}  // namespace

bool Values::flag(std::string_view name) const { return get<bool>(values_, component_, name); }
i64 Values::integer(std::string_view name) const { return get<i64>(values_, component_, name); }
u32 Values::natural(std::string_view name) const {
  const i64 value = integer(name);
  if (value < 0 || value > i64{std::numeric_limits<u32>::max()}) {
    throw std::logic_error(fmt::format("{}.{} = {} is no 32-bit natural: declare its range", component_, name, value));
  }
  return static_cast<u32>(value);
}
double Values::real(std::string_view name) const { return get<double>(values_, component_, name); }
const std::string& Values::text(std::string_view name) const { return get<std::string>(values_, component_, name); }
const std::vector<i64>& Values::integers(std::string_view name) const {
  return get<std::vector<i64>>(values_, component_, name);
}
const std::vector<double>& Values::reals(std::string_view name) const {
  return get<std::vector<double>>(values_, component_, name);
}
const std::vector<std::string>& Values::texts(std::string_view name) const {
  return get<std::vector<std::string>>(values_, component_, name);
}

bool Values::given(std::string_view name) const {
  const auto found = given_.find(name);
  return found != given_.end() && found->second;
}

Where Values::where(std::string_view name) const {
  const auto found = places_.find(name);
  Where place = where_;
  // A default stands nowhere: point at its component instead.
  if (found != places_.end() && !found->second.file.empty()) place = found->second;
  if (found == places_.end() || found->second.key.empty()) {
    const std::string prefix = where_.key.empty() ? component_ : where_.key;
    place.key = prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
  }
  return place;
}

void Values::fail(std::string_view name, std::string cause, std::string remedy) const {
  throw ConfigError(where(name), std::move(cause), std::move(remedy));
}

}  // namespace banyan::config
