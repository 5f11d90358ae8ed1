// Rows of terminals that send to columns: the worst case of flattened butterflies and of other networks with one
// channel per pair of switches of a row.
#include "banyan/traffic/parts/pattern.hpp"

namespace banyan::traffic::row_to_column {
namespace {

class RowToColumn final : public Pattern {
 public:
  RowToColumn(const config::Values& values, const core::TrafficContext& context)
      : Pattern(values, context), row_(values.natural("row")), include_self_(values.flag("include_self")) {}

  u32 destination(u32 terminal, u64, const Words& words) const noexcept override {
    const u32 own = include_self_ ? row_ : place_of(terminal);
    if (own == row_) return target(terminal, below(words[2], row_));
    const u32 place = below(words[2], row_ - 1);
    return target(terminal, place + (place >= own ? 1U : 0U));
  }
  void add_shares(u32 terminal, double weight, std::span<double> shares) const override {
    const u32 own = include_self_ ? row_ : place_of(terminal);
    for (u32 place = 0; place < row_; ++place) {
      if (place != own) shares[target(terminal, place)] += weight / (row_ - (own == row_ ? 0 : 1));
    }
  }

 private:
  [[nodiscard]] u32 target(u32 terminal, u32 place) const noexcept { return place * row_ + terminal / row_; }
  /// The place that a terminal has itself in the column that it sends to; row_: none.
  [[nodiscard]] u32 place_of(u32 terminal) const noexcept {
    const u32 above = terminal - terminal / row_;
    return above % row_ == 0 && above / row_ < row_ ? above / row_ : row_;
  }

  u32 row_;  ///< terminals of a row
  bool include_self_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  const u32 row = values.natural("row");
  if (context.terminals % row != 0) {
    values.fail("row",
                "rows of " + std::to_string(row) + " do not fill " + std::to_string(context.terminals) + " terminals",
                "use a divisor of the number of terminals");
  }
  if (context.terminals / row < row) {
    values.fail("row",
                std::to_string(row) + " terminals of a column do not lie in " +
                    std::to_string(context.terminals / row) + " rows",
                "use shorter rows: at most the root of the number of terminals");
  }
  if (row == 1 && !values.flag("include_self")) {
    values.fail("include_self", "the first terminal of rows of one terminal has no other destination",
                "use include_self = true or a larger row");
  }
  return std::make_unique<RowToColumn>(values, context);
}

config::ComponentInfo info() {
  using config::Parameter;
  config::ComponentInfo row{
      "row_to_column",
      "Every terminal of a row sends to random terminals of the column that has the number of the "
      "row",
      "Jiang et al., A Detailed and Flexible Cycle-Accurate Network-on-Chip Simulator, ISPASS "
      "2013: badperm_yarc of BookSim2",
      Pattern::parameters()};
  row.parameters.push_back(
      Parameter::integer("row", 1)
          .required()
          .unit("terminals")
          .range(1, 4294967295.0)
          .doc("Terminals per row; rows are consecutive numbers from 0 on, and a column has as many "
               "terminals, one of each of the first rows"));
  row.parameters.push_back(
      Parameter::boolean("include_self", false)
          .doc("Whether a terminal may send to itself, where its row crosses the column that the row sends to"));
  return row;
}

}  // namespace

extern const core::TrafficRow row_row_to_column;
const core::TrafficRow row_row_to_column{info(), &make};

}  // namespace banyan::traffic::row_to_column
