// Is the library free of global mutable state? Runs may share a process, so nothing may be shared between them.
// A best effort on text; the thread sanitizer sees what it cannot.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "support/repository.hpp"

namespace {

using banyan::test::lines_of;
using banyan::test::project_files;
using banyan::test::read_file;
using banyan::test::repository_root;

/// Why a line declares global mutable state, or "".
std::string global_state(const std::string& line) {
  // A static or thread-local variable: no parenthesis (a function) before its end or initializer.
  static const std::regex static_variable(
      R"(^\s*(inline\s+)?(static|thread_local)\s+(?!const\b|constexpr\b|constinit const\b|inline constexpr\b)[^()]*[;={])");
  // A variable at the first column (namespaces are not indented) that is neither constant nor something else.
  static const std::regex namespace_variable(
      R"(^(inline\s+)?[A-Za-z_][\w:<>,\s*&]*\s[\w]+(\s*=.*|\s*\{.*\})?;\s*(//.*)?$)");
  static const std::regex something_else(
      R"(^\s*((inline|static|__extension__)\s+)*(const|constexpr|concept|extern|using|namespace|class|struct|enum|union|typedef|template|friend|return|static_assert|public|private|protected|case|default|goto)\b)");
  if (std::regex_search(line, static_variable)) return "a mutable static variable";
  if (!std::regex_search(line, something_else) && std::regex_match(line, namespace_variable)) {
    return "a mutable variable at namespace scope";
  }
  return "";
}

TEST(Globals, TheDetectorSeesThem) {
  for (const std::string line :
       {"u32 counter = 0;", "static int calls;", "  static std::map<int, int> cache{};", "thread_local Rng generator;",
        "std::vector<u32> table;", "inline bool verbose = false;"}) {
    EXPECT_NE(global_state(line), "") << line;
  }
  for (const std::string line :
       {"static const u32 x = 1;", "static constexpr u32 kN = 4;", "inline constexpr Tick kNever = 1;",
        "const core::TopologyRow row_mesh = make();", "using u8 = std::uint8_t;", "class Builder;",
        "static u32 f(u32 x) { return x; }", "  static End of_switch(u32 s) { return {s}; }", "  u32 local = 0;",
        "extern const core::TopologyRow row_mesh;", "};", "static void f();",
        "concept Model = Required<M> && lists<M>();"}) {
    EXPECT_EQ(global_state(line), "") << line;
  }
}

TEST(Globals, TheLibraryHasNone) {
  for (const std::string& file : project_files("src/banyan/", {".cpp", ".hpp"})) {
    const bool program = file.rfind("src/banyan/cli/", 0) == 0;
    int number = 0;
    for (const std::string& line : lines_of(read_file(repository_root() / file))) {
      ++number;
      // The program needs one flag that a signal handler sets; such a line says so.
      if (program && line.find("// signal") != std::string::npos) continue;
      // The components of plug-ins are added to those that everybody reads.
      if ((file == "src/banyan/core/registry.cpp" || file == "src/banyan/api/catalog.cpp") &&
          line.find("// plug-ins") != std::string::npos)
        continue;
      // Memory runs out for a process, and what new calls then is one function of it.
      if (file.rfind("src/banyan/base/memory_reserve.", 0) == 0 && line.find("// of the process") != std::string::npos)
        continue;
      EXPECT_EQ(global_state(line), "") << file << ":" << number << ": " << line;
    }
  }
}

TEST(Globals, TheLibraryNeitherPrintsNorExits) {
  static const std::regex prints(
      R"(\bstd::(cout|cerr|clog|exit|abort|terminate|quick_exit)\b|(^|[^\w:.>])(printf|puts|exit|abort)\s*\(|\bfmt::print\b)");
  for (const std::string& file : project_files("src/banyan/", {".cpp", ".hpp"})) {
    if (file.rfind("src/banyan/cli/", 0) == 0) continue;
    int number = 0;
    for (const std::string& line : lines_of(read_file(repository_root() / file))) {
      ++number;
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_FALSE(std::regex_search(code, prints)) << file << ":" << number << ": " << line;
    }
  }
}

}  // namespace
