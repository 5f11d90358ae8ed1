// Is every value, row, column and number of a store protected: changed, missing or added, is it named, and never passed
// over?
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "banyan/base/blob.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/store/database.hpp"
#include "banyan/store/sweep.hpp"
#include "store/stores.hpp"

namespace banyan::store::damage_test {
namespace {

namespace fs = std::filesystem;

struct Column {
  std::string table;
  std::string name;
};

class Damage : public StoreTest {
 protected:
  void SetUp() override {
    Writer store(folder());
    store.plan(example_set(3), kSource);
    for (u64 i = 1; i <= 3; ++i) {
      api::Result result = example_result(i);
      stats::CongestionRecord trees;
      trees.interval = 100;
      trees.threshold = 0.5;
      trees.samples.resize(2);
      result.trees = std::make_shared<const stats::PackedCongestion>(trees);
      store.put(result);
    }
    whole_ = test::read_file(file());
  }

  void restore() const { std::ofstream(file(), std::ios::binary) << whole_; }
  void change(const std::string& sql) const { Database(file(), Database::Mode::write).run(sql); }

  [[nodiscard]] std::vector<Column> columns() const {
    const Database database(file(), Database::Mode::read);
    Statement select(database,
                     "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'");
    std::vector<Column> all;
    while (select.step()) {
      Column column{select.text(), ""};
      column.name = select.text();
      all.push_back(column);
    }
    return all;
  }

  /// What a reader of the whole table is told; "" when nothing.
  [[nodiscard]] std::string said() const {
    try {
      const Table table = Reader(folder()).table();
      std::string text;
      for (const std::string& row : table.strays) text += row + "; ";
      if (table.damaged.empty()) return table.finished() == 3 ? text : "unfinished";
      for (const DamagedPoint& point : table.damaged) {
        EXPECT_FALSE(table.results[point.point].has_value());
        for (const std::string& row : point.rows) text += row + "; ";
      }
      EXPECT_THROW(require_whole(table), ConfigError);
      return text;
    } catch (const ConfigError& error) {
      EXPECT_NE(error.cause().find("the result store"), std::string::npos) << error.what();
      EXPECT_FALSE(error.remedy().empty());
      return error.cause();
    }
  }

  void expect_named(const std::string& sql, const std::string& table) const {
    try {
      change(sql);
    } catch (const ConfigError& error) {
      // The only column that cannot hold everything: the place of a point is a row's number for SQLite.
      EXPECT_NE(sql.find("point SET position"), std::string::npos) << sql << error.what();
      return;
    }
    EXPECT_NE(said().find("table " + table), std::string::npos) << sql << ": " << said();
    restore();
  }

