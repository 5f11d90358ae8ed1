// Does every component and parameter show in help, documentation and schema?
#include "banyan/api/describe.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/example_catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/api/metrics.hpp"
#include "banyan/api/result.hpp"
#include "banyan/api/schema_export.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api::describe_test {
namespace {

using nlohmann::json;

TEST(Describe, FindsEveryParameterByItsNameAndByItsPlace) {
  for (const Kind* kind : catalog().kinds()) {
    for (const config::ComponentInfo* info : kind->components) {
      for (const config::Parameter& p : info->parameters) {
        const std::string own = info->name + "." + p.name;
        for (const std::string& name : {own, kind->section + "." + p.name})
          EXPECT_TRUE(contains(describe(catalog(), name), "  " + own + " = ")) << name;
      }
    }
  }
  const std::string all = describe(catalog(), "vcs");
  for (const char* owner : {"vc_router.vcs", "circuit.vcs"}) EXPECT_TRUE(contains(all, owner)) << all;
  EXPECT_TRUE(contains(describe_json(catalog(), "cioq.saqs"), "\"component\": \"cioq\""));
}

TEST(Describe, TellsTheWordsOfResults) {
  for (const Verdict v : {Verdict::steady, Verdict::saturated, Verdict::deadlocked, Verdict::finished})
    EXPECT_TRUE(contains(describe(catalog(), to_string(v)), to_string(v) + "\n  ")) << to_string(v);
  EXPECT_TRUE(contains(describe(catalog(), "Uncertain"), "too short"));
}

TEST(Describe, AnUnknownNameGetsOneShortRemedy) {
  for (const char* name : {"qqqqqqqqqqqq", "run.nothing.like.it"}) {
    try {
      static_cast<void>(describe(catalog(), name));
      ADD_FAILURE() << "no error was thrown";
    } catch (const ConfigError& error) { EXPECT_LT(error.remedy().size(), 100U) << error.remedy(); }
  }
}

TEST(Describe, ListsEveryComponent) {
  const std::string text = describe_all(example_catalog());
  for (const Kind* kind : example_catalog().kinds()) {
    for (const std::string& name : kind->names()) EXPECT_TRUE(contains(text, "  " + name)) << name;
  }
}

TEST(Describe, TellsUnitDefaultRangeAndReference) {
  const std::string text = describe(example_catalog(), "queued");
  EXPECT_TRUE(contains(text, "buffer = 12 packets"));
  EXPECT_TRUE(contains(text, "[packets], from 1 up to 65535"));
  EXPECT_TRUE(contains(describe(example_catalog(), "cube"), "Somebody 1987"));
}

TEST(Describe, AnUnknownComponentNamesTheNearest) {
  try {
    static_cast<void>(describe(example_catalog(), "quued"));
    FAIL();
  } catch (const ConfigError& error) { EXPECT_TRUE(contains(error.remedy(), "did you mean \"queued\"?")); }
}

TEST(Describe, FindsNamesThatAreWrittenTogether) {
  EXPECT_TRUE(describe(catalog(), "hotspot").starts_with("traffic hot_spot"));
  EXPECT_TRUE(describe(catalog(), "oddeven").starts_with("\"odd_even\" is a value of turn_model.rule"));
  EXPECT_TRUE(describe(catalog(), "Dragonfly Routing").starts_with("routing dragonfly_routing"));
}

TEST(Describe, TellsTheMetricBeforeTheParametersOfTheSameName) {
  const std::string text = describe(catalog(), "latency");
  const std::size_t metric = text.find("metric packet_latency");
  const std::size_t parameter = text.find("fat_tree.latency");
  ASSERT_NE(metric, std::string::npos);
  ASSERT_NE(parameter, std::string::npos);
  EXPECT_LT(metric, parameter);
}

TEST(Describe, JsonHoldsEveryRegisteredParameter) {
  const json list = json::parse(describe_json(catalog()));
  std::size_t parameters = 0;
  for (const Kind* kind : catalog().kinds()) {
    for (const auto* info : kind->components) parameters += info->parameters.size();
  }
  std::size_t described = 0;
  for (const json& item : list) described += item["parameters"].size();
  EXPECT_EQ(described, parameters);
}

TEST(Describe, MarkdownHasARowPerParameter) {
  EXPECT_TRUE(contains(describe_markdown(example_catalog()), "| `line_size` | 64 bytes |"));
  EXPECT_TRUE(contains(describe_markdown(example_catalog(), "tag"), "No parameters."));
}

TEST(Schema, EverySectionTakesANameOrItsTable) {
  const json schema = json::parse(experiment_schema(example_catalog()));
  EXPECT_EQ(schema["properties"]["topology"]["anyOf"][0]["enum"], json::parse(R"(["cube","ring"])"));
  EXPECT_EQ(schema["properties"]["topology"]["anyOf"][1]["$ref"], "#/$defs/topology.cube");
  EXPECT_EQ(schema["properties"]["traffic"]["anyOf"].back()["type"], "array");
  EXPECT_TRUE(schema["$defs"]["topology.cube"]["properties"].contains("radix"));
  EXPECT_TRUE(schema["$defs"]["run"]["properties"].contains("seed"));
}

TEST(Describe, TheBeginningOfSeveralNamesShowsAll) {
  const std::string text = describe(catalog(), "incast_completion");
  for (const char* which : {"first", "median", "last"})
    EXPECT_TRUE(contains(text, std::string("metric incast_completion_") + which)) << text;
  EXPECT_EQ(json::parse(describe_json(catalog(), "incast_completion")).size(), 3U);
  for (const MetricRow& row : metric_rows()) {
    for (std::size_t at = row.name.find('_'); at != std::string_view::npos; at = row.name.find('_', at + 1)) {
      const std::string name(row.name.substr(0, at));
      EXPECT_NO_THROW(static_cast<void>(describe(catalog(), name))) << name;
    }
  }
}

TEST(Schema, EveryReferenceHasItsDefinition) {
  const json schema = json::parse(experiment_schema(catalog()));
  for (const char* section : {"topology", "switch", "routing", "traffic"}) {
    for (const json& form : schema["properties"][section]["anyOf"]) {
      if (!form.contains("$ref")) continue;
      const std::string name = form["$ref"].get<std::string>().substr(std::string("#/$defs/").size());
      EXPECT_TRUE(schema["$defs"].contains(name)) << name;
    }
  }
}

/// Who writes traffic = "transpose" means the value of a choice, and is told how to say it; what is told is understood.
TEST(Catalog, AValueThatIsTakenForAComponentIsToldHowToWrite) {
  const std::string rest[] = {"topology = 'hypercube'\n", "switch = 'vc_router'\n", "routing = 'ecube'\n",
                              "traffic = 'uniform'\n"};
  const auto error_with = [&](const std::string& section,
                              const std::string& line) -> std::pair<std::string, std::string> {
    std::string text = line + "\n";
    for (const std::string& other : rest) text += other.starts_with(section + " ") ? "" : other;
    try {
      static_cast<void>(read_experiments_text(text, "value.toml", {}));
    } catch (const ConfigError& error) { return {error.cause(), error.remedy()}; }
    return {};
  };
  int told = 0;
  for (const Kind* kind : catalog().kinds()) {
    if (kind->section == "run" || kind->section == "job" || kind->section == "analysis") continue;
    for (const auto* info : kind->components) {
      for (const auto& parameter : info->parameters) {
        for (const std::string& value : parameter.choices) {
          if (kind->find(value) != nullptr || !known_as(value).empty()) continue;
          const auto [cause, remedy] = error_with(kind->section, fmt::format("{} = \"{}\"", kind->section, value));
          ASSERT_EQ(cause, fmt::format("unknown {} \"{}\"", kind->section, value));
          ASSERT_TRUE(remedy.starts_with("write ")) << value << ": " << remedy;
          const std::string line = remedy.substr(6);
          EXPECT_EQ(error_with(kind->section, line).first.find("unknown"), std::string::npos) << line;
          ++told;
        }
      }
    }
  }
  EXPECT_GT(told, 50);
}

TEST(Catalog, EveryDefaultIsInItsRange) {
  for (const Kind* kind : catalog().kinds()) {
    for (const auto* info : kind->components) {
      for (const auto& parameter : info->parameters) {
        EXPECT_FALSE(parameter.summary.empty()) << info->name << "." << parameter.name;
        const double* real = parameter.fallback ? std::get_if<double>(&*parameter.fallback) : nullptr;
        const i64* whole = parameter.fallback ? std::get_if<i64>(&*parameter.fallback) : nullptr;
        if (real == nullptr && whole == nullptr) continue;
        const double value = real != nullptr ? *real : static_cast<double>(*whole);
        EXPECT_GE(value, parameter.low) << info->name << "." << parameter.name;
        EXPECT_LE(value, parameter.high) << info->name << "." << parameter.name;
      }
    }
  }
}

}  // namespace
}  // namespace banyan::api::describe_test
