// A small catalog for the tests of reading experiments: no registered component is needed, none can disturb.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "banyan/api/catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/config/toml_reader.hpp"

namespace banyan::api {

inline const Catalog& example_catalog() {
  using config::ComponentInfo;
  using config::Parameter;
  static const ComponentInfo cube{"cube",
                                  "A cube",
                                  "Somebody 1987",
                                  {Parameter::integer("terminals", 256).range(2, 65536).doc("N"),
                                   Parameter::integer("radix", 4).range(2, 64).doc("n")}};
  static const ComponentInfo ring{"ring", "A ring", "", {Parameter::integer("nodes", 8).range(2, 1e6).doc("Nodes")}};
  static const ComponentInfo queued{"queued",
                                    "Queues",
                                    "",
                                    {Parameter::integer("buffer", 12).unit("packets").range(1, 65535).doc("Places, S"),
                                     Parameter::integer("line_size", 64).unit("bytes").range(1, 4096).doc("Size")}};
  static const ComponentInfo tag{"tag", "By tag", "", {}};
  static const ComponentInfo section{
      "section", "By section", "", {Parameter::integer("sections", 1).range(1, 4096).doc("K")}};
  static const ComponentInfo uniform{"uniform",
                                     "Uniform",
                                     "",
                                     {Parameter::real("load", 0.5).range(0, 1).doc("Load"),
                                      Parameter::boolean("include_self", true).doc("Own terminal too"),
                                      Parameter::integer("size", 1).unit("flits").range(1, 4096).doc("Size")}};
  static const ComponentInfo burst{"burst",
                                   "Burst",
                                   "",
                                   {Parameter::real("sigma", 10.0).unit("cycles").range(0, 1e9).doc("Spread"),
                                    Parameter::integer("size", 1).unit("flits").range(1, 4096).doc("Size")}};
  static const Catalog all = [] {
    Catalog made;
    made.topology.components = {&cube, &ring};
    made.switching.components = {&queued};
    made.routing.components = {&section, &tag};
    made.traffic.components = {&burst, &uniform};
    made.run.components = {&run_info()};
    return made;
  }();
  return all;
}

inline const std::string kExample =
    "topology = { name = \"cube\", terminals = 16, radix = 2 }\n"
    "switch   = { name = \"queued\", buffer = 4 }\n"
    "routing  = \"tag\"\n"
    "[[traffic]]\n"
    "name = \"uniform\"\n"
    "load = 0.25\n"
    "[[traffic]]\n"
    "name = \"burst\"\n"
    "[run]\n"
    "seed = 7\n";

inline ExperimentSet read_set(const std::string& text, const Overrides& overrides = {}) {
  return resolve_experiments(config::read_toml_text(text, "x.toml"), "x", overrides, example_catalog());
}

inline Experiment read_one(const std::string& text, const Overrides& overrides = {}) {
  ExperimentSet set = read_set(text, overrides);
  EXPECT_EQ(set.points.size(), 1U);
  return set.points.front();
}

/// The ConfigError of reading; fails the test when there is none.
inline ConfigError refusal(const std::string& text, const Overrides& overrides = {}) {
  try {
    static_cast<void>(read_set(text, overrides));
  } catch (const ConfigError& error) { return error; }
  ADD_FAILURE() << "no error was thrown";
  return {{}, "", ""};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace banyan::api
