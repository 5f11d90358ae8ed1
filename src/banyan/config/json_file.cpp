#include "banyan/config/json_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "banyan/base/error.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/base/types.hpp"
#include "banyan/config/json.hpp"

namespace banyan::config {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kNoPlace = std::string::npos;
constexpr std::size_t kDeepest = 64;  ///< levels of nesting; what Banyan writes has fewer than ten

/// Builds the value while the library reads, and keeps why it stopped: without exceptions, whose texts are the
/// library's own.
class Builder final : public nlohmann::json_sax<ordered_json> {
 public:
  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(ordered_json::object()); }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      cause = fmt::format("the key \"{}\" stands twice in one object", name);
      return false;
    }
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(ordered_json::array()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) override {
    byte = position;
    if (error.id == kNumberOverflow) {
      cause = fmt::format("the number {} is too large", token.substr(0, kLongestToken));
    } else {
      cause = fmt::format("\"{}\" cannot stand here", token.substr(0, kLongestToken));
    }
    return false;
  }

  ordered_json root;
  std::string cause;     ///< of the first fault
  std::size_t byte = 0;  ///< where it is, counted from 1; 0: where the library stands

 private:
  static constexpr int kNumberOverflow = 406;  ///< of nlohmann::json's exceptions
  static constexpr std::size_t kLongestToken = 40;

  ordered_json* add(ordered_json value) {
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    ordered_json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    // Keys are known to be new: looking for each among those before it would take quadratic time.
    auto& object = parent.get_ref<ordered_json::object_t&>();
    object.Container::emplace_back(std::move(key_), std::move(value));
    return &object.back().second;
  }
  bool put(ordered_json value) {
    add(std::move(value));
    return true;
  }
  bool open(ordered_json value) {
    if (open_.size() >= kDeepest) {
      cause = fmt::format("it is nested more than {} levels deep", kDeepest);
      return false;
    }
    open_.push_back(add(std::move(value)));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::vector<ordered_json*> open_;
  std::vector<std::set<std::string>> keys_;
  std::string key_;
};

/// Finds the byte at which a value begins, in a text that is known to be JSON.
class Locator {
 public:
  explicit Locator(const std::string& text) : text_(text) {}

  std::size_t find(const std::vector<std::string>& path) {
    skip_space();
    for (const std::string& step : path) {
      if (!enter(step)) break;
    }
    return at_;
  }

