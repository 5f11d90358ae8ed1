// How the program ends when something is wrong: a status, and what its user is told.
#pragma once

#include <exception>
#include <string>

namespace banyan::cli {

struct Failure {
  int status = 0;  ///< ExitStatus
  std::string text;
};

/// What an error of the library means to whoever started the program.
[[nodiscard]] Failure failure_of(const std::exception_ptr& error);

/// Tells the user; returns the status.
int tell(const Failure& failure);

}  // namespace banyan::cli