 private:
  std::string whole_;
};

TEST_F(Damage, AnUntouchedStoreIsWhole) { EXPECT_EQ(said(), ""); }

TEST_F(Damage, EveryChangedValueIsFoundAndItsTableNamed) {
  const std::vector<Column> all = columns();
  ASSERT_GT(all.size(), 40U);
  for (const auto& [table, column] : all) {
    const std::string set = "UPDATE OR REPLACE " + table + " SET " + column + " = ";
    // A bit, a type, a length: of the first row, and of all.
    for (const char* rows : {" WHERE %1 = (SELECT min(%1) FROM %0)", ""}) {
      std::string where = rows;
      for (std::size_t at; (at = where.find("%1")) != std::string::npos;) where.replace(at, 2, column);
      for (std::size_t at; (at = where.find("%0")) != std::string::npos;) where.replace(at, 2, table);
      for (const char* value :
           {"CASE typeof(%) WHEN 'integer' THEN % + 7 WHEN 'real' THEN % * 1.0000001 + 1e-9 "
            "WHEN 'blob' THEN CAST(% || x'00' AS BLOB) WHEN 'null' THEN 1 ELSE % || 'x' END",
            "CASE typeof(%) WHEN 'text' THEN CAST(% AS BLOB) WHEN 'blob' THEN x'80' ELSE -1e308 END"}) {
        std::string changed = value;
        for (std::size_t at; (at = changed.find('%')) != std::string::npos;) changed.replace(at, 1, column);
        expect_named(set + changed + where, table);
      }
    }
  }
}

TEST_F(Damage, EveryMissingRowIsFoundAndItsTableNamed) {
  for (const char* table :
       {"meta", "point", "run", "metric", "series", "histogram", "groups", "trees", "digest", "warning"}) {
    expect_named(std::string("DELETE FROM ") + table, table);
  }
  expect_named("DELETE FROM metric WHERE position = 1", "metric");
  expect_named("DELETE FROM meta WHERE key = 'overrides'", "meta");
  expect_named("DELETE FROM point WHERE position = 2", "point");
}

TEST_F(Damage, ARowThatWasAddedIsFound) {
  expect_named(
      "INSERT INTO metric SELECT run, 77, name, unit, mean, half_width, confidence, count, counter FROM metric "
      "WHERE position = 0",
      "metric");
  expect_named("INSERT INTO point VALUES(3, '0000000000000001', '[[\"load\",\"3\"]]', '{}')", "point");
  expect_named("INSERT INTO meta VALUES('other', 'x')", "meta");
}

/// Of runs that were never written; whoever writes next removes them.
TEST_F(Damage, ARowThatBelongsToNoRunIsFoundAndRemoved) {
  const char* const row = "INSERT INTO metric VALUES('zzz', 0, 'packet_latency', '', 1, 1, 1, 1, 0)";
  expect_named(row, "metric");
  expect_named("INSERT INTO warning VALUES('zzz', 'x')", "warning");
  expect_named(
      "INSERT INTO run SELECT 'zzz', configuration, seed, verdict, certain, explanation, state_hash, version, "
      "compiler, cpu_seconds, peak_bytes, group_cycles, group_cut, checkpoints FROM run LIMIT 1",
      "run");
  change(row);
  { const Writer writer(folder()); }
  EXPECT_EQ(said(), "");
}

TEST_F(Damage, ARowIsNamedByItsPlaceAndName) {
  change("UPDATE metric SET mean = 9 WHERE position = 1 AND run LIKE '%2'");
  const Table table = Reader(folder()).table();
  ASSERT_EQ(table.damaged.size(), 1U);
  EXPECT_EQ(table.damaged[0].point, 1U);
  EXPECT_EQ(table.damaged[0].rows, std::vector<std::string>{"row 1 (unknown) of table metric was changed"});
  EXPECT_EQ(table.finished(), 2U);
  expect(refusal([&] { require_whole(table); }), "at load = 1, row 1 (unknown) of table metric was changed",
         "banyan sweep 'some file.toml'");
}

TEST_F(Damage, ARowThatCameFromAnotherRunIsFound) {
  change(
      "UPDATE metric SET mean = (SELECT mean FROM metric m WHERE m.run LIKE '%3' AND m.position = 2) "
      "WHERE run LIKE '%1' AND position = 0");
  EXPECT_NE(said().find("row 0 (delay) of table metric was changed"), std::string::npos) << said();
}

TEST_F(Damage, ADamagedRunIsNotTakenForOneThatIsThere) {
  change("UPDATE series SET start = 6 WHERE position = 0 AND run LIKE '%1'");
  Writer store(folder());
  EXPECT_FALSE(store.has(1));
  EXPECT_TRUE(store.has(2));
  EXPECT_EQ(store.reader().damage(1).size(), 1U);
  expect(refusal([&] { static_cast<void>(store.reader().find(1)); }), "row 0 (occupancy) of table series was changed",
         "");
  store.put(example_result(1));
  EXPECT_TRUE(store.has(1));
  EXPECT_EQ(said(), "");
}

TEST_F(Damage, AMissingTableOrColumnIsNamed) {
  for (const char* table :
       {"meta", "point", "run", "metric", "series", "histogram", "groups", "trees", "digest", "warning"}) {
    change(std::string("DROP TABLE ") + table);
    // A store without trees may be an old one; the digests say that there were some.
    EXPECT_NE(said().find(table), std::string::npos) << table << said();
    restore();
  }
  change("ALTER TABLE metric DROP COLUMN unit");
  EXPECT_NE(said().find("the table metric has the columns"), std::string::npos) << said();
  restore();
  change("ALTER TABLE run ADD COLUMN extra");
  EXPECT_NE(said().find("the table run has the columns"), std::string::npos) << said();
}

TEST_F(Damage, ALostFormatNumberIsDamageAndNoEmptyStore) {
  change("PRAGMA user_version = 0");
  for (int i = 0; i < 2; ++i) {
    expect(refusal([&] { i == 0 ? void(Reader(folder())) : void(Writer(folder())); }),
           "damaged: its format number is 0", "restore it from a copy");
  }
  restore();
  change("PRAGMA user_version = 1");
  expect(refusal([&] { Reader reader(folder()); }), "its format number is 1, and it has the table digest of format 2",
         "");
  restore();
  change("PRAGMA application_id = 7");
  expect(refusal([&] { Reader reader(folder()); }), "its application number is not that of Banyan", "restore it");
}

TEST_F(Damage, AStoreOfFormatOneIsReadAndRaised) {
  change("DROP TABLE digest; DROP TABLE warning; PRAGMA user_version = 1");
  EXPECT_EQ(said(), "");
  {
    const Writer store(folder());
    EXPECT_TRUE(store.has(2));
  }
  EXPECT_EQ(said(), "");
  change("UPDATE metric SET mean = 9 WHERE position = 1");
  EXPECT_NE(said(), "");
}

/// What format 2 was: the same without warnings, with digests that end before them.
TEST_F(Damage, AStoreOfFormatTwoIsReadRaisedAndStillGuarded) {
  const std::string other = folder() + "/two";
  fs::create_directory(other);
  {
    Writer store(other);
    store.plan(example_set(3), kSource);
    for (u64 i = 1; i <= 3; ++i) {
      api::Result result = example_result(i);
      result.warning.clear();
      store.put(result);
    }
  }
  const std::string old_file = other + "/" + kFileName;
  {
    // A digest of before has no count of warnings behind the others: it is sealed without the last byte.
    const Database database(old_file, Database::Mode::write);
    database.run("DROP TABLE warning; PRAGMA user_version = 2");
    for (u64 i = 1; i <= 3; ++i) {
      const std::string run = fmt::format("{:016x}", i);
      Statement select(database, "SELECT rows FROM digest WHERE run = ?");
      ASSERT_TRUE(select.bind(run).step());
      const std::string rows = select.blob().substr(8);
      const std::string before = rows.substr(0, rows.size() - 1);
      Hasher hasher;
      hasher.add(run);
      hasher.add(before);
      BlobWriter blob;
      blob.add_fixed(hasher.value());
      blob.add_bytes(before);
      select.run();
      Statement update(database, "INSERT OR REPLACE INTO digest VALUES(?, ?)");
      update.bind(run).bind_blob(blob.bytes()).run();
    }
  }
  const auto damage = [&] { return Reader(other).damage(2); };
  EXPECT_EQ(Reader(other).table().finished(), 3U);
  EXPECT_TRUE(damage().empty());
  const std::string copied = test::read_file(old_file);
  {
    Writer store(folder());
    store.copy(old_file, {2});  // this one had a warning, and gives way
    EXPECT_TRUE(store.has(2));
    EXPECT_EQ(store.reader().find(2)->warning, "");
  }
  {
    const Writer store(other);
    EXPECT_TRUE(store.has(2));
  }
  EXPECT_TRUE(damage().empty());
  Database(old_file, Database::Mode::write).run("INSERT INTO warning VALUES('0000000000000002', 'all is lost')");
  EXPECT_EQ(damage(), std::vector<std::string>{"row 0000000000000002 of table warning was added"});
  // Raising it must not take damage for what was written.
  std::ofstream(old_file, std::ios::binary) << copied;
  Database(old_file, Database::Mode::write).run("UPDATE metric SET mean = 9 WHERE position = 1 AND run LIKE '%2'");
  { const Writer store(other); }
  EXPECT_EQ(damage(), std::vector<std::string>{"row 1 (unknown) of table metric was changed"});
}

TEST_F(Damage, AFileOfAnotherKindIsNotCalledAStore) {
  const std::string toml = folder() + "/experiment.toml";
  std::ofstream(toml) << "topology = 'mesh'\nand more than sixteen bytes\n";
  const ConfigError error = refusal([&] { Reader reader(toml); });
  expect(error, "this file is no result store", "banyan run " + toml + " --out FOLDER");
  std::ofstream(toml) << "x";
  expect(refusal([&] { Reader reader(toml); }), "this file is no result store", "--out FOLDER");
  const std::string pipe = folder() + "/pipe.sqlite";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect(refusal([&] { Reader reader(pipe); }), "this is no file", "--out");
}

}  // namespace
}  // namespace banyan::store::damage_test
