#include "banyan/cli/program.hpp"

int main(int argc, char** argv) { return banyan::cli::program(argc, argv); }
