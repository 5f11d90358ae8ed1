// The command line as a whole: parsing, dispatch, errors, exit status.
#pragma once

namespace banyan::cli {

[[nodiscard]] int program(int argc, const char* const* argv);

}  // namespace banyan::cli
