#include "banyan/switching/output_queued/fetch_adds.hpp"

#include <fmt/core.h>

#include <array>
#include <bit>

#include "banyan/base/bits.hpp"
#include "banyan/engine/terminals.hpp"

namespace banyan::switching::output_queued {
namespace {

using core::PacketId;

constexpr Stream kConflictsBack{"output_queued: conflicts on the way back"};

}  // namespace

FetchAdds::FetchAdds(engine::Builder& builder, const CombiningParameters& parameters, const Layout& layout,
                     const BoxOrder& order, u32 places)
    : traffics_(builder.traffics()),
      terminals_(builder.terminals(0)),
      pool_(terminals_.pool()),
      ways_(parameters.ways),
      wait_buffer_(parameters.wait_buffer),
      layout_(layout),
      order_(order),
      port_bits_(static_cast<u32>(std::countr_zero(layout.stride))),
      places_(places),
      permuted_(builder.settings().permuted),
      seed_(builder.settings().seed),
      waiting_(layout.queues),
      lines_(layout.queues),
      answers_(std::size_t{layout.queues} * places),
      words_(layout.terminals),
      own_(builder.settings().steady) {
  using Kind = engine::OwnMetrics::Kind;
  combined_ = own_.declare("combined_requests", "requests", Kind::total);
  done_ = own_.declare("fetch_adds", "requests", Kind::total);
  operations_ = own_.declare("memory_operations", "operations", Kind::total);
  peak_ = own_.declare("wait_buffer_peak", "requests", Kind::most);
}

void FetchAdds::reset(u32 replication) {
  requests_.assign(pool_.created(), Request{});
  waits_.reserve(pool_.created());
  free_waits_.reserve(pool_.created());
  waits_.clear();
  free_waits_.clear();
  std::fill(waiting_.begin(), waiting_.end(), Waiting{});
  std::fill(lines_.begin(), lines_.end(), Line{});
  std::fill(words_.begin(), words_.end(), Word{});
  crossings_ = returned_ = spread_ = strange_ = 0;
  random_ = Random(seed_, kConflictsBack, 0, replication);
  own_.clear();
}

void FetchAdds::taken(PacketId id) {
  if (index(id) >= requests_.size()) {
    requests_.resize(pool_.created());
    waits_.reserve(pool_.created());
    free_waits_.reserve(pool_.created());
  }
  const core::Packet& packet = pool_[id];
  const core::Traffic& traffic = *traffics_[packet.traffic];
  Request& r = of(id);
  r = {};
  r.request = traffic.fetch_adds();
  if (!r.request || !traffic.asks_shared_word(packet)) return;
  r.word = packet.destination;
  ++words_[r.word].issued;
}

void FetchAdds::wait(u32 q, PacketId into, PacketId id, u32 port) noexcept {
  pass(id, port);
  Request& stays = of(into);
  u32 node = 0;
  if (free_waits_.empty()) {
    node = static_cast<u32>(waits_.size());
    waits_.emplace_back();
  } else {
    node = free_waits_.back();
    free_waits_.pop_back();
  }
  waits_[node] = {id, q, stays.sum, stays.joined};
  stays.joined = node;
  stays.sum += of(id).sum;
  ++stays.here;
  own_.count(combined_);
  own_.raise(peak_, ++waiting_[q].count);
}

void FetchAdds::serve(PacketId id, u32 terminal) noexcept {
  Request& r = of(id);
  if (r.word != kNone) {
    Word& word = words_[r.word];
    r.value = word.value;
    word.value += r.sum;
    own_.count(operations_);
    for (u64 value = r.value; value < word.value; ++value) word.given += mix64(value);
  }
  append(layout_.ejection_base + terminal, id);
}

void FetchAdds::step(Tick now) noexcept {
  for (u32 i = 0; i < layout_.terminals; ++i) {
    const u32 t = permuted_ ? layout_.terminals - 1 - i : i;
    const u32 q = layout_.slot_of_terminal[t];
    if (lines_[q].count == 0) continue;
    ++crossings_;
    arrive(drop(q), t, now);
  }
  const std::span<const u32> boxes = order_.boxes();
  for (auto box = boxes.rbegin(); box != boxes.rend(); ++box) step_box(*box, now);
}

void FetchAdds::arrive(PacketId id, u32 terminal, Tick now) noexcept {
  const Request& r = of(id);
  ++returned_;
  if (r.word != kNone) {
    Word& word = words_[r.word];
    ++word.returned;
    word.taken += mix64(r.value);
    strange_ += r.value >= word.value ? 1U : 0U;
    own_.count(done_);
  }
  terminals_.sink.deliver_answer(pool_[id], terminal, now, 2 * r.boxes);
  pool_.release(id);
}

/// First the answers that lie in the wait buffers, then those that come from the boxes nearer to the memories: one from
/// every channel, of which as many as exceed the free places of a queue stay where they are, chosen at random.
void FetchAdds::step_box(u32 box, Tick now) noexcept {
  const u32 stride = layout_.stride;
  const u32* const target = &layout_.target[std::size_t{box} * stride];
  const u32 base = box * stride;
  std::array<u64, 64> asking{};  // [input]: outputs whose oldest answer goes back through it
  u64 inputs = 0;
  for (u32 o = 0; o < stride; ++o) {
    const u32 q = target[o];
    if (q == kNone) continue;
    if (waiting_[q].first != kNone) spread(q, base);
    if (lines_[q].count == 0) continue;
    const u32 p = static_cast<u32>(of(answer(q, 0)).back) & (stride - 1);
    asking[p] |= u64{1} << o;
    inputs |= u64{1} << p;
  }
  for (; inputs != 0; inputs &= inputs - 1) {
    const u32 p = static_cast<u32>(std::countr_zero(inputs));
    u64 group = asking[p];
    const u32 free = places_ - lines_[base + p].count;
    const u32 count = static_cast<u32>(std::popcount(group));
    Words words{};
    for (u32 k = 0; k + free < count; ++k) {
      if (k % 4 == 0) words = random_.at(base + p + static_cast<u64>(k / 4) * lines_.size(), now);
      group &= ~(u64{1} << nth_set_bit(group, below(words[k % 4], count - k)));
    }
    for (; group != 0; group &= group - 1) {
      const u32 q = target[std::countr_zero(group)];
      const PacketId id = drop(q);
      ++crossings_;
      end_waits(id, q);
      of(id).back >>= port_bits_;
      append(base + p, id);
    }
  }
}

/// Sends back the oldest answered request beside queue q for every input, if there is a place.
void FetchAdds::spread(u32 q, u32 base) noexcept {
  Waiting& waiting = waiting_[q];
  u64 used = 0;
  u32 before = kNone;
  for (u32 node = waiting.first; node != kNone;) {
    const Wait wait = waits_[node];
    Request& r = of(wait.packet);
    const u32 p = static_cast<u32>(r.back) & (layout_.stride - 1);
    const bool goes = (used >> p & 1U) == 0 && lines_[base + p].count < places_;
    used |= u64{1} << p;
    if (goes) {
      r.back >>= port_bits_;
      append(base + p, wait.packet);
      (before == kNone ? waiting.first : waits_[before].next) = wait.next;
      if (waiting.last == node) waiting.last = before;
      free_waits_.push_back(node);
      ++spread_;
      --waiting.count;
    } else {
      before = node;
    }
    node = wait.next;
  }
}

/// The requests that joined this one beside queue q have their values now.
void FetchAdds::end_waits(PacketId id, u32 q) noexcept {
  Request& r = of(id);
  while (r.joined != kNone && waits_[r.joined].queue == q) {
    const u32 node = r.joined;
    Wait& wait = waits_[node];
    r.joined = wait.next;
    Request& other = of(wait.packet);
    other.value = r.value + wait.offset;
    wait.next = kNone;
    Waiting& waiting = waiting_[q];
    (waiting.last == kNone ? waiting.first : waits_[waiting.last].next) = node;
    waiting.last = node;
  }
}

/// What lies beside a memory was written by no box.
u64 FetchAdds::buffered() const noexcept {
  u64 sum = 0;
  for (const Waiting& w : waiting_) sum += w.count;
  for (u32 q = 0; q < layout_.ejection_base; ++q) sum += lines_[q].count;
  return sum;
}

u64 FetchAdds::digest_of(PacketId id) const {
  const core::Packet& packet = pool_[id];
  const Request& r = of(id);
  Hasher h;
  h.add(packet.birth);
  h.add(static_cast<u64>(packet.source) << 32U | packet.destination);
  for (const u64 v : {u64{packet.message}, r.sum, r.value, r.back, u64{r.here}}) h.add(v);
  for (u32 node = r.joined; node != kNone; node = waits_[node].next) {
    h.add(waits_[node].queue);
    h.add(waits_[node].offset);
    h.add(digest_of(waits_[node].packet));
  }
  return h.value();
}

u64 FetchAdds::digest() const {
  u64 sum = mix64(crossings_);
  for (u32 q = 0; q < lines_.size(); ++q) {
    if (lines_[q].count == 0 && waiting_[q].count == 0) continue;
    Hasher h;
    h.add(q);
    h.add(waiting_[q].count);
    for (u32 i = 0; i < lines_[q].count; ++i) h.add(digest_of(answer(q, i)));
    for (u32 node = waiting_[q].first; node != kNone; node = waits_[node].next) h.add(digest_of(waits_[node].packet));
    sum += h.value();
  }
  for (u32 t = 0; t < words_.size(); ++t) {
    const Word& word = words_[t];
    if (word.issued == 0) continue;
    Hasher h;
    for (const u64 v : {u64{t}, word.value, word.issued, word.returned, word.given, word.taken}) h.add(v);
    sum += h.value();
  }
  return sum;
}

void FetchAdds::count_request(PacketId id, Audit& audit) const {
  const Request& r = of(id);
  ++audit.packets;
  if (r.word == kNone) return;
  ++audit.unserved[r.word];
  u64 sum = 1;
  for (u32 node = r.joined; node != kNone; node = waits_[node].next) {
    ++audit.waits;
    sum += of(waits_[node].packet).sum;
    count_request(waits_[node].packet, audit);
  }
  audit.broken_sums += sum != r.sum ? 1U : 0U;
}

void FetchAdds::count_answer(PacketId id, u64 value, Audit& audit) const {
  const Request& r = of(id);
  ++audit.packets;
  if (r.word == kNone) return;
  ++audit.served[r.word];
  audit.on_the_way[r.word] += mix64(value);
  for (u32 node = r.joined; node != kNone; node = waits_[node].next) {
    ++audit.waits;
    count_answer(waits_[node].packet, value + waits_[node].offset, audit);
  }
}

void FetchAdds::finish(Audit& audit, engine::Holdings& into) const {
  const u64 there = audit.packets;  // those that wait are no part of the queues that the caller has counted
  u64 waits = audit.waits;
  for (u32 q = 0; q < lines_.size(); ++q) {
    if (lines_[q].count > places_) {
      into.violations.push_back(
          fmt::format("queue {} of the way back holds {} answers in {} places", q, lines_[q].count, places_));
    }
    if (waiting_[q].count > wait_buffer_) {
      into.violations.push_back(
          fmt::format("{} requests wait beside queue {}, at most {} may", waiting_[q].count, q, wait_buffer_));
    }
    for (u32 i = 0; i < lines_[q].count; ++i) count_answer(answer(q, i), of(answer(q, i)).value, audit);
    for (u32 node = waiting_[q].first; node != kNone; node = waits_[node].next) {
      ++audit.waits;
      count_answer(waits_[node].packet, of(waits_[node].packet).value, audit);
    }
  }
  into.packets += audit.packets - there + waits;
  into.flits += audit.packets - there + waits;
  u64 counted = 0;
  for (const Waiting& w : waiting_) counted += w.count;
  if (counted != audit.waits || audit.waits != waits_.size() - free_waits_.size()) {
    into.violations.push_back(fmt::format("{} requests wait for an answer, {} are counted", audit.waits, counted));
  }
  if (audit.broken_sums != 0) {
    into.violations.push_back(
        fmt::format("{} combined requests add another sum than those that joined them", audit.broken_sums));
  }
  if (strange_ != 0) into.violations.push_back(fmt::format("{} answers have a value that no word had", strange_));
  for (u32 t = 0; t < words_.size(); ++t) {
    const Word& word = words_[t];
    if (word.issued != word.value + audit.unserved[t] || word.value != word.returned + audit.served[t]) {
      into.violations.push_back(fmt::format(
          "the word at terminal {} is {} after {} fetch-and-adds of which {} have not reached it; {} values came back "
          "and {} are on the way",
          t, word.value, word.issued, audit.unserved[t], word.returned, audit.served[t]));
    }
    if (word.given != word.taken + audit.on_the_way[t]) {
      into.violations.push_back(fmt::format("two fetch-and-adds of the word at terminal {} got the same value", t));
    }
  }
}

}  // namespace banyan::switching::output_queued
