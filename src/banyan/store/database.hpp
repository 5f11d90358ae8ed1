// A thin layer over SQLite: values go in and out, every failure is one ConfigError with a cause and a remedy.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "banyan/base/types.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace banyan::store {

class Database;

/// A prepared statement. Values are bound in the order of the question marks; rows are read column by column.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql);

  Statement& bind(std::string_view text);
  Statement& bind(u64 value);
  Statement& bind(double value);  ///< NaN becomes NULL
  Statement& bind(const std::optional<double>& value);
  Statement& bind_blob(std::string_view bytes);

  /// True when there is a row to read.
  bool step();
  /// Runs to the end and makes the statement ready for other values.
  void run();

  // The next column of the row.
  [[nodiscard]] std::string text();
  [[nodiscard]] u64 natural();
  [[nodiscard]] double real();  ///< NULL: NaN
  [[nodiscard]] std::optional<double> maybe_real();
  [[nodiscard]] std::string blob();
  /// A digest of all columns that are left of the row: their types, lengths and bytes.
  [[nodiscard]] u64 digest_of_rest();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  const Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
  int column_ = 0;
};

class Database {
 public:
  enum class Mode { read, write, sole_writer };

  /// Mode::write creates the file when it is missing; so does Mode::sole_writer, for whom nobody is locked out. Throws
  /// ConfigError.
  Database(std::string path, Mode mode);

  void run(const std::string& sql) const;
  [[nodiscard]] u64 number(const std::string& sql) const;  ///< the first column of the first row; 0 without a row
  [[nodiscard]] std::string text(const std::string& sql) const;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

  /// Throws the ConfigError that an SQLite result code stands for.
  [[noreturn]] void fail(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const noexcept;
  };

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A transaction lasts from BEGIN to COMMIT; what is not committed is rolled back.
class Transaction {
 public:
  /// A reading transaction sees one moment, however long it takes.
  enum class Kind { reading, writing };

  explicit Transaction(const Database& database, Kind kind = Kind::writing);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  const Database& database_;
  bool open_ = true;
};

}  // namespace banyan::store
