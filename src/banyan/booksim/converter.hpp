// The conversion of one BookSim2 configuration, rule by rule. Every rule reads the keys that it knows; keys that no
// rule read are explained at the end.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "banyan/booksim/booksim.hpp"
#include "banyan/config/schema.hpp"

namespace banyan::booksim {

/// A component as it will stand in the experiment: its name and the parameters in order.
struct Table {
  struct Parameter {
    std::string name;
    std::string value;
    std::string origin;  ///< BookSim2's key; empty: none
  };

  /// `key`: BookSim2's, that chooses the component. `last_read`: the one that was read last.
  Table(std::string_view key, const std::string& last_read) : origin(key), reading(&last_read) {}

  std::string name;
  std::string origin;
  const std::string* reading;
  std::vector<Parameter> parameters;

  /// `from`: BookSim2's key, where it is not the one that was read last.
  void set(const std::string& parameter, std::string value, std::string_view from = {}) {
    parameters.push_back({parameter, std::move(value), std::string(from.empty() ? std::string_view(*reading) : from)});
  }
};

class Converter {
 public:
  Converter(const std::vector<Setting>& settings, std::string name);

  Conversion convert();

 private:
  // Reading. Each marks the key as read.
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] i64 integer(std::string_view key);
  [[nodiscard]] double real(std::string_view key);
  [[nodiscard]] bool flag(std::string_view key) { return integer(key) != 0; }
  /// The element of a class in a vector; the last serves all further classes.
  [[nodiscard]] std::string of_class(std::string_view key, std::size_t index);
  [[nodiscard]] double number(const std::string& text, std::string_view key) const;
  [[nodiscard]] bool given(std::string_view key) const { return values_.contains(std::string(key)); }
  [[nodiscard]] Setting setting(std::string_view key) const;
  /// A name with arguments, such as "islip(4)", "hotspot({{1,2},{3,1}})": a vector of arguments, or one without braces.
  struct Call {
    std::string name;
    std::vector<std::string> arguments;
  };
  [[nodiscard]] Call call_of(const std::string& text, std::string_view key) const;
  /// elements_of() what is part of a setting.
  [[nodiscard]] std::vector<std::string> elements(const std::string& text, std::string_view key) const;

  // Remarks.
  void unmapped(std::string_view key, std::string reason);
  void impossible(std::string_view key, std::string reason);
  void differs(std::string_view key, std::string reason);
  void no_effect(std::string_view key, std::string reason);

  // Rules.
  void read_topology();
  void read_one_network();
  void read_grid(bool torus);
  void read_concentrated_mesh();
  void read_tree(u64 uplinks);
  void read_fly();
  void read_fat_tree();
  void read_flattened_butterfly();
  void read_dragonfly();
  void read_any_network();
  void set_lines(const std::vector<std::string>& lines);
  void read_routing();
  void read_grid_routing(const std::string& function, bool torus);
  void announce_odd_halves(const std::string& function, const std::string& topology);
  void set_shortest_path(const char* choice);
  void read_other_routing(const std::string& topology, const std::string& function);
  void read_router();
  void read_pipeline();
  void read_allocator(const char* key, const char* iterations);
  void read_output_buffer();
  void read_buffers();
  void read_priority();
  void pass_router_key(const char* key, const char* target, const char* neutral, const char* reason);
  void read_run();
  void explain_rest();

  void read_traffics();
  void read_traffic(std::size_t index);
  void read_pattern(Table& table, std::size_t index);
  void require_address_bits(const std::string& pattern);
  void read_background(Table& table, const Call& call);
  void read_row_to_column(Table& table, const Call& call);
  void read_hot_spot(Table& table, const Call& call);
  void read_sizes(Table& table, std::size_t index, double& mean);
  void read_requests(Table& table, std::size_t index, double& mean);
  void read_vc_ranges(Table& table);
  void read_subnetworks(Table& table);
  void read_class_priority(Table& table, std::size_t index, bool replies);
  void read_process(Table& table, std::size_t index, double rate);
  void read_batch(Table& table, bool replies);

  /// The text, and where in it what comes from.
  void write(Conversion& into) const;
  void write(const Table& table, bool inline_table, Conversion& into) const;
  void note_origin(const std::string& key, Conversion& into) const;
  /// "; did you mean ...?", or nothing.
  [[nodiscard]] static std::string near(const std::string& name, const std::vector<std::string>& known);

  std::string name_;
  std::vector<std::string> order_;         ///< given keys
  std::map<std::string, Setting> values_;  ///< the last of each
  std::set<std::string, std::less<>> read_;
  std::vector<Remark> remarks_;
  bool possible_ = true;
  u64 terminals_ = 0;
  u64 radix_ = 0;  ///< k of the digit patterns
  i64 subnets_ = 1;
  std::string reading_;  ///< the key that was read last
  Table topology_{"topology", reading_};
  Table routing_{"routing_function", reading_};
  Table switch_{"router", reading_};
  std::vector<Table> traffics_;
  Table run_{"", reading_};
};

/// The description of a component, or nullptr.
template <class Rows>
[[nodiscard]] const config::ComponentInfo* find_info(const Rows& rows, std::string_view name) {
  for (const auto* row : rows) {
    if (row->info.name == name) return &row->info;
  }
  return nullptr;
}

}  // namespace banyan::booksim
