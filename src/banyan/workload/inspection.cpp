#include "banyan/workload/inspection.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::workload {
namespace {

template <class F>
void for_each_operation(const Program& program, F&& f) {
  for (u32 r = 0; r < program.ranks(); ++r) {
    for (u32 i = 0; i < program.operations(r); ++i) {
      program.passes(r, i);
      f(r, i, program.operation(r, i));
    }
  }
}

struct ChannelKey {
  u32 from = 0;
  u32 to = 0;
  u32 tag = 0;
  bool operator==(const ChannelKey&) const = default;
};
struct HashOfKey {
  std::size_t operator()(const ChannelKey& k) const noexcept {
    return mix64((u64{k.from} << 32U | k.to) ^ mix64(k.tag + 1));
  }
};

/// Sends and receives of one rank that no counterpart was found for, by (peer, tag).
struct Leftover {
  std::map<std::pair<u32, u32>, u64> sends;     ///< to this rank: (from, tag)
  std::map<std::pair<u32, u32>, u64> receives;  ///< (from, tag), wildcards included
};

/// Gives the sends that exact receives left to the receives with wildcards; the more general ones come last.
void match_wildcards(Leftover& left) {
  for (const int generality : {1, 2}) {
    for (auto& [want, count] : left.receives) {
      const bool any_peer = want.first == kAnyPeer;
      const bool any_tag = want.second == kAnyTag;
      if (int{any_peer} + int{any_tag} != generality) continue;
      for (auto send = left.sends.begin(); send != left.sends.end() && count != 0;) {
        const bool fits =
            (any_peer || send->first.first == want.first) && (any_tag || send->first.second == want.second);
        if (fits) {
          const u64 matched = std::min(count, send->second);
          count -= matched;
          send->second -= matched;
        }
        send = send->second == 0 ? left.sends.erase(send) : std::next(send);
      }
    }
  }
}

/// Whether another choice among wildcards might have left less.
bool is_ambiguous(const Leftover& left) {
  if (left.sends.empty()) return false;
  bool of_peer = false;
  bool of_tag = false;
  bool open = false;
  for (const auto& [want, count] : left.receives) {
    if ((want.first == kAnyPeer) != (want.second == kAnyTag)) (want.first == kAnyPeer ? of_tag : of_peer) = true;
    open = open || count != 0;
  }
  return of_peer && of_tag && open;
}

/// Sums of hashes that are equal where every send has its exact receive.
bool all_match_exactly(const Program& program) {
  u64 sum = 0;
  bool wild = false;
  for_each_operation(program, [&](u32 rank, u32, const Operation& o) {
    if (o.kind == OperationKind::calculate) return;
    const bool send = o.kind == OperationKind::send;
    wild = wild || o.peer == kAnyPeer || o.tag == kAnyTag;
    const u64 hash = HashOfKey{}({send ? rank : o.peer, send ? o.peer : rank, o.tag});
    sum += send ? mix64(hash + 1) : -mix64(hash + 1);
  });
  return !wild && sum == 0;
}

}  // namespace

Contents contents_of(const Program& program) {
  Contents contents;
  for_each_operation(program, [&](u32 r, u32 i, const Operation& o) {
    ++contents.operations[static_cast<std::size_t>(o.kind)];
    contents.dependencies += program.waits_for(r, i);
    if (o.kind == OperationKind::calculate) {
      contents.calculated += o.amount;
      return;
    }
    (o.kind == OperationKind::send ? contents.bytes : contents.received) += o.amount;
    if (o.kind == OperationKind::send) contents.longest = std::max(contents.longest, o.amount);
  });
  return contents;
}

std::vector<Unmatched> unmatched_of(const Program& program) {
  if (all_match_exactly(program)) return {};
  std::unordered_map<ChannelKey, i64, HashOfKey> balance;  // sends less exact receives
  std::map<u32, Leftover> left;                            // by the receiving rank
  for_each_operation(program, [&](u32 rank, u32, const Operation& o) {
    if (o.kind == OperationKind::send) {
      ++balance[{rank, o.peer, o.tag}];
    } else if (o.kind == OperationKind::receive) {
      if (o.peer == kAnyPeer || o.tag == kAnyTag) {
        ++left[rank].receives[{o.peer, o.tag}];
      } else {
        --balance[{o.peer, rank, o.tag}];
      }
    }
  });
  for (const auto& [key, count] : balance) {
    if (count > 0) left[key.to].sends[{key.from, key.tag}] += static_cast<u64>(count);
    if (count < 0) left[key.to].receives[{key.from, key.tag}] += static_cast<u64>(-count);
  }
  std::vector<Unmatched> all;
  for (auto& [rank, of_rank] : left) {
    // A send of any tag fits every receive; what is left then is told by the run.
    const auto sends_any_tag = [](const auto& send) { return send.first.second == kAnyTag; };
    if (std::ranges::any_of(of_rank.sends, sends_any_tag)) continue;
    match_wildcards(of_rank);
    if (is_ambiguous(of_rank)) continue;
    for (const auto& [want, count] : of_rank.receives) {
      if (count != 0) all.push_back({false, rank, want.first, want.second, count});
    }
    for (const auto& [send, count] : of_rank.sends) all.push_back({true, send.first, rank, send.second, count});
  }
  std::ranges::sort(all, {}, [](const Unmatched& u) { return std::tuple(u.rank, u.peer, u.tag, u.send); });
  return all;
}

