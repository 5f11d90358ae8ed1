// Does a switch model that lists what it lacks, or has what it does not list, fail to compile with a sentence that says
// so?
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "build_info.hpp"
#include "support/repository.hpp"

namespace banyan::switch_model_test {
namespace {

/// A model of its own with one optional function; each {} is a place where a case writes something else.
std::string model(const std::string& provides, const std::string& optional,
                  const std::string& step = "Tick step(u32, Tick, engine::Io&) noexcept { return kNever; }") {
  return "#include \"banyan/core/switch_model.hpp\"\n"
         "using namespace banyan;\nusing core::Control;\nusing core::Flit;\n"
         "struct Model {\n  static constexpr u32 kProvides = core::kStep" +
         provides +
         ";\n  bool accept(u32, u32, const Flit&, engine::Io&) noexcept { return true; }\n"
         "  Tick accept(u32, u32, const Control&, engine::Io&) noexcept { return kNever; }\n  " +
         step +
         "\n  u32 entities() const { return 1; }\n  Tick horizon() const { return 1; }\n"
         "  u64 movements() const { return 0; }\n  void reset(u32) {}\n  u64 digest() const { return 0; }\n"
         "  void hold(engine::Holdings&) const {}\n  void occupancy(std::vector<u64>&) const {}\n  " +
         optional + "\n};\nstatic_assert(core::SwitchModel<Model>);\n";
}

const std::string kCompile = std::string(BANYAN_CXX) + " -std=c++20 -Wall -Wextra -I " BANYAN_SOURCE_DIR "/src ";

/// The seam's header, precompiled: some sixty models are compiled.
std::string seam() {
  static const std::string header = [] {
    const std::string copy = testing::TempDir() + "seam.hpp";
    std::ofstream(copy) << "#include \"banyan/core/switch_model.hpp\"\n";
    const test::Output compiled = test::run_shell(kCompile + "-x c++-header " + copy + " -o " + copy + ".gch 2>&1");
    EXPECT_EQ(compiled.status, 0) << compiled.text;
    return copy;
  }();
  return header;
}

test::Output compile(const std::string& text, const std::string& name) {
  const std::string file = testing::TempDir() + "switch_model_" + name + ".cpp";
  std::ofstream(file) << text;
  return test::run_shell(kCompile + "-Winvalid-pch -Werror=invalid-pch -fsyntax-only -include " + seam() + " " + file +
                         " 2>&1");
}

struct Optional {
  const char* name;
  const char* bit;
  const char* right;  ///< its definition
  const char* wrong;  ///< with another signature
};

const std::vector<Optional>& optionals() {
  static const std::vector<Optional> all{
      {"blocked_on", "kBlockedOn", "void blocked_on(engine::BlockedView&) const {}", "void blocked_on(int) const {}"},
      {"expects", "kExpects", "bool expects() const { return false; }", "int expects() { return 0; }"},
      {"next_source_after", "kNextSourceAfter", "Tick next_source_after(Tick) const { return kNever; }",
       "bool next_source_after(Tick) const { return true; }"},
      {"wake_by_source", "kWakeBySource", "void wake_by_source(Tick, std::vector<u64>&) {}",
       "void wake_by_source(Tick) {}"},
      {"fetch", "kFetch",
       "void fetch(u32, u32, const Flit&, engine::Io&) {} void fetch(u32, u32, const Control&, engine::Io&) {}",
       "void fetch(u32, u32, const Flit&, engine::Io&) {}"},
      {"step_many", "kStepMany", "void step_many(std::span<u64>, Tick, bool, engine::Io&) {}",
       "void step_many(std::span<u64>, Tick) {}"},
      {"longest_silence", "kLongestSilence", "Tick longest_silence() const { return 1; }",
       "bool longest_silence() const { return true; }"},
      {"reach", "kReach", "u32 reach() const { return 0; }", "Tick reach() const { return 0; }"},
      {"begin_block", "kBeginBlock", "void begin_block(u32, Tick) {}", "void begin_block() {}"},
      {"step_block", "kStepBlock", "void step_block(u32, u64&, Tick, engine::Io&) {}", "void step_block(u32, Tick) {}"},
      {"begin_wave", "kBeginWave", "void begin_wave(Tick) {}", "void begin_wave() {}"},
      {"end_wave", "kEndWave", "void end_wave(Tick, Tick) {}", "void end_wave(Tick) {}"},
      {"full_channels", "kFullChannels", "void full_channels(std::vector<u32>&) const {}",
       "void full_channels(std::vector<u32>&) {}"},
      {"activity", "kActivity", "void activity(engine::Activity&) const {}", "void activity(engine::Activity&) {}"},
      {"own_metrics", "kOwnMetrics", "engine::OwnMetrics* own_metrics() { return nullptr; }",
       "void* own_metrics() { return nullptr; }"},
      {"hold_arrival", "kHoldArrival",
       "void hold_arrival(u32, u32, const Flit&, engine::Holdings&) const {} "
       "void hold_arrival(u32, u32, const Control&, engine::Holdings&) const {}",
       "void hold_arrival(u32, u32, const Control&, engine::Holdings&) const {}"},
      {"fetches", "kFetches", "bool fetches() const { return false; }", "u32 fetches() const { return 0; }"},
      {"archive", "kArchive", "void archive(Archive&) {}", "void archive() {}"},
  };
  return all;
}

TEST(SwitchModel, ListedAndDefinedIsAModel) {
  std::string provides;
  std::string definitions;
  for (const Optional& o : optionals()) {
    provides += std::string(" | core::") + o.bit;
    definitions += std::string(o.right) + "\n  ";
  }
  const test::Output compiled = compile(model(provides, definitions), "right");
  EXPECT_EQ(compiled.status, 0) << compiled.text;
}

TEST(SwitchModel, EveryMisspellingIsNamed) {
  for (const Optional& o : optionals()) {
    const std::string listed = std::string(" | core::") + o.bit;
    const std::string misspelt =
        "#define " + std::string(o.name) + " misspelt\n" + o.right + "\n#undef " + o.name + "\n";
    const std::vector<std::pair<std::string, std::string>> cases{
        {model(listed, "\n" + misspelt), std::string(o.name) + " is listed in kProvides (" + o.bit + ") and missing"},
        {model(listed, o.wrong), std::string(o.name) + " has another signature than core/switch_model.hpp asks for"},
        {model("", o.right), std::string(o.name) + " is defined and not listed in kProvides (" + o.bit + ")"},
    };
    for (const auto& [text, sentence] : cases) {
      const test::Output compiled = compile(text, o.name);
      EXPECT_NE(compiled.status, 0) << text;
      EXPECT_NE(compiled.text.find(sentence), std::string::npos) << sentence << "\n" << compiled.text;
    }
  }
}

TEST(SwitchModel, AFinalClassIsToldFirst) {
  std::string text = model("", "");
  text.replace(text.find("struct Model"), 12, "struct Model final");
  const test::Output compiled = compile(text, "final");
  EXPECT_NE(compiled.status, 0);
  const std::size_t first = compiled.text.find("error: ");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(compiled.text.substr(first, 200).find("a switch model cannot be final"), std::string::npos)
      << compiled.text;
}

/// The functions that every model has, and the declaration of each in model().
const std::vector<std::pair<std::string, std::string>>& required() {
  static const std::vector<std::pair<std::string, std::string>> all{
      {"accept", "bool accept(u32, u32, const Flit&"},
      {"accept", "Tick accept(u32, u32, const Control&"},
      {"entities", "u32 entities()"},
      {"horizon", "Tick horizon()"},
      {"movements", "u64 movements()"},
      {"reset", "void reset(u32)"},
      {"digest", "u64 digest()"},
      {"hold", "void hold(engine::Holdings&)"},
      {"occupancy", "void occupancy(std::vector<u64>&)"},
  };
  return all;
}

TEST(SwitchModel, EveryFunctionOfTheSeamIsTried) {
  const std::string header = test::read_file(BANYAN_SOURCE_DIR "/src/banyan/core/switch_model.hpp");
  const auto count = [](const std::string& text, const std::string& words) {
    std::size_t found = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(header, " = 1U << "), optionals().size() + 1);  // and step
  const std::size_t begin = header.find("concept RequiredOfSwitchModel");
  const std::string concept_text = header.substr(begin, header.find("enum Provided") - begin);
  // Each requirement has a sentence and below it, further in, an example.
  EXPECT_EQ(count(concept_text, "\n  //   "), required().size());
  EXPECT_EQ(count(header.substr(header.find("enum Provided")), "\n  ///   "), optionals().size() + 1);
}

TEST(SwitchModel, EveryRequiredFunctionThatIsMisspeltIsNamed) {
  const std::string right = model("", "");
  for (const auto& [name, declaration] : required()) {
    std::string text = right;
    const std::size_t at = text.find(declaration);
    ASSERT_NE(at, std::string::npos) << declaration;
    text.insert(at + declaration.find(name), "mis");
    const test::Output compiled = compile(text, "required_" + name);
    EXPECT_NE(compiled.status, 0) << text;
    EXPECT_NE(compiled.text.find("m." + name + "("), compiled.text.find("c." + name + "("))
        << "the message does not name " << name << ":\n"
        << compiled.text;
  }
}

TEST(SwitchModel, AStepThatIsMissingIsNamed) {
  const test::Output compiled = compile(model("", "", "Tick stop(u32, Tick, engine::Io&) { return kNever; }"), "step");
  EXPECT_NE(compiled.status, 0);
  EXPECT_NE(compiled.text.find("step is listed in kProvides (kStep) and missing"), std::string::npos) << compiled.text;
}

}  // namespace
}  // namespace banyan::switch_model_test
