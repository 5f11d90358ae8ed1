// An experiment between the file and its resolution: components by name with what was written for them, open to
// changes from the command line and from sweep axes.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/catalog.hpp"
#include "banyan/config/tree.hpp"

namespace banyan::api {

inline constexpr u32 kMostTraffics = 8;  ///< of an experiment: bits of core::Packet::pending

/// One component as written.
struct Part {
  const Kind* kind = nullptr;
  std::string name;  ///< of the component; "" while none was given
  Where where;       ///< of the name, or of the table
  std::vector<config::Entry> entries;
};

/// A new value for a key, from the command line or from a sweep axis.
struct Change {
  std::string key;
  Where where;
  config::Node value;
};

/// What a key means in a draft: a parameter of a part, or (parameter "") which component the part is.
struct Target {
  static constexpr std::size_t kEveryJob = ~std::size_t{0};           ///< in place of a part
  static constexpr std::size_t kEveryAnalysis = ~std::size_t{0} - 1;  ///< likewise, also where there is none

  std::size_t part = 0;
  std::string parameter;
  bool operator==(const Target&) const = default;
};

class Draft {
 public:
  /// Takes the tables of an experiment file apart. Throws ConfigError on an unknown key.
  Draft(const config::Node& root, const Catalog& catalog);

  /// "analysis" gives all models at once, also none ("analysis=[]").
  /// Components change first, then parameters, so that the order of changes does not matter; of two changes of one
  /// key the later wins. A part that becomes another component drops the parameters of the old one.
  void apply(const std::vector<Change>& changes);

  /// "switch.buffer", "traffic.uniform.load", "traffic.0.load", "routing", "job.start" (of all jobs), "job.0.start",
  /// "job.NAME.start", or a bare parameter name that one part alone declares. Throws ConfigError that lists the
  /// candidates.
  [[nodiscard]] Target target(const std::string& key, const Where& where) const;

  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] const config::Node* sweep() const { return sweep_; }
  [[nodiscard]] const config::Node* fork() const { return fork_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The part, and of a routing that the experiment does not name the usual one of its topology, where there is one.
  [[nodiscard]] Part named(const Part& part) const;
  /// "switch", "traffic.uniform": unique among the parts.
  [[nodiscard]] std::string path(const Part& part) const;

 private:
  /// True where the key is that of a part without components to choose from.
  [[nodiscard]] bool is_single(const Kind& kind) const {
    return &kind == &catalog_->run || &kind == &catalog_->job || &kind == &catalog_->messages;
  }
  void read_several(const config::Node& value, const Kind& kind);
  void read_part(const config::Node& value, Part& part) const;
  /// True when the key says which component a part is, rather than naming a parameter.
  [[nodiscard]] bool selects(const std::string& key) const;
  void select(const Change& change, Part& part) const;
  [[nodiscard]] Target traffic_target(std::vector<std::string> words, const std::string& key, const Where& where) const;
  /// The traffics that a word of a path selects: a position, or a component's name.
  [[nodiscard]] std::vector<std::size_t> traffics_called(const std::string& word) const;
  [[nodiscard]] std::vector<std::size_t> traffics_with(const std::string& parameter) const;
  [[nodiscard]] Target job_target(std::vector<std::string> words, const std::string& key, const Where& where) const;
  void assign(const Target& target, const Change& change);
  [[nodiscard]] Target bare_target(const std::string& name, const Where& where) const;
  [[nodiscard]] std::vector<std::size_t> parts_of(const Kind& kind) const;
  [[nodiscard]] std::size_t part_of(const Kind& kind) const { return parts_of(kind).front(); }

  const Catalog* catalog_;
  std::vector<Part> parts_;
  std::string name_;
  const config::Node* sweep_ = nullptr;
  const config::Node* fork_ = nullptr;
};

/// The description of the part's component. Throws ConfigError that names the nearest component of its kind.
[[nodiscard]] const config::ComponentInfo& info_of(const Part& part);

}  // namespace banyan::api