Exchange exchange_of(const Program& program, std::size_t most) {
  Exchange exchange;
  for (u32 r = 0; r < program.ranks(); ++r) {
    std::unordered_map<u32, Pair> to;
    std::map<std::pair<u64, u32>, u64, std::greater<>> sizes;  // the largest of this rank
    for (u32 i = 0; i < program.operations(r); ++i) {
      program.passes(r, i);
      const Operation o = program.operation(r, i);
      if (o.kind != OperationKind::send) continue;
      Pair& pair = to[o.peer];
      pair = {r, o.peer, pair.messages + 1, pair.bytes + o.amount};
      ++sizes[{o.amount, o.peer}];
      if (sizes.size() > most) sizes.erase(std::prev(sizes.end()));
    }
    exchange.pairs += to.size();
    for (const auto& [peer, pair] : to) exchange.busiest.push_back(pair);
    for (const auto& [size, count] : sizes) exchange.largest.push_back({size.first, r, size.second, count});
    const auto shorten = [&](auto& list, auto&& key) {
      std::ranges::sort(list, {}, key);
      if (list.size() > most) list.resize(most);
    };
    shorten(exchange.busiest, [](const Pair& p) { return std::tuple(~p.bytes, ~p.messages, p.from, p.to); });
    shorten(exchange.largest, [](const LargeMessage& m) { return std::tuple(~m.bytes, m.from, m.to); });
  }
  return exchange;
}

std::string to_text(const Program& program, Place place) {
  const Operation o = program.operation(place.rank, place.operation);
  const auto wild = [](u32 value) { return value == kNone ? std::string("any") : std::to_string(value); };
  std::string what;
  switch (o.kind) {
    case OperationKind::calculate:
      what = fmt::format("calc {}", o.amount);
      break;
    case OperationKind::send:
      what = fmt::format("send {}b to {} tag {}", o.amount, o.peer, wild(o.tag));
      break;
    case OperationKind::receive:
      what = fmt::format("recv {}b from {} tag {}", o.amount, wild(o.peer), wild(o.tag));
      break;
  }
  return fmt::format("rank {}, operation {} ({})", place.rank, place.operation, what);
}

std::string to_text(const Unmatched& u) {
  return fmt::format("rank {} {} {} with {}: {} without counterpart", u.rank, u.send ? "sends to" : "receives from",
                     u.peer == kNone ? std::string("any rank") : fmt::format("rank {}", u.peer),
                     u.tag == kNone ? std::string("any tag") : fmt::format("tag {}", u.tag), u.count);
}

std::string short_receives_text(const Program& program, const Untimed& untimed) {
  if (untimed.shorter == 0) return {};
  return fmt::format("{} receive{} shorter than the message that {} meet{}, the first: {} of {}; all of it is received",
                     untimed.shorter, untimed.shorter == 1 ? " is" : "s are", untimed.shorter == 1 ? "it" : "they",
                     untimed.shorter == 1 ? "s" : "", to_text(program, untimed.short_receive.second),
                     to_text(program, untimed.short_receive.first));
}

Untimed require_sound(const Program& program, u64 eager) {
  constexpr std::size_t kShown = 8;
  const std::vector<Unmatched> unmatched = unmatched_of(program);
  if (!unmatched.empty()) {
    std::string list;
    for (std::size_t i = 0; i < std::min(kShown, unmatched.size()); ++i)
      list += (i == 0 ? "" : "; ") + to_text(unmatched[i]);
    if (unmatched.size() > kShown) list += fmt::format("; and {} more", unmatched.size() - kShown);
    throw ConfigError({program.path(), 0, 0, ""}, "sends and receives do not match: " + list,
                      "give each send a receive of the same tag at its peer (banyan workload info lists all)");
  }
  Untimed untimed = run_untimed(program, false);
  const bool all_eager = untimed.done != program.operations() || contents_of(program).longest <= eager;
  if (!all_eager) {
    if (Untimed asking = run_untimed(program, false, eager); !asking.open) untimed = std::move(asking);
  }
  if (untimed.open || (untimed.cycle.empty() && untimed.stuck.empty())) return untimed;
  const std::vector<Place>& shown = untimed.cycle.empty() ? untimed.stuck : untimed.cycle;
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, shown.size()); ++i)
    list += (i == 0 ? "" : ", ") + to_text(program, shown[i]);
  if (shown.size() > kShown) list += fmt::format(", and {} more", shown.size() - kShown);
  if (untimed.cycle.empty()) {
    throw ConfigError({program.path(), 0, 0, ""}, "operations wait for messages that never come: " + list,
                      "give each receive a send (banyan workload info lists what is known)");
  }
  throw ConfigError({program.path(), 0, 0, ""}, "a cycle of dependencies, each waits for the next: " + list,
                    all_eager ? "take one of these dependencies away"
                              : "give a larger host.eager, so that sends do not wait for their receives, or take one "
                                "of these dependencies away");
}

}  // namespace banyan::workload
