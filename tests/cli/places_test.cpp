// Does every reader of text name the file, the line and the column of what is wrong, and take a byte order mark and the
// line ends of other systems as nothing?
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "banyan/base/types.hpp"
#include "cli/program.hpp"

namespace banyan::cli::places_test {
namespace {

/// A kind of text file: one that is right, one whose third line is wrong, and how each is read.
struct Kind {
  std::string name;
  std::string right;
  std::string wrong;
  u32 column = 0;  ///< of what is wrong on the third line of `wrong`
  std::function<std::vector<std::string>(const std::string& file)> command;
};

std::string experiment(const std::string& more) {
  return more + "\nswitch = 'vc_router'\n[traffic]\nname = 'uniform'\nload = 0.1\n[run]\nmeasure = 100\n";
}

std::vector<Kind> kinds() {
  const auto of_experiment = [](const std::string& text) {
    return [text](const std::string& file) {
      std::string whole = text;
      whole.replace(whole.find("FILE"), 4, file);
      write_text("around.toml", whole);
      return std::vector<std::string>{"check", "around.toml"};
    };
  };
  const std::string ends = "switch a\nswitch b\n";
  return {
      {"experiment", experiment("topology = 'mesh'\n"),
       experiment("topology = 'mesh'\n").replace(19, 0, "  loaf = 3\n"), 3,
       [](const std::string& file) {
         return std::vector<std::string>{"check", file};
       }},
      {"graph", ends + "terminal x a\nterminal y b\nlink a b\n", ends + "terminal x c\nterminal y b\n", 12,
       of_experiment(experiment("topology = { name = 'graph_file', file = 'FILE' }"))},
      {"table", "# two switches\n0 1 0\n1 0 0\n", "# two switches\n0 1 0\n1 0 9\n", 5,
       of_experiment(
           experiment("topology = { name = 'mesh', size = [2] }\nrouting = { name = 'table', file = 'FILE' }"))},
      {"trace", "# banyan trace 1\n0 0 0 1 4\n1 3 1 0 4 after 0\n", "# banyan trace 1\n0 0 0 1 4\n1 3 1 x 4\n", 7,
       of_experiment("topology = { name = 'mesh', size = [2, 2] }\nswitch = 'vc_router'\n[traffic]\nname = "
                     "'trace'\nfile = 'FILE'\n")},
      {"booksim2", "topology = mesh; routing_function = dor;\nk = 4;\nn = 2;\n",
       "topology = mesh; routing_function = dor;\nk = 4;\n  num_vcs = 0;\n", 3,
       [](const std::string& file) {
         return std::vector<std::string>{"convert", file};
       }},
      {"placement", "0 1\n2 3\n4 5\n", "0 1\n2 3\n4 x\n", 3,
       of_experiment("topology = { name = 'mesh', size = [4, 4] }\nswitch = 'vc_router'\nrun.cycle_time = '1 "
                     "ns'\n[[job]]\nfile = 'six.goal'\n"
                     "placement = 'FILE'\n")},
      {"storage", "0,0,512,r,0.0\n0,8,512,w,0.1\n0,16,512,r,0.2\n", "0,0,512,r,0.0\n0,8,512,w,0.1\n0,16,512,x,0.2\n",
       10,
       of_experiment("topology = { name = 'mesh', size = [4, 4] }\nswitch = 'vc_router'\nrun.cycle_time = '1 "
                     "ns'\n[traffic]\nname = 'storage'\ndisks = 8\nfile = 'FILE'\n")},
      {"booksim2 syntax", "topology = mesh; routing_function = dor;\nk = 4;\nn = 2;\n",
       "topology = mesh; routing_function = dor;\nk = 4;\nn 2;\n", 3,
       [](const std::string& file) {
         return std::vector<std::string>{"convert", file};
       }},
      {"anynet", "router 0 node 0\nrouter 1 node 1\nrouter 0 router 1 3\n",
       "router 0 node 0\nrouter 1 node 1\nrouter 0 rooter 1\n", 10,
       [](const std::string& file) {
         write_text("anynet.cfg", "topology = anynet;\nnetwork_file = " + file + ";\nrouting_function = min;\n");
         return std::vector<std::string>{"convert", "anynet.cfg"};
       }},
      {"connections", "Nodes 4\nConnections 1\n0->1 id 1 start 0 size 64\n",
       "Nodes 4\nConnections 1\n0->1 id 1 begin 0 size 64\n", 11,
       [](const std::string& file) {
         return std::vector<std::string>{"workload", "info", file};
       }},
      {"goal", "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 0\n}\nrank 1 {\nl1: recv 8b from 0 tag 0\n}\n",
       "num_ranks 2\nrank 0 {\nl1: sned 8b to 1 tag 0\n}\nrank 1 {\n}\n", 5,
       [](const std::string& file) {
         return std::vector<std::string>{"workload", "info", file};
       }},
  };
}

std::string with_other_line_ends(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\r\n");
  return text;
}

class Places : public testing::Test {
 protected:
  void SetUp() override {
    fresh_scratch();
    std::string six = "num_ranks 6\n";
    for (const char* rank : {"0", "1", "2", "3", "4", "5"}) six += std::string("rank ") + rank + " {\ncalc 5\n}\n";
    write_text("six.goal", six);
  }
};

TEST_F(Places, AreThoseOfTheWordThatIsWrong) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    write_text("it", kind.wrong);
    const Said said = banyan(kind.command("it"));
    EXPECT_EQ(said.status, 2);
    EXPECT_NE(said.err.find("it:3:" + std::to_string(kind.column) + ": "), std::string::npos) << said.err;
  }
}

TEST_F(Places, DoNotMoveWithAByteOrderMarkOrOtherLineEnds) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    for (const std::string mark : {"", "\xef\xbb\xbf"}) {
      for (const bool other_ends : {false, true}) {
        const auto written = [&](const std::string& text) {
          return mark + (other_ends ? with_other_line_ends(text) : text);
        };
        write_text("it", written(kind.right));
        const Said right = banyan(kind.command("it"));
        EXPECT_EQ(right.status, 0) << right.err;
        write_text("it", written(kind.wrong));
        const Said wrong = banyan(kind.command("it"));
        EXPECT_NE(wrong.err.find("it:3:" + std::to_string(kind.column) + ": "), std::string::npos) << wrong.err;
      }
    }
  }
}

TEST_F(Places, OfOptionsThatAreThereTwiceAreTheSecond) {
  write_text("net", "switch a\nswitch b\nterminal x a\nterminal y b\nlink a b latency=3 latency=4\n");
  write_text("around.toml", experiment("topology = { name = 'graph_file', file = 'net' }"));
  expect_refusal(banyan({"check", "around.toml"}), "net:5:20: latency is there twice", "leave one of them out");
  write_text("net", "switch a\nswitch b\nterminal x a latency=2 latency=2\nterminal y b\nlink a b\n");
  expect_refusal(banyan({"check", "around.toml"}), "net:3:24: latency is there twice", "leave one of them out");
  write_text("c.cm", "Nodes 4\n0->1 id 1 start 0 size 64 start 5\n");
  expect_refusal(banyan({"workload", "info", "c.cm"}), "c.cm:2:27: start is there twice", "leave one of them out");
  write_text(
      "c.cm",
      "Nodes 4\n0->1 trigger 1 size 64\n2->3 start 0 size 8 send_done_trigger 1\ntrigger id 1 oneshot multishot\n");
  expect_refusal(banyan({"workload", "info", "c.cm"}), "c.cm:4:22: a trigger of two kinds", "one of them");
}

}  // namespace
}  // namespace banyan::cli::places_test
