#include "banyan/switching/vc_router/allocator.hpp"

#include <algorithm>

namespace banyan::switching::parts {

Arbiters::Arbiters(ArbiterKind kind, std::size_t count, u32 size)
    : kind_(kind), size_(size), next_(count), won_(kind == ArbiterKind::matrix ? count * size : 0) {}

void Arbiters::reset() {
  std::fill(next_.begin(), next_.end(), 0);
  std::fill(won_.begin(), won_.end(), 0);
}

void Arbiters::won(std::size_t arbiter, u32 requester) noexcept {
  if (kind_ == ArbiterKind::matrix) {
    won_[arbiter * size_ + requester] = ++next_[arbiter];
  } else {
    next_[arbiter] = requester + 1 == size_ ? 0 : requester + 1;
  }
}

Allocator::Allocator(const Setup& setup, u32 instances)
    : setup_(setup),
      input_arbiters_(setup.arbiter, std::size_t{instances} * setup.inputs, setup.outputs),
      output_arbiters_(setup.arbiter, std::size_t{instances} * setup.outputs, setup.inputs),
      turn_(instances),
      of_input_(setup.inputs, kNone),
      of_output_(setup.outputs, kNone),
      of_first_(std::max(setup.inputs, setup.outputs)),
      of_second_(of_first_.size()),
      visited_(setup.outputs),
      wanted_(setup.outputs) {}

void Allocator::reset(const Random& random) {
  random_ = random;
  input_arbiters_.reset();
  output_arbiters_.reset();
  std::fill(turn_.begin(), turn_.end(), 0);
  begin(0);
}

void Allocator::begin(u32 instance, u32 owner, u64 step) noexcept {
  instance_ = instance;
  owner_ = owner;
  step_ = step;
  for (const Request& r : requests_) of_input_[r.input] = of_output_[r.output] = kNone;
  requests_.clear();
}

void Allocator::request(u32 input, u32 output, u64 key) { requests_.push_back({input, output, key}); }

void Allocator::allocate() noexcept {
  if (requests_.empty()) return;
  switch (setup_.kind) {
    case AllocatorKind::wavefront:
      return wavefront();
    case AllocatorKind::max_size:
      return max_size();
    case AllocatorKind::lonely:
      return lonely();
    default:
      break;
  }
  for (u32 i = 0; i < setup_.iterations; ++i) {
    if (!iterate(i)) return;
  }
}

Arbiters::Rank Allocator::drawn(const Request& r, u32 round, bool second) const noexcept {
  const u64 address = u64{owner_} << 32U | u64{round} << 2 * kIndexBits;
  if (setup_.kind == AllocatorKind::pim) {
    const Words words = random_.at(address | u64{r.input} << kIndexBits | r.output, step_);
    return {u64{words[second ? 2 : 0]} << 32U | words[second ? 3 : 1], 0};
  }
  const u32 chooser = second ? r.input : r.output;
  const u32 other = second ? r.output : r.input;
  const u32 places = ((second ? setup_.outputs : setup_.inputs) >> setup_.shift) * setup_.lanes;
  const u32 place = (other >> setup_.shift) * setup_.lanes + (other & ((1U << setup_.shift) - 1));
  const u32 first = below(random_.at(address | u64{second} << kIndexBits | chooser, step_)[0], places);
  return {(place + places - first) % places, 0};
}

/// One round of a separable allocator among those that have no partner yet. Arbiters move on when both sides agreed,
/// in the first round only (McKeown 1999, section II-B: otherwise a requester may starve); those of pim have no state.
/// Returns whether there was a match.
bool Allocator::iterate(u32 round) noexcept {
  const bool draws = setup_.kind == AllocatorKind::pim || setup_.kind == AllocatorKind::pim_offset;
  const bool input_first = setup_.kind == AllocatorKind::input_first;
  const auto first = [&](const Request& r) { return input_first ? r.input : r.output; };
  const auto second = [&](const Request& r) { return input_first ? r.output : r.input; };
  const Arbiters& first_arbiters = input_first ? input_arbiters_ : output_arbiters_;
  const Arbiters& second_arbiters = input_first ? output_arbiters_ : input_arbiters_;
  const std::size_t first_base = std::size_t{instance_} * (input_first ? setup_.inputs : setup_.outputs);
  const std::size_t second_base = std::size_t{instance_} * (input_first ? setup_.outputs : setup_.inputs);
  for (const Request& r : requests_) of_first_[first(r)].partner = of_second_[second(r)].partner = kNone;
  for (const Request& r : requests_) {
    if (!open(r)) continue;
    Choice& choice = of_first_[first(r)];
    const Arbiters::Rank rank =
        draws ? drawn(r, round, false) : first_arbiters.rank(first_base + first(r), second(r), r.key);
    if (choice.partner == kNone || rank < choice.rank) choice = {rank, second(r)};
  }
  for (const Request& r : requests_) {
    if (!open(r) || of_first_[first(r)].partner != second(r)) continue;
    Choice& choice = of_second_[second(r)];
    const Arbiters::Rank rank =
        draws ? drawn(r, round, true) : second_arbiters.rank(second_base + second(r), first(r), r.key);
    if (choice.partner == kNone || rank < choice.rank) choice = {rank, first(r)};
  }
  bool any = false;
  for (const Request& r : requests_) {
    if (!open(r) || of_second_[second(r)].partner != first(r)) continue;
    any = true;
    match(r.input, r.output);
    if (round != 0 || draws) continue;
    input_arbiters_.won(std::size_t{instance_} * setup_.inputs + r.input, r.output);
    output_arbiters_.won(std::size_t{instance_} * setup_.outputs + r.output, r.input);
  }
  return any;
}

void Allocator::wavefront() noexcept {
  const u32 size = std::max(setup_.inputs, setup_.outputs);
  u32& turn = turn_[instance_];
  const auto diagonal = [&](const Request& r) { return (r.input + r.output + size - turn) % size; };
  std::sort(requests_.begin(), requests_.end(), [&](const Request& a, const Request& b) {
    return diagonal(a) != diagonal(b) ? diagonal(a) < diagonal(b) : a.output < b.output;
  });
  for (const Request& r : requests_) {
    if (open(r)) match(r.input, r.output);
  }
  turn = turn + 1 == size ? 0 : turn + 1;
}

/// Augmenting paths from the inputs, beginning with another one every time.
void Allocator::max_size() noexcept {
  u32& turn = turn_[instance_];
  std::sort(requests_.begin(), requests_.end(), [](const Request& a, const Request& b) {
    return a.input != b.input ? a.input < b.input : a.output < b.output;
  });
  for (u32 k = 0; k < setup_.inputs; ++k) {
    std::fill(visited_.begin(), visited_.end(), 0);
    augment(turn + k < setup_.inputs ? turn + k : turn + k - setup_.inputs);
  }
  turn = turn + 1 == setup_.inputs ? 0 : turn + 1;
}

/// Inputs look at the outputs in turn, from one place further after every match, and so do outputs at the inputs.
void Allocator::lonely() noexcept {
  for (const Request& r : requests_) {
    wanted_[r.output] = 0;
    of_first_[r.input].partner = of_second_[r.output].partner = kNone;
  }
  for (const Request& r : requests_) ++wanted_[r.output];
  for (const Request& r : requests_) {
    Choice& choice = of_first_[r.input];
    const Arbiters::Rank in_turn = input_arbiters_.rank(std::size_t{instance_} * setup_.inputs + r.input, r.output, 0);
    const Arbiters::Rank rank{wanted_[r.output], in_turn.first};
    if (choice.partner == kNone || rank < choice.rank) choice = {rank, r.output};
  }
  for (const Request& r : requests_) {
    if (of_first_[r.input].partner != r.output) continue;
    Choice& choice = of_second_[r.output];
    const Arbiters::Rank rank = output_arbiters_.rank(std::size_t{instance_} * setup_.outputs + r.output, r.input, 0);
    if (choice.partner == kNone || rank < choice.rank) choice = {rank, r.input};
  }
  for (const Request& r : requests_) {
    if (of_second_[r.output].partner != r.input || !open(r)) continue;
    match(r.input, r.output);
    input_arbiters_.turn(std::size_t{instance_} * setup_.inputs + r.input);
    output_arbiters_.turn(std::size_t{instance_} * setup_.outputs + r.output);
  }
}

bool Allocator::augment(u32 input) noexcept {  // NOLINT(misc-no-recursion): as deep as there are outputs
  const auto begin =
      std::lower_bound(requests_.begin(), requests_.end(), input, [](const Request& r, u32 i) { return r.input < i; });
  for (auto r = begin; r != requests_.end() && r->input == input; ++r) {
    if (visited_[r->output] != 0) continue;
    visited_[r->output] = 1;
    if (of_output_[r->output] != kNone && !augment(of_output_[r->output])) continue;
    match(input, r->output);
    return true;
  }
  return false;
}

}  // namespace banyan::switching::parts
