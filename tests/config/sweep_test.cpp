// Are axes expanded in the order of the file, with the values that the user meant?
#include "banyan/config/sweep.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "banyan/config/toml_reader.hpp"
#include "config/support.hpp"

namespace banyan::config::sweep_test {
namespace {

std::vector<Axis> read(const std::string& text) { return read_sweep(read_toml_text(text, "x.toml")); }

std::string values_of(const Axis& axis) {
  std::string text;
  for (const auto& linked : axis.values) {
    for (const Node& node : linked) text += to_text(node) + ",";
    text += " ";
  }
  return text;
}

ConfigError refused(const std::string& text) {
  return error_of([&] { static_cast<void>(read(text)); });
}

TEST(Sweep, AxesKeepTheOrderOfTheFile) {
  const auto axes = read("'z.b' = [1]\n'a.b' = [2, 3]\n");
  ASSERT_EQ(axes.size(), 2U);
  EXPECT_EQ(axes[0].keys[0], "z.b");
  EXPECT_EQ(values_of(axes[1]), "2, 3, ");
}

TEST(Sweep, DottedKeysNeedNoQuotes) {
  const auto axes = read("traffic.uniform.load = [0.1]\nswitch.buffer = [4, 8]\ntraffic.uniform.size = [1]\n");
  ASSERT_EQ(axes.size(), 3U);
  EXPECT_EQ(axes[0].keys[0], "traffic.uniform.load");
  EXPECT_EQ(axes[1].keys[0], "switch.buffer");
  EXPECT_EQ(axes[2].keys[0], "traffic.uniform.size");
}

TEST(Sweep, ARangeMeansRoundNumbers) {
  EXPECT_EQ(values_of(read("a = {from = 0.1, to = 0.8, step = 0.1}")[0]), "0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, ");
  EXPECT_EQ(values_of(read("a = {from = 4, to = 20, step = 8}")[0]), "4, 12, 20, ");
  EXPECT_EQ(values_of(read("a = {from = 4, to = 19, step = 8}")[0]), "4, 12, ");
  EXPECT_EQ(values_of(read("a = {from = 3, to = 1, step = -1}")[0]), "3, 2, 1, ");
  EXPECT_EQ(values_of(read("a = {from = 0, to = 1, count = 5}")[0]), "0, 0.25, 0.5, 0.75, 1, ");
  EXPECT_EQ(values_of(read("a = {from = 2, to = 2, step = 1}")[0]), "2, ");
  EXPECT_EQ(values_of(read("a = {from = '1 us', to = '2 us', step = '0.5 us'}")[0]), "1 us, 1.5 us, 2 us, ");
}

TEST(Sweep, AWholeRangeGivesIntegers) {
  EXPECT_EQ(read("a = {from = 1, to = 3, step = 1}")[0].values[1][0].kind, Node::Kind::integer);
  EXPECT_EQ(read("a = {from = 0, to = 10, count = 3}")[0].values[1][0].kind, Node::Kind::integer);
}

TEST(Sweep, LinkedKeysMoveTogether) {
  const auto axes = read("zip = [['n', 'k']]\nm = [0]\nn = [16, 64]\nx = [7]\nk = [2, 4]\n");
  ASSERT_EQ(axes.size(), 3U);
  EXPECT_EQ(axes[0].keys[0], "m");
  EXPECT_EQ(axes[1].keys, (std::vector<std::string>{"n", "k"}));
  EXPECT_EQ(values_of(axes[1]), "16,2, 64,4, ");
  EXPECT_EQ(axes[2].keys[0], "x");
}

TEST(Sweep, LinkedKeysNeedEquallyManyValues) {
  const ConfigError error = refused("zip = [['n', 'k']]\nn = [16, 64]\nk = [2]\n");
  EXPECT_EQ(error.where().line, 3U);
  EXPECT_EQ(error.where().key, "sweep.k");
}

TEST(Sweep, ALinkedKeyThatIsNotSweptNamesTheNearest) {
  EXPECT_TRUE(contains(refused("zip = [['nn', 'kkkk']]\nnn = [16]\nkkk = [2]\n").remedy(), "did you mean \"kkk\"?"));
}

TEST(Sweep, BrokenAxesAreErrors) {
  for (const char* text :
       {"a = 1", "a = []", "a = {from = 1}", "a = {from = 1, to = 2}", "a = {from = 1, to = 2, step = 0}",
        "a = {from = 1, to = 2, step = -1}", "a = {from = 1, to = 2, step = 1e-9}",
        "a = {from = 1, to = 2, step = 1, count = 2}", "a = {from = 1, to = 2, count = 0}",
        "a = {from = 1, to = 2, count = 1.5}", "a = {from = 'x', to = 2, step = 1}",
        "a = {from = '1 ns', to = 2, step = 1}", "a = {from = 1, to = 2, stpe = 1}", "zip = 3", "zip = ['a']",
        "zip = [[1]]", "a = {from = nan, to = 2, step = 1}", "a = {from = 1, to = inf, step = 1}"}) {
    const ConfigError error = refused(text);
    EXPECT_FALSE(error.remedy().empty()) << text;
    EXPECT_EQ(error.where().line, 1U) << text;
  }
}

TEST(Sweep, TheLastAxisRunsFastest) {
  const auto points = product({2, 3});
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[0], (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(points[1], (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(points[3], (std::vector<std::size_t>{1, 0}));
}

std::vector<std::string> labels_of(const std::string& text) {
  std::vector<Axis> axes = read(text);
  make_names(axes.front());
  std::vector<std::string> labels;
  const std::string name = short_names(axes.front().keys).front();
  for (std::size_t i = 0; i < axes.front().values.size(); ++i) labels.push_back(label_of(axes.front(), i, name));
  return labels;
}

using Labels = std::vector<std::string>;

TEST(SweepLabels, SayWhatDiffersAndNeverToml) {
  EXPECT_EQ(labels_of("'switch.buffer' = [4, 8]\n"), (Labels{"buffer = 4", "buffer = 8"}));
  EXPECT_EQ(labels_of("'switch.queues' = ['1q', 'voqsw']\n"), (Labels{"1q", "voqsw"}));
  EXPECT_EQ(labels_of("'x.start' = ['1 us', '2 us']\n"), (Labels{"start = 1 us", "start = 2 us"}));
  EXPECT_EQ(labels_of("routing = [{ name = 'a', up = 1 }, { name = 'b', up = 1 }]\n"), (Labels{"a", "b"}));
  EXPECT_EQ(labels_of("routing = [{ name = 'a', up = 'x' }, { name = 'a', up = 'y' }]\n"),
            (Labels{"up = x", "up = y"}));
  EXPECT_EQ(labels_of("admission = ['none', { name = 'window', size = 4 }, { name = 'window', size = 8 }]\n"),
            (Labels{"none", "window, size = 4", "window, size = 8"}));
  EXPECT_EQ(labels_of("traffic = [[{ name = 'u', load = 0.1 }], [{ name = 'u', load = 0.2 }]]\n"),
            (Labels{"load = 0.1", "load = 0.2"}));
  EXPECT_EQ(labels_of("'a.x' = [1, 1]\n'a.y' = ['p', 'q']\nzip = [['a.x', 'a.y']]\n"), (Labels{"p", "q"}));
}

TEST(SweepLabels, AreAllDifferent) {
  // Without its last entry the second table would be called like the first.
  EXPECT_EQ(labels_of("routing = [{ name = 'a' }, { name = 'a', up = 'x' }]\n"), (Labels{"otherwise", "up = x"}));
  const Labels labels = labels_of("t = [{ a = { x = 1, y = 2 } }, { b = { x = 1, y = 2 } }]\n");
  EXPECT_NE(labels[0], labels[1]);
}

TEST(SweepLabels, NamesOfAxesAreAsShortAsTheyStillDiffer) {
  EXPECT_EQ(short_names({"traffic.load", "switch.buffer"}), (Labels{"load", "buffer"}));
  EXPECT_EQ(short_names({"traffic.uniform.load", "traffic.incast.load", "admission"}),
            (Labels{"uniform.load", "incast.load", "admission"}));
  EXPECT_EQ(short_names({"load", "traffic.load"}), (Labels{"load", "traffic.load"}));
  EXPECT_EQ(short_names({"a.b.c", "x.b.c"}), (Labels{"a.b.c", "x.b.c"}));
}

TEST(SweepNames, StandForTheValues) {
  EXPECT_EQ(labels_of("'switch.buffer' = [4, 8]\nnames = ['small', 'large']\n"), (Labels{"small", "large"}));
  std::vector<Axis> axes = read("'a.x' = [1, 2]\n'a.y' = [1, 2]\nnames = { 'a.y' = ['p', 'q'] }\n");
  for (Axis& axis : axes) make_names(axis);
  EXPECT_EQ(label_of(axes[0], 1, "x"), "x = 2");
  EXPECT_EQ(label_of(axes[1], 1, "y"), "q");
}

TEST(SweepNames, ThatDoNotFitAreErrors) {
  EXPECT_EQ(refused("'a.x' = [1, 2]\nnames = ['p']\n").where().line, 2U);
  EXPECT_NE(std::string(refused("'a.x' = [1, 2]\nnames = ['p']\n").what()).find("1 names for 2 values of a.x"),
            std::string::npos);
  for (const char* text : {"'a.x' = [1, 2]\nnames = ['p', 'p']\n", "'a.x' = [1, 2]\nnames = [1, 2]\n",
                           "'a.x' = [1, 2]\nnames = 'p'\n", "'a.x' = [1, 2]\n'a.y' = [1, 2]\nnames = ['p', 'q']\n"}) {
    EXPECT_NE(std::string(refused(text).what()), "") << text;
  }
  const ConfigError unknown = refused("'switch.buffer' = [1, 2]\nnames = { 'switch.bufer' = ['p', 'q'] }\n");
  EXPECT_NE(std::string(unknown.remedy()).find("switch.buffer"), std::string::npos) << unknown.remedy();
}

TEST(Sweep, WithoutAxesThereIsOnePoint) { EXPECT_EQ(product({}).size(), 1U); }

RC_GTEST_PROP(Sweep, TheProductHasEveryCombinationOnceInOrder, ()) {
  const auto lengths =
      *rc::gen::resize(4, rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 5)));
  const auto points = product(lengths);
  RC_ASSERT(points.size() ==
            std::accumulate(lengths.begin(), lengths.end(), std::size_t{1}, std::multiplies<std::size_t>()));
  for (std::size_t i = 1; i < points.size(); ++i) RC_ASSERT(points[i - 1] < points[i]);
}

}  // namespace
}  // namespace banyan::config::sweep_test
