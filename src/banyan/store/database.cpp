#include "banyan/store/database.hpp"

#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::store {
namespace {

constexpr int kPatience = 10'000;  ///< ms that a reader waits for the writer's commit, and the writer for a reader

constexpr const char* kDamaged = "restore it from a copy, or move it away: \"banyan sweep\" then starts a new one";

/// SQLite does not keep the reason of a write that failed; a limit is worth naming where there is one.
std::string size_limit_text() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return fmt::format(" and the limit of a file's size (ulimit -f), which is {} bytes here", limit.rlim_cur);
}

}  // namespace

void Database::fail(int code) const {
  const Where where{path_, 0, 0, ""};
  const bool no_space = sqlite3_system_errno(handle()) == ENOSPC || sqlite3_system_errno(handle()) == EDQUOT;
  switch (code & 0xff) {
    case SQLITE_FULL:
      throw ConfigError(where, "no space is left on its disk", "make room on the disk");
    case SQLITE_IOERR:
      if (no_space) throw ConfigError(where, "no space is left on its disk", "make room on the disk");
      throw ConfigError(where, fmt::format("cannot be read or written: {}", sqlite3_errmsg(handle())),
                        fmt::format("check the disk{}, or name another folder", size_limit_text()));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throw ConfigError(where, fmt::format("the result store is damaged: {}", sqlite3_errmsg(handle())), kDamaged);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw ConfigError(where, "another program holds the result store",
                        "wait until it is done, or name another folder");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw ConfigError(where, fmt::format("the result store cannot be opened: {}", sqlite3_errmsg(handle())),
                        "mend the permissions of the file and its folder, or name another folder");
    default:
      throw ConfigError(where, fmt::format("the result store cannot be used: {}", sqlite3_errmsg(handle())),
                        "name another folder");
  }
}

void Database::Close::operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }

Database::Database(std::string path, Mode mode) : path_(std::move(path)) {
  sqlite3* handle = nullptr;
  // A reader too may have to undo what a killed writer left half done; without the right to write it only reads.
  const int write = SQLITE_OPEN_READWRITE | (mode == Mode::read ? 0 : SQLITE_OPEN_CREATE);
  const char* const locking = mode == Mode::sole_writer ? "unix-none" : nullptr;
  const int code = sqlite3_open_v2(path_.c_str(), &handle, write | SQLITE_OPEN_FULLMUTEX, locking);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(code);
  sqlite3_busy_timeout(handle, kPatience);
  sqlite3_extended_result_codes(handle, 1);
}

void Database::run(const std::string& sql) const {
  const int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

u64 Database::number(const std::string& sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.natural() : 0;
}

std::string Database::text(const std::string& sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.text() : "";
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

Statement::Statement(const Database& database, const std::string& sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) database.fail(code);
}

Statement& Statement::bind(std::string_view text) {
  const int code =
      sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

Statement& Statement::bind(u64 value) {
  const int code = sqlite3_bind_int64(statement_.get(), ++bound_, static_cast<sqlite3_int64>(value));
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

Statement& Statement::bind(double value) {
  return bind(std::isnan(value) ? std::nullopt : std::optional<double>(value));
}

Statement& Statement::bind(const std::optional<double>& value) {
  ++bound_;
  const int code =
      value ? sqlite3_bind_double(statement_.get(), bound_, *value) : sqlite3_bind_null(statement_.get(), bound_);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();
  const int code = sqlite3_bind_blob64(statement_.get(), ++bound_, data, bytes.size(), SQLITE_TRANSIENT);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

bool Statement::step() {
  column_ = 0;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail(code);
  return false;
}

void Statement::run() {
  while (step()) continue;
  sqlite3_reset(statement_.get());
  bound_ = 0;
}

std::string Statement::text() { return blob(); }

std::string Statement::blob() {
  const void* data = sqlite3_column_blob(statement_.get(), column_);
  const int size = sqlite3_column_bytes(statement_.get(), column_);
  ++column_;
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

u64 Statement::natural() { return static_cast<u64>(sqlite3_column_int64(statement_.get(), column_++)); }

double Statement::real() { return maybe_real().value_or(std::numeric_limits<double>::quiet_NaN()); }

std::optional<double> Statement::maybe_real() {
  const int column = column_++;
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(statement_.get(), column);
}

u64 Statement::digest_of_rest() {
  Hasher hasher;
  for (const int columns = sqlite3_column_count(statement_.get()); column_ < columns;) {
    const int type = sqlite3_column_type(statement_.get(), column_);
    hasher.add(static_cast<u64>(type));
    // A real in full: as text it would be rounded.
    if (type == SQLITE_FLOAT) {
      hasher.add(std::bit_cast<u64>(sqlite3_column_double(statement_.get(), column_++)));
    } else {
      hasher.add(blob());
    }
  }
  return hasher.value();
}

Transaction::Transaction(const Database& database, Kind kind) : database_(database) {
  database_.run(kind == Kind::writing ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back already; then there is nothing left to do.
  if (open_ && sqlite3_get_autocommit(database_.handle()) == 0) {
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace banyan::store
