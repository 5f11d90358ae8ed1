// Messages that answering traffics have posted, in order of birth: one list per terminal and traffic of a shard, in a
// pool that stays as large as it once had to be.
#pragma once

#include <tuple>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/engine/waiting.hpp"

namespace banyan::engine {

class Answers {
 public:
  Answers() = default;
  explicit Answers(std::size_t lists) : lists_(lists) { posted_.reserve(lists * 4); }

  /// Order of the messages of one list. The order of posting within a tick must not matter, so all that tells messages
  /// apart is compared.
  [[nodiscard]] static bool before(const core::Message& a, const core::Message& b) noexcept {
    return std::tie(a.birth, a.tag, a.rank, a.destination, a.flits, a.word) <
           std::tie(b.birth, b.tag, b.rank, b.destination, b.flits, b.word);
  }

  void insert(std::size_t list, const core::Message& message) {
    const u32 place = posted_.take();
    posted_[place].message = message;
    Queue& queue = lists_[list];
    if (queue.empty() || !before(message, posted_[queue.last].message)) return posted_.append(queue, place);
    u32 behind = kNone;
    for (u32 at = queue.first; !before(message, posted_[at].message); at = posted_[at].next) behind = at;
    posted_.insert(queue, behind, place);
  }

  /// Takes the first message of a list; its birth is kNever when there is none.
  void pop(std::size_t list, core::Message& out) noexcept {
    if (lists_[list].empty()) {
      out.birth = kNever;
      return;
    }
    const u32 place = posted_.pop(lists_[list]);
    out = posted_[place].message;
    posted_.give_back(place);
  }

  template <class F>
  void for_each(std::size_t list, F&& f) const {
    posted_.for_each(lists_[list], [&](const Posted& posted) { f(posted.message); });
  }

  void clear() {
    lists_.assign(lists_.size(), {});
    posted_.clear();
  }

  void archive(Archive& a) { a(lists_, posted_); }

 private:
  struct Posted {
    core::Message message;
    u32 next = kNone;
  };

  std::vector<Queue> lists_;
  Queues<Posted> posted_;
};

}  // namespace banyan::engine
