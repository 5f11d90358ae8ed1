#include "banyan/stats/packed_congestion.hpp"

#include <zlib.h>

#include <cmath>
#include <stdexcept>

#include "banyan/base/blob.hpp"

namespace banyan::stats {
namespace {

constexpr std::string_view kLetters = "BCT1";
constexpr double kShares = 1e6;            ///< a threshold is kept in so many parts
constexpr u64 kMostExpansion = 1032;       ///< of zlib: what claims more is damaged
constexpr u64 kMostBytes = u64{1} << 32U;  ///< of what is compressed: more is no record

/// "None" is a small number too.
u64 maybe(u32 value) { return value == kNone ? 0 : u64{value} + 1; }

u32 small(BlobReader& blob) {
  const u64 value = blob.natural();
  if (value > kNone) throw std::out_of_range("a number of more than 32 bits");
  return static_cast<u32>(value);
}
u32 maybe(BlobReader& blob) {
  const u64 value = blob.natural();
  return value == 0 ? kNone : static_cast<u32>(value - 1);
}

/// A list of at most as many as there are bytes left to describe them.
template <class Read>
void read_list(BlobReader& blob, Read&& read) {
  const u64 count = blob.natural();
  for (u64 i = 0; i < count; ++i) read();
}

void add_flows(BlobWriter& blob, const std::vector<CongestionFlow>& flows) {
  blob.add(u64{flows.size()});
  for (const CongestionFlow& f : flows) {
    for (const u32 v : {f.source, f.destination, f.packets}) blob.add(u64{v});
  }
}

void read_flows(BlobReader& blob, std::vector<CongestionFlow>& flows) {
  read_list(blob, [&] {
    CongestionFlow f;
    f.source = small(blob);
    f.destination = small(blob);
    f.packets = small(blob);
    flows.push_back(f);
  });
}

void add_tree(BlobWriter& blob, const CongestionTree& t) {
  for (const u32 v : {t.id, t.root, t.depth, t.leaves, t.switches, t.sources, t.packets, t.flows, t.victims,
                      t.victim_flows, t.idle_ports}) {
    blob.add(u64{v});
  }
  blob.add(u64{t.members.size()});
  // Members are in the order of depth, then of place: steps are small within a depth.
  u32 depth = 0;
  u32 place = 0;
  for (const CongestionMember& m : t.members) {
    blob.add(u64{m.depth - depth});
    if (m.depth != depth) place = 0;
    blob.add(u64{m.place - place});
    blob.add(u64{m.victims});
    depth = m.depth;
    place = m.place;
  }
  blob.add(u64{t.per_stage.size()});
  for (const u32 v : t.per_stage) blob.add(u64{v});
  add_flows(blob, t.most_flows);
  add_flows(blob, t.most_victims);
}

CongestionTree read_tree(BlobReader& blob) {
  CongestionTree t;
  for (u32* v : {&t.id, &t.root, &t.depth, &t.leaves, &t.switches, &t.sources, &t.packets, &t.flows, &t.victims,
                 &t.victim_flows, &t.idle_ports}) {
    *v = small(blob);
  }
  CongestionMember m;
  read_list(blob, [&] {
    const u32 deeper = small(blob);
    if (deeper != 0) m.place = 0;
    m.depth += deeper;
    m.place += small(blob);
    m.victims = small(blob);
    t.members.push_back(m);
  });
  read_list(blob, [&] { t.per_stage.push_back(small(blob)); });
  read_flows(blob, t.most_flows);
  read_flows(blob, t.most_victims);
  return t;
}

void add_sample(BlobWriter& blob, const CongestionSample& s, u64 before) {
  for (const u64 v : {s.at - before, s.delivered_flits, s.delivered_packets, s.latency}) blob.add(v);
  blob.add(u64{s.trees.size()});
  for (const CongestionTree& tree : s.trees) add_tree(blob, tree);
  blob.add(u64{s.queues.size()});
  for (const CongestionQueue& q : s.queues) {
    blob.add(u64{q.place});
    blob.add(maybe(q.root));
    blob.add(u64{q.used});
  }
}

CongestionSample read_sample(BlobReader& blob, u64 before) {
  CongestionSample s;
  s.at = before + blob.natural();
  s.delivered_flits = blob.natural();
  s.delivered_packets = blob.natural();
  s.latency = blob.natural();
  read_list(blob, [&] { s.trees.push_back(read_tree(blob)); });
  read_list(blob, [&] {
    CongestionQueue q;
    q.place = small(blob);
    q.root = maybe(blob);
    q.used = small(blob);
    s.queues.push_back(q);
  });
  return s;
}

/// Bytes of every sample as differences to those of the sample before.
template <class Get>
void add_changes(BlobWriter& blob, const CongestionRecord& record, Get get) {
  std::vector<u8> before;
  for (const CongestionSample& s : record.samples) {
    const std::vector<u8>& now = get(s);
    before.resize(now.size());
    std::string changes(now.size(), '\0');
    for (std::size_t i = 0; i < now.size(); ++i) changes[i] = static_cast<char>(now[i] - before[i]);
    blob.add(u64{now.size()});
    blob.add_bytes(changes);
    before = now;
  }
}

template <class Get>
void read_changes(BlobReader& blob, CongestionRecord& record, Get get) {
  std::vector<u8> before;
  for (CongestionSample& s : record.samples) {
    const std::string_view changes = blob.bytes(blob.natural());
    before.resize(changes.size());
    for (std::size_t i = 0; i < changes.size(); ++i) {
      before[i] = static_cast<u8>(before[i] + static_cast<u8>(changes[i]));
    }
    get(s) = before;
  }
}

std::string compress(const std::string& plain) {
  uLongf size = compressBound(static_cast<uLong>(plain.size()));
  std::string packed(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(plain.data()), static_cast<uLong>(plain.size()), 6);
  if (status != Z_OK) throw std::bad_alloc();
  packed.resize(size);
  return packed;
}

std::string expand(std::string_view packed, u64 size) {
  if (size > kMostBytes || size > packed.size() * kMostExpansion + kMostExpansion)
    throw std::out_of_range("a record of no size");
  std::string plain(size, '\0');
  uLongf length = static_cast<uLongf>(size);
  const int status = uncompress(reinterpret_cast<Bytef*>(plain.data()), &length,
                                reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  if (status != Z_OK || length != size) throw std::out_of_range("trees that do not expand");
  return plain;
}

}  // namespace

std::string to_bytes(const CongestionRecord& record) {
  BlobWriter blob;
  blob.add(record.interval);
  blob.add(static_cast<u64>(std::llround(record.threshold * kShares)));
  blob.add(u64{record.places.size()});
  for (const CongestionPlace& p : record.places) {
    for (const u32 v : {u32{p.kind}, p.index, p.lane, p.capacity}) blob.add(u64{v});
  }
  blob.add(u64{record.samples.size()});
  u64 before = 0;
  for (const CongestionSample& s : record.samples) {
    add_sample(blob, s, before);
    before = s.at;
  }
  add_changes(blob, record, [](const CongestionSample& s) -> const std::vector<u8>& { return s.fill; });
  add_changes(blob, record, [](const CongestionSample& s) -> const std::vector<u8>& { return s.use; });
  blob.add(u64{record.events.size()});
  for (const CongestionEvent& e : record.events) {
    blob.add(e.at);
    for (const u32 v : {static_cast<u32>(e.kind), e.tree, e.other, e.root, e.old_root, e.members, e.depth}) {
      blob.add(u64{v});
    }
  }
  blob.add(u64{record.waits.size()});
  for (const CongestionWait& w : record.waits) {
    for (const u32 v : {w.source, w.destination, u32{w.why}}) blob.add(u64{v});
    for (const u32 v : {w.behind_source, w.behind_destination, w.root}) blob.add(maybe(v));
    blob.add(w.samples);
  }
  BlobWriter size;
  size.add(u64{blob.bytes().size()});
  return std::string(kLetters) + size.bytes() + compress(blob.bytes());
}

CongestionRecord congestion_from(std::string_view bytes) {
  if (!bytes.starts_with(kLetters)) throw std::out_of_range("no congestion trees");
  BlobReader outer(bytes.substr(kLetters.size()));
  const u64 size = outer.natural();
  const std::string plain = expand(outer.rest(), size);
  BlobReader blob(plain);
  CongestionRecord record;
  record.interval = blob.natural();
  record.threshold = static_cast<double>(blob.natural()) / kShares;
  read_list(blob, [&] {
    CongestionPlace p;
    p.kind = static_cast<u8>(small(blob));
    p.index = small(blob);
    p.lane = small(blob);
    p.capacity = small(blob);
    record.places.push_back(p);
  });
  u64 before = 0;
  read_list(blob, [&] {
    record.samples.push_back(read_sample(blob, before));
    before = record.samples.back().at;
  });
  read_changes(blob, record, [](CongestionSample& s) -> std::vector<u8>& { return s.fill; });
  read_changes(blob, record, [](CongestionSample& s) -> std::vector<u8>& { return s.use; });
  read_list(blob, [&] {
    CongestionEvent e;
    e.at = blob.natural();
    const u32 kind = small(blob);
    if (kind >= kCongestionEventNames.size()) throw std::out_of_range("an unknown event");
    e.kind = static_cast<CongestionEventKind>(kind);
    for (u32* v : {&e.tree, &e.other, &e.root, &e.old_root, &e.members, &e.depth}) *v = small(blob);
    record.events.push_back(e);
  });
  read_list(blob, [&] {
    CongestionWait w;
    w.source = small(blob);
    w.destination = small(blob);
    w.why = static_cast<u8>(small(blob));
    w.behind_source = maybe(blob);
    w.behind_destination = maybe(blob);
    w.root = maybe(blob);
    w.samples = blob.natural();
    record.waits.push_back(w);
  });
  return record;
}

}  // namespace banyan::stats
