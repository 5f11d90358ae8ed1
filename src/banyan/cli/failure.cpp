#include "banyan/cli/failure.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <new>

#include "banyan/base/error.hpp"
#include "banyan/base/memory_reserve.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/cli/exit_status.hpp"

namespace banyan::cli {

namespace {
constexpr const char* kReport = "report this with the experiment file, where a plug-in is loaded to who wrote that";
}  // namespace

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ConfigError& bad) { return {kBadInput, bad.what()}; } catch (const Interrupted& stop) {
    const std::string said = stop.what();
    const bool told = said.find("remedy: ") != std::string::npos;
    return {kInterrupted,
            told ? said
                 : said +
                       "\n  remedy: run it again; results are the same, and of sweeps, studies and searches "
                       "--out FOLDER keeps what is finished"};
  } catch (const InvariantError& broken) {
    return {kBroken,
            fmt::format("broken invariant: {}\n  remedy: report this with the experiment file", broken.what())};
  } catch (const std::bad_alloc&) { return {kBadInput, kNoMemory}; } catch (const std::exception& other) {
    return {kBroken, fmt::format("internal: {}\n  remedy: {}", other.what(), kReport)};
  } catch (...) { return {kBroken, fmt::format("internal: an error without words\n  remedy: {}", kReport)}; }
}

int tell(const Failure& failure) {
  // What came from a file must not command the terminal.
  std::string line = "banyan: error: " + with_faults_shown(failure.text);
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  return failure.status;
}

}  // namespace banyan::cli
