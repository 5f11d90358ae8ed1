#include <csignal>

#include "banyan/cli/program.hpp"

int main(int argc, char** argv) {
  // A file that may not grow (ulimit -f) is an error to report, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  return banyan::cli::program(argc, argv);
}
