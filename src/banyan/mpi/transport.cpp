// Carries bytes between ranks with MPI. A module of its own, loaded where a launcher has started several processes
// (cli/ranks.cpp): the program needs no MPI to be built or to run alone, and no other file includes its header.
#include <mpi.h>
#include <sys/prctl.h>

#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>

#include "banyan/engine/ranks.hpp"

namespace banyan::mpi {
namespace {

class Transport final : public engine::RankTransport {
 public:
  Transport() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED)
      throw std::runtime_error("this MPI takes no threads beside the one that calls it");
    prctl(PR_SET_TIMERSLACK, kSlack);
    MPI_Comm neighbours = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &neighbours);
    int on_this_machine = 1;
    MPI_Comm_size(neighbours, &on_this_machine);
    MPI_Comm_free(&neighbours);
    if (static_cast<unsigned>(on_this_machine) > std::thread::hardware_concurrency()) looks_ = kFewLooks;
  }
  ~Transport() override { MPI_Finalize(); }

  [[nodiscard]] u32 rank() const override {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return static_cast<u32>(rank);
  }
  [[nodiscard]] u32 size() const override {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return static_cast<u32>(size);
  }

  /// MPI keeps the order of messages between two ranks, so that the first one that is there is of this swap. Errors end
  /// all processes (MPI_ERRORS_ARE_FATAL, as MPI begins).
  void swap(const std::vector<std::string>& out, std::vector<std::string>& in) override {
    const u32 self = rank();
    const u32 ranks = size();
    sending_.clear();
    for (u32 k = 1; k < ranks; ++k) {
      const u32 to = (self + k) % ranks;
      sending_.emplace_back();
      MPI_Isend(out[to].data(), count(out[to].size()), MPI_BYTE, static_cast<int>(to), 0, MPI_COMM_WORLD,
                &sending_.back());
    }
    for (u32 k = 1; k < ranks; ++k) {
      const u32 from = (self + ranks - k) % ranks;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      await([&](int* there) { MPI_Improbe(static_cast<int>(from), 0, MPI_COMM_WORLD, there, &message, &status); });
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      in[from].resize(static_cast<std::size_t>(bytes));
      MPI_Mrecv(in[from].data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    }
    await(
        [&](int* done) { MPI_Testall(static_cast<int>(sending_.size()), sending_.data(), done, MPI_STATUSES_IGNORE); });
  }

 private:
  // In microseconds: some 500 and 50. A window takes a few hundred, and a pause, with what it takes to wake up, as long
  // as half of one: who has a core had better keep it. (Offering it to others instead of a pause is worse: on a busy
  // machine it comes back milliseconds later.)
  static constexpr int kLooks = 5000;
  static constexpr int kFewLooks = 500;
  static constexpr unsigned long kSlack = 1000;  ///< nanoseconds by which a pause may be longer; Linux: 50,000

  /// Asks again and again for a while, and then with pauses: MPI itself would keep the core that another rank waits
  /// for.
  template <class Ask>
  void await(Ask&& ask) const {
    int done = 0;
    for (int look = 0;; ++look) {
      ask(&done);
      if (done != 0) return;
      if (look >= looks_) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  [[nodiscard]] static int count(std::size_t bytes) {
    if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw std::runtime_error("a message between ranks is longer than MPI takes (2 GB)");
    return static_cast<int>(bytes);
  }

  int looks_ = kLooks;  ///< before the first pause; few where ranks wait for each other's cores
  std::vector<MPI_Request> sending_;
};

}  // namespace
}  // namespace banyan::mpi

/// Joins the processes that the launcher started; the caller deletes it when all is done.
extern "C" [[gnu::visibility("default")]] banyan::engine::RankTransport* banyan_join_ranks() {
  return new banyan::mpi::Transport;  // NOLINT(cppcoreguidelines-owning-memory): it goes through a C interface
}
