#include "banyan/cli/ranks.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <system_error>

#include "banyan/base/error.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/failure.hpp"
#include "banyan/cli/output.hpp"

#ifndef BANYAN_LIBDIR
#define BANYAN_LIBDIR "lib"
#endif

namespace banyan::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const Launched& launched, const std::string& cause, const std::string& remedy) {
  throw ConfigError({fmt::format("{} processes of one run", launched.size), 0, 0, ""}, cause, remedy);
}

/// Beside the program, as it is built; or where it is installed.
std::string module_file() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& file :
       {folder / "banyan_mpi.so", folder / ".." / BANYAN_LIBDIR / "banyan" / "modules" / "banyan_mpi.so"}) {
    if (fs::exists(file, ignored)) return file.string();
  }
  return "";
}

std::unique_ptr<engine::RankTransport> join(const Launched& launched) {
  const std::string file = module_file();
  if (file.empty()) {
    refuse(launched, "this program was built without MPI, or its module banyan_mpi.so is not beside it",
           "install the package banyan-mpi, build it where libopenmpi-dev is installed, or start one process alone");
  }
  // Global: the components that Open MPI loads itself look for its symbols.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  using Join = engine::RankTransport* (*)();
  const auto join_ranks = library == nullptr ? nullptr : reinterpret_cast<Join>(dlsym(library, "banyan_join_ranks"));
  if (join_ranks == nullptr) {
    const char* const why = dlerror();
    refuse(launched, fmt::format("MPI cannot be loaded: {}", why != nullptr ? why : "unknown reason"),
           "install openmpi-bin, or start one process alone");
  }
  std::unique_ptr<engine::RankTransport> transport(join_ranks());
  if (transport->size() == launched.size) return transport;
  refuse(launched, fmt::format("MPI knows of {}", transport->size()), "start them with the mpirun of Open MPI");
}

/// One of several processes that do the same speaks: what the others write goes nowhere, until they have something of
/// their own to tell.
class Muted {
 public:
  explicit Muted(bool on) {
    if (!on) return;
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    std::fflush(nullptr);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      kept_[i] = fcntl(kStreams[i], F_DUPFD_CLOEXEC, 3);
      dup2(nowhere, kStreams[i]);
    }
    close(nowhere);
  }
  Muted(const Muted&) = delete;
  Muted& operator=(const Muted&) = delete;
  ~Muted() { end(); }

  void end() noexcept {
    std::fflush(nullptr);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i] < 0) continue;
      dup2(kept_[i], kStreams[i]);
      close(kept_[i]);
      kept_[i] = -1;
    }
  }

 private:
  static constexpr std::array kStreams{STDOUT_FILENO, STDERR_FILENO};
  std::array<int, 2> kept_{-1, -1};
};

}  // namespace

std::optional<Launched> launched() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
  };
  // Open MPI, MPICH and its kin, srun. A batch script alone has no step.
  constexpr std::pair<const char*, const char*> kNames[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                            {"PMI_RANK", "PMI_SIZE"},
                                                            {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& [rank_name, size_name] : kNames) {
    const std::string rank = variable(rank_name);
    const std::string size = variable(size_name);
    if (rank.empty() || size.empty() || size == "1") continue;
    return Launched{static_cast<u32>(std::strtoul(rank.c_str(), nullptr, 10)),
                    static_cast<u32>(std::strtoul(size.c_str(), nullptr, 10))};
  }
  return std::nullopt;
}

int on_ranks(const Launched& launched, const std::function<int(engine::Ranks&)>& act) {
  Muted muted(launched.rank != 0);
  std::unique_ptr<engine::RankTransport> transport;
  try {
    transport = join(launched);
  } catch (...) {
    // All fail alike. A launcher may kill the others when one ends with a status: that is the one that tells.
    return launched.rank == 0 ? tell(failure_of(std::current_exception())) : int{kDone};
  }
  engine::Ranks ranks(*transport);
  try {
    return act(ranks);
  } catch (const engine::RankFailed& failed) { return failed.failure().status; } catch (...) {
    const Failure own = failure_of(std::current_exception());
    const engine::RankFailure first = ranks.fail(own.status, own.text);
    muted.end();
    if (first.rank == ranks.rank()) tell(own);
    return first.status;
  }
}

}  // namespace banyan::cli
