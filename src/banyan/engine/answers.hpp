// Messages that answering traffics have posted, in order of birth: one list per terminal and traffic of a shard, in a
// pool that stays as large as it once had to be.
#pragma once

#include <tuple>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/traffic.hpp"

namespace banyan::engine {

class Answers {
 public:
  Answers() = default;
  explicit Answers(std::size_t lists) : heads_(lists, kNone), tails_(lists, kNone) { nodes_.reserve(lists * 4); }

  /// Order of the messages of one list. The order of posting within a tick must not matter, so all that tells messages
  /// apart is compared.
  [[nodiscard]] static bool before(const core::Message& a, const core::Message& b) noexcept {
    return std::tie(a.birth, a.tag, a.rank, a.destination, a.flits, a.word) <
           std::tie(b.birth, b.tag, b.rank, b.destination, b.flits, b.word);
  }

  void insert(std::size_t list, const core::Message& message) {
    const u32 node = allocate(message);
    u32& head = heads_[list];
    u32& tail = tails_[list];
    if (head == kNone || before(message, nodes_[head].message)) {
      nodes_[node].next = head;
      head = node;
      if (tail == kNone) tail = node;
    } else if (!before(message, nodes_[tail].message)) {
      nodes_[tail].next = node;
      tail = node;
    } else {
      u32 at = head;
      while (!before(message, nodes_[nodes_[at].next].message)) at = nodes_[at].next;
      nodes_[node].next = nodes_[at].next;
      nodes_[at].next = node;
    }
  }

  /// Takes the first message of a list; its birth is kNever when there is none.
  void pop(std::size_t list, core::Message& out) noexcept {
    const u32 node = heads_[list];
    if (node == kNone) {
      out.birth = kNever;
      return;
    }
    out = nodes_[node].message;
    heads_[list] = nodes_[node].next;
    if (heads_[list] == kNone) tails_[list] = kNone;
    nodes_[node].next = free_;
    free_ = node;
  }

  template <class F>
  void for_each(std::size_t list, F&& f) const {
    for (u32 node = heads_[list]; node != kNone; node = nodes_[node].next) f(nodes_[node].message);
  }

  void clear() {
    heads_.assign(heads_.size(), kNone);
    tails_.assign(tails_.size(), kNone);
    nodes_.clear();
    free_ = kNone;
  }

  void archive(Archive& a) { a(heads_, tails_, nodes_, free_); }

 private:
  struct Node {
    core::Message message;
    u32 next = kNone;
  };

  u32 allocate(const core::Message& message) {
    if (free_ == kNone) {
      nodes_.push_back({message, kNone});
      return static_cast<u32>(nodes_.size() - 1);
    }
    const u32 node = free_;
    free_ = nodes_[node].next;
    nodes_[node] = {message, kNone};
    return node;
  }

  std::vector<u32> heads_;
  std::vector<u32> tails_;
  std::vector<Node> nodes_;
  u32 free_ = kNone;
};

}  // namespace banyan::engine
