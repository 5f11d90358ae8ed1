#include "banyan/engine/guests.hpp"

#include <algorithm>

#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::engine {

std::size_t Guests::home(core::PacketId theirs) const noexcept { return mix64(theirs) & (table_.size() - 1); }

std::size_t Guests::find(core::PacketId theirs) const noexcept {
  std::size_t i = home(theirs);
  while (table_[i] != 0 && of_[table_[i] - 1].theirs != theirs) i = (i + 1) & (table_.size() - 1);
  return i;
}

core::PacketId Guests::enter(core::PacketId theirs, const core::Packet& record, u16 value) {
  std::size_t at = find(theirs);
  if (table_[at] == 0) {
    if ((count_ + 1) * 3 > table_.size() * 2) {
      grow();
      at = find(theirs);
    }
    const core::PacketId id = pool_.allocate();
    const u32 place = pool_.place(id);
    if (of_.size() <= place) of_.resize(pool_.created());
    of_[place] = {theirs, 0};
    table_[at] = place + 1;
    ++count_;
  }
  const u32 place = table_[at] - 1;
  ++of_[place].heads;
  const core::PacketId id = pool_.at(place);
  pool_.copy(id, record, value);
  return id;
}

core::PacketId Guests::ours(core::PacketId theirs) const {
  const u32 entry = table_[find(theirs)];
  if (entry == 0) throw InvariantError("a flit came from another rank before its packet's head");
  return pool_.at(entry - 1);
}

void Guests::leave(core::PacketId ours) {
  if (--of_[pool_.place(ours)].heads == 0) forget(ours);
}

/// Closes the gap that the entry leaves: others behind it are looked for from their homes on.
void Guests::forget(core::PacketId ours) {
  const std::size_t mask = table_.size() - 1;
  std::size_t gap = find(of_[pool_.place(ours)].theirs);
  for (std::size_t i = (gap + 1) & mask; table_[i] != 0; i = (i + 1) & mask) {
    const std::size_t from = home(of_[table_[i] - 1].theirs);
    if (((i - from) & mask) < ((i - gap) & mask)) continue;  // its home lies behind the gap
    table_[gap] = table_[i];
    gap = i;
  }
  table_[gap] = 0;
  --count_;
  pool_.release(ours);
}

void Guests::clear() {
  std::fill(table_.begin(), table_.end(), 0);
  count_ = 0;
  pool_.clear();
}

void Guests::grow() {
  std::vector<u32> old(table_.size() * 2, 0);
  old.swap(table_);
  for (const u32 entry : old) {
    if (entry != 0) table_[find(of_[entry - 1].theirs)] = entry;
  }
}

void Guests::archive(Archive& a) {
  a(pool_, of_, table_);
  u64 count = count_;
  a(count);
  count_ = count;
}

}  // namespace banyan::engine
