// Messages that wait for a receive, or receives that wait for a message: of each rank in the order in which they came.
// The first that fits is taken, in constant time unless wildcards force a look along the queue.
#pragma once

#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/workload/schedule.hpp"

namespace banyan::workload {

template <class Value>
class MatchQueue {
 public:
  explicit MatchQueue(u32 ranks) : first_(ranks, kNone), last_(ranks, kNone), wild_(ranks, 0), table_(64, kNone) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// `peer` and `tag` may be wildcards.
  void push(u32 rank, u32 peer, u32 tag, const Value& value) {
    const u32 node = allocate();
    nodes_[node] = {{rank, peer, tag}, last_[rank], kNone, kNone, kNone, node, next_number_++, value};
    if (last_[rank] == kNone) {
      first_[rank] = node;
    } else {
      nodes_[last_[rank]].next_of_rank = node;
    }
    last_[rank] = node;
    if (is_wild(nodes_[node].key)) ++wild_[rank];
    insert(node);
    if (++size_ > table_.size()) grow();
  }

  /// Takes the first of `rank` that fits; both sides may have wildcards. False: none does.
  bool take(u32 rank, u32 peer, u32 tag, Value& out) {
    if (first_[rank] == kNone) return false;
    u32 found = kNone;
    if (peer == kAnyPeer || tag == kAnyTag) {
      for (found = first_[rank]; found != kNone && !fits(nodes_[found].key, peer, tag);)
        found = nodes_[found].next_of_rank;
    } else {
      found = head_of({rank, peer, tag});
      if (wild_[rank] != 0) {
        for (const Key& key : {Key{rank, kAnyPeer, tag}, Key{rank, peer, kAnyTag}, Key{rank, kAnyPeer, kAnyTag}}) {
          const u32 other = head_of(key);
          if (other != kNone && (found == kNone || nodes_[other].number < nodes_[found].number)) found = other;
        }
      }
    }
    if (found == kNone) return false;
    out = nodes_[found].value;
    remove(found);
    return true;
  }

  /// Calls f(peer, tag, value) for all that wait at a rank, in order.
  template <class F>
  void for_each(u32 rank, F&& f) const {
    for (u32 node = first_[rank]; node != kNone; node = nodes_[node].next_of_rank)
      f(nodes_[node].key.peer, nodes_[node].key.tag, nodes_[node].value);
  }

  void archive(Archive& a) { a(first_, last_, wild_, table_, nodes_, free_, next_number_, size_); }

 private:
  struct Key {
    u32 rank = 0;
    u32 peer = 0;
    u32 tag = 0;
    bool operator==(const Key&) const = default;
  };
  /// One that waits. Those of one key hang behind the first of them, and only that is in the table.
  struct Node {
    Key key;
    u32 previous_of_rank = kNone;
    u32 next_of_rank = kNone;
    u32 next_in_table = kNone;
    u32 next_of_key = kNone;
    u32 last_of_key = kNone;  ///< of the first of a key
    u64 number = 0;
    Value value{};
  };

  [[nodiscard]] static bool is_wild(const Key& key) { return key.peer == kAnyPeer || key.tag == kAnyTag; }
  [[nodiscard]] static bool fits(const Key& key, u32 peer, u32 tag) {
    return (peer == kAnyPeer || key.peer == kAnyPeer || key.peer == peer) &&
           (tag == kAnyTag || key.tag == kAnyTag || key.tag == tag);
  }
  /// Peers that follow each other lie beside each other: a rank posts its receives in such an order, mostly.
  [[nodiscard]] u32& bucket(const Key& key) noexcept {
    return table_[(mix64(u64{key.rank} << 32U | key.tag) + key.peer) & (table_.size() - 1)];
  }
  [[nodiscard]] u32 head_of(const Key& key) noexcept {
    u32 node = bucket(key);
    while (node != kNone && !(nodes_[node].key == key)) node = nodes_[node].next_in_table;
    return node;
  }
  void insert(u32 node) {
    const u32 head = head_of(nodes_[node].key);
    if (head == kNone) {
      u32& first = bucket(nodes_[node].key);
      nodes_[node].next_in_table = first;
      first = node;
    } else {
      nodes_[nodes_[head].last_of_key].next_of_key = node;
      nodes_[head].last_of_key = node;
    }
  }
  /// Only the first of a key is ever taken.
  void remove(u32 node) {
    Node& gone = nodes_[node];
    u32* link = &bucket(gone.key);
    while (*link != node) link = &nodes_[*link].next_in_table;
    if (gone.next_of_key == kNone) {
      *link = gone.next_in_table;
    } else {
      *link = gone.next_of_key;
      nodes_[gone.next_of_key].next_in_table = gone.next_in_table;
      nodes_[gone.next_of_key].last_of_key = gone.last_of_key;
    }
    (gone.previous_of_rank == kNone ? first_[gone.key.rank] : nodes_[gone.previous_of_rank].next_of_rank) =
        gone.next_of_rank;
    (gone.next_of_rank == kNone ? last_[gone.key.rank] : nodes_[gone.next_of_rank].previous_of_rank) =
        gone.previous_of_rank;
    if (is_wild(gone.key)) --wild_[gone.key.rank];
    gone.next_of_rank = free_;
    free_ = node;
    --size_;
  }
  [[nodiscard]] u32 allocate() {
    if (free_ == kNone) {
      nodes_.emplace_back();
      return static_cast<u32>(nodes_.size() - 1);
    }
    const u32 node = free_;
    free_ = nodes_[node].next_of_rank;
    return node;
  }
  void grow() {
    PageVector<u32> before(table_.size() * 2, kNone);
    before.swap(table_);
    for (u32 head : before) {
      while (head != kNone) {
        const u32 next = nodes_[head].next_in_table;
        u32& first = bucket(nodes_[head].key);
        nodes_[head].next_in_table = first;
        first = head;
        head = next;
      }
    }
  }

  std::vector<u32> first_;  ///< [rank]
  std::vector<u32> last_;   ///< [rank]
  std::vector<u32> wild_;   ///< [rank], how many have wildcards
  PageVector<u32> table_;   ///< of a power of two; looked at anywhere, as the nodes are
  PageVector<Node> nodes_;
  u32 free_ = kNone;
  u64 next_number_ = 0;
  std::size_t size_ = 0;
};

}  // namespace banyan::workload
