// JSON that a command reads from a file: parsed, and compared with what the file should look like before anything is
// taken from it. Every fault is one ConfigError with its line and column, in words of our own. Only implementation
// files include this: it brings in the JSON library.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace banyan::config {

/// What a value of a JSON file must look like.
class JsonShape {
 public:
  struct Key;  ///< name, shape, required

  static JsonShape anything();
  static JsonShape text();
  static JsonShape one_of(std::vector<std::string> choices);
  static JsonShape hash();     ///< a text of 16 hexadecimal digits
  static JsonShape numbers();  ///< a text of whole numbers with a space between each two
  static JsonShape boolean();
  static JsonShape natural();  ///< a whole number from 0 to 2^64 - 1
  static JsonShape number(double low, double high);
  static JsonShape number();
  static JsonShape object(std::vector<Key> keys);  ///< with these keys, and any others
  static JsonShape map_of(JsonShape item);         ///< an object of any keys
  static JsonShape list_of(JsonShape item);
  static JsonShape list_of(JsonShape item, std::size_t size);
  [[nodiscard]] JsonShape or_null() const;

  /// The place of the first value that does not fit, as keys and numbers from the top, and what is wrong with it.
  struct Misfit {
    std::vector<std::string> path;
    std::string cause;
    std::string remedy;  ///< "" when the kind of file has to say it
  };
  [[nodiscard]] bool fits(const nlohmann::ordered_json& value, Misfit& misfit) const;

 private:
  enum class Kind { anything, text, hash, numbers, boolean, natural, number, object, map, list };
  explicit JsonShape(Kind kind) : kind_(kind) {}
  [[nodiscard]] bool fits_alone(const nlohmann::ordered_json& value) const;
  [[nodiscard]] bool fits_object(const nlohmann::ordered_json& value, Misfit& misfit) const;
  [[nodiscard]] bool fits_items(const nlohmann::ordered_json& value, Misfit& misfit) const;
  [[nodiscard]] std::string description() const;

  Kind kind_;
  bool or_null_ = false;
  double low_ = 0.0;
  double high_ = 0.0;
  std::size_t size_ = 0;
  bool fixed_size_ = false;
  std::vector<std::string> choices_;
  std::shared_ptr<const std::vector<Key>> keys_;
  std::shared_ptr<const JsonShape> item_;
};

struct JsonShape::Key {
  std::string name;
  JsonShape shape;
  bool required = true;
};

/// A JSON file and its values.
class JsonFile {
 public:
  /// Throws ConfigError where the text is no JSON, has a key twice in an object, or is nested too deeply.
  /// `kind` is what the file should be ("a result of banyan"); `remedy` says how to get one.
  JsonFile(std::string text, std::string file, std::string kind, std::string remedy);

  /// Throws ConfigError with the place of the first value that does not fit.
  void require(const JsonShape& shape) const;
  [[nodiscard]] const nlohmann::ordered_json& json() const { return json_; }
  /// The error of a value that has the right shape and cannot be right nonetheless.
  [[noreturn]] void fail(const std::vector<std::string>& path, const std::string& cause) const;

 private:
  [[noreturn]] void fail_at(std::size_t byte, const std::string& key, const std::string& cause,
                            const std::string& remedy) const;

  std::string text_;
  std::string file_;
  std::string kind_;
  std::string remedy_;
  nlohmann::ordered_json json_;
};

}  // namespace banyan::config