 private:
  /// Goes to the value of a key, or with a number; false when there is none.
  bool enter(const std::string& step) {
    const std::size_t before = at_;
    const bool object = text_[at_] == '{';
    if (!object && text_[at_] != '[') return false;
    ++at_;
    for (std::size_t i = 0;; ++i) {
      skip_space();
      if (at_ >= text_.size() || text_[at_] == '}' || text_[at_] == ']') break;
      std::string name = fmt::format("{}", i);
      if (object) {
        const std::size_t begin = at_;
        skip_text();
        const ordered_json key = ordered_json::parse(text_.substr(begin, at_ - begin), nullptr, false);
        name = key.is_string() ? key.get<std::string>() : "";
        skip_space();
        ++at_;  // the colon
        skip_space();
      }
      if (name == step) return true;
      skip_value();
      skip_space();
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
    at_ = before;
    return false;
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  void skip_text() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\' ? 1U : 0U;
    ++at_;
  }
  void skip_value() {
    int depth = 0;
    do {
      skip_space();
      if (at_ >= text_.size()) return;
      const char c = text_[at_];
      if (c == '"') {
        skip_text();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (c == '{' || c == '[' || c == '}' || c == ']' || c == ',' || c == ':') {
        ++at_;
      } else {
        at_ = std::min(text_.find_first_of(" \t\r\n,:]}", at_), text_.size());
      }
    } while (depth > 0);
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

std::string found_text(const ordered_json& value) {
  constexpr std::size_t kLongest = 40;
  switch (value.type()) {
    case ordered_json::value_t::object:
      return "an object";
    case ordered_json::value_t::array:
      return fmt::format("a list of {}", value.size());
    case ordered_json::value_t::string: {
      std::string text = dump(value);
      if (text.size() > kLongest) text = text.substr(0, kLongest) + "...\"";
      return "the text " + with_faults_shown(text);
    }
    default:
      return dump(value);
  }
}

bool is_hash(const std::string& text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Whole numbers below 2^64 with a space between each two.
bool is_list_of_numbers(const std::string& text) {
  if (text.find_first_not_of("0123456789 ") != std::string::npos) return false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string digits = text.substr(begin, end - begin);
    const std::string most = fmt::format("{}", std::numeric_limits<u64>::max());
    if (digits.empty() || digits.size() > most.size() || (digits.size() == most.size() && digits > most)) return false;
    if (end + 1 == text.size()) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

JsonShape JsonShape::anything() { return JsonShape(Kind::anything); }
JsonShape JsonShape::text() { return JsonShape(Kind::text); }
JsonShape JsonShape::one_of(std::vector<std::string> choices) {
  JsonShape shape(Kind::text);
  shape.choices_ = std::move(choices);
  return shape;
}
JsonShape JsonShape::hash() { return JsonShape(Kind::hash); }
JsonShape JsonShape::numbers() { return JsonShape(Kind::numbers); }
JsonShape JsonShape::boolean() { return JsonShape(Kind::boolean); }
JsonShape JsonShape::natural() { return JsonShape(Kind::natural); }
JsonShape JsonShape::number(double low, double high) {
  JsonShape shape(Kind::number);
  shape.low_ = low;
  shape.high_ = high;
  return shape;
}
JsonShape JsonShape::number() {
  return number(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
}
JsonShape JsonShape::object(std::vector<Key> keys) {
  JsonShape shape(Kind::object);
  shape.keys_ = std::make_shared<const std::vector<Key>>(std::move(keys));
  return shape;
}
JsonShape JsonShape::map_of(JsonShape item) {
  JsonShape shape(Kind::map);
  shape.item_ = std::make_shared<const JsonShape>(std::move(item));
  return shape;
}
JsonShape JsonShape::list_of(JsonShape item) {
  JsonShape shape(Kind::list);
  shape.item_ = std::make_shared<const JsonShape>(std::move(item));
  return shape;
}
JsonShape JsonShape::list_of(JsonShape item, std::size_t size) {
  JsonShape shape = list_of(std::move(item));
  shape.size_ = size;
  shape.fixed_size_ = true;
  return shape;
}
JsonShape JsonShape::or_null() const {
  JsonShape shape = *this;
  shape.or_null_ = true;
  return shape;
}

std::string JsonShape::description() const {
  std::string text;
  switch (kind_) {
    case Kind::anything:
      return "a value";
    case Kind::text:
      text = choices_.empty() ? "a text" : fmt::format("one of \"{}\"", fmt::join(choices_, "\", \""));
      break;
    case Kind::hash:
      text = "a text of 16 hexadecimal digits";
      break;
    case Kind::numbers:
      text = "a text of whole numbers with a space between each two";
      break;
    case Kind::boolean:
      text = "true or false";
      break;
    case Kind::natural:
      text = "a whole number from 0 on";
      break;
    case Kind::number:
      text = low_ == std::numeric_limits<double>::lowest() ? "a number"
             : high_ == std::numeric_limits<double>::max() ? fmt::format("a number from {:g} on", low_)
                                                           : fmt::format("a number from {:g} to {:g}", low_, high_);
      break;
    case Kind::object:
    case Kind::map:
      text = "an object";
      break;
    case Kind::list:
      text = fixed_size_ ? fmt::format("a list of {}", size_) : "a list";
      break;
  }
  return or_null_ ? text + ", or null" : text;
}

bool JsonShape::fits_alone(const ordered_json& value) const {
  if (or_null_ && value.is_null()) return true;
  switch (kind_) {
    case Kind::anything:
      return true;
    case Kind::text:
      return value.is_string() && (choices_.empty() || std::find(choices_.begin(), choices_.end(),
                                                                 value.get<std::string>()) != choices_.end());
    case Kind::hash:
      return value.is_string() && is_hash(value.get<std::string>());
    case Kind::numbers:
      return value.is_string() && is_list_of_numbers(value.get<std::string>());
    case Kind::boolean:
      return value.is_boolean();
    case Kind::natural:
      return value.is_number_unsigned();
    case Kind::number:
      return value.is_number() && value.get<double>() >= low_ && value.get<double>() <= high_;
    case Kind::object:
    case Kind::map:
      return value.is_object();
    case Kind::list:
      return value.is_array() && (!fixed_size_ || value.size() == size_);
  }
  return false;
}

bool JsonShape::fits_object(const ordered_json& value, Misfit& misfit) const {
  for (const Key& key : *keys_) {
    const auto found = value.find(key.name);
    if (found == value.end()) {
      if (!key.required) continue;
      std::vector<std::string> names;
      for (const auto& [name, item] : value.items()) names.push_back(name);
      const std::string near = nearest_name(key.name, names);
      misfit.cause = fmt::format("the key \"{}\" is missing", key.name);
      if (!near.empty()) misfit.remedy = fmt::format("is it \"{}\"?", with_faults_shown(near));
      return false;
    }
    misfit.path.push_back(key.name);
    if (!key.shape.fits(*found, misfit)) return false;
    misfit.path.pop_back();
  }
  return true;
}

bool JsonShape::fits_items(const ordered_json& value, Misfit& misfit) const {
  std::size_t i = 0;
  for (const auto& [name, item] : value.items()) {
    misfit.path.push_back(value.is_array() ? fmt::format("{}", i++) : name);
    if (!item_->fits(item, misfit)) return false;
    misfit.path.pop_back();
  }
  return true;
}

bool JsonShape::fits(const ordered_json& value, Misfit& misfit) const {
  if (!fits_alone(value)) {
    misfit.cause = fmt::format("{} is no value here: {} is expected", found_text(value), description());
    return false;
  }
  if (value.is_null()) return true;
  if (kind_ == Kind::object) return fits_object(value, misfit);
  return kind_ == Kind::map || kind_ == Kind::list ? fits_items(value, misfit) : true;
}

JsonFile::JsonFile(std::string text, std::string file, std::string kind, std::string remedy)
    : text_(std::move(text)), file_(std::move(file)), kind_(std::move(kind)), remedy_(std::move(remedy)) {
  if (text_.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw ConfigError({file_, 0, 0, ""}, fmt::format("the file is empty: it is not {}", kind_), remedy_);
  }
  Builder builder;
  if (!ordered_json::sax_parse(text_, &builder)) {
    if (builder.byte > text_.size()) builder.cause = "it ends before it is complete";
    const std::size_t byte = builder.byte == 0 ? kNoPlace : std::min(builder.byte, text_.size()) - 1;
    fail_at(byte, "", "not " + kind_ + ": no JSON: " + builder.cause, remedy_);
  }
  json_ = std::move(builder.root);
}

void JsonFile::require(const JsonShape& shape) const {
  JsonShape::Misfit misfit;
  if (shape.fits(json_, misfit)) return;
  fail_at(Locator(text_).find(misfit.path), fmt::format("{}", fmt::join(misfit.path, ".")),
          fmt::format("not {}: {}", kind_, misfit.cause), misfit.remedy.empty() ? remedy_ : misfit.remedy);
}

void JsonFile::fail(const std::vector<std::string>& path, const std::string& cause) const {
  fail_at(Locator(text_).find(path), fmt::format("{}", fmt::join(path, ".")), cause, remedy_);
}

void JsonFile::fail_at(std::size_t byte, const std::string& key, const std::string& cause,
                       const std::string& remedy) const {
  Where where{file_, 0, 0, key};
  if (byte != kNoPlace) {
    const std::string_view before = std::string_view(text_).substr(0, byte);
    const std::string_view line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
    const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    where.line = static_cast<u32>(1 + std::count(before.begin(), before.end(), '\n'));
    where.column = static_cast<u32>(1 + columns);
  }
  throw ConfigError(where, cause, remedy);
}

}  // namespace banyan::config
