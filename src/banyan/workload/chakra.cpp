#include "banyan/workload/chakra.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "banyan/base/file.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/workload/compressed.hpp"
#include "banyan/workload/formats.hpp"

namespace banyan::workload {
namespace chakra {
namespace {

// --- the wire format of protobuf ------------------------------------------------------------------------------------

/// What is wrong at a byte of the trace.
struct Damage {
  const char* at;
  std::string what;
};

/// One field of a message: a number, or bytes.
struct Field {
  u32 number = 0;
  u32 type = 0;  ///< 0: varint, 1: 64 bits, 2: bytes, 5: 32 bits
  u64 value = 0;
  std::string_view bytes;
};

/// Reads the fields of one message.
class Message {
 public:
  explicit Message(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] bool done() const noexcept { return at_ == end_; }

  u64 varint() {
    const char* const begin = at_;
    u64 value = 0;
    for (u32 shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) throw Damage{begin, "a number is cut short"};
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= u64{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    throw Damage{begin, "a number has more than 64 bits"};
  }

  std::string_view bytes() {
    const char* const begin = at_;
    const u64 length = varint();
    if (length > static_cast<u64>(end_ - at_)) {
      throw Damage{begin, fmt::format("{} bytes are announced, and {} follow", length, end_ - at_)};
    }
    const std::string_view view(at_, length);
    at_ += length;
    return view;
  }

  Field field() {
    const char* const begin = at_;
    Field field;
    const u64 key = varint();
    field.number = static_cast<u32>(key >> 3U);
    field.type = static_cast<u32>(key & 7U);
    if (key >> 32U != 0 || field.number == 0) throw Damage{begin, "this is no field of a message"};
    switch (field.type) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.value = fixed<u64>();
        break;
      case 2:
        field.bytes = bytes();
        break;
      case 5:
        field.value = fixed<u32>();
        break;
      default:
        throw Damage{begin, fmt::format("a field has the wire type {}", field.type)};
    }
    return field;
  }

  [[nodiscard]] const char* at() const noexcept { return at_; }

 private:
  template <typename T>
  T fixed() {
    if (static_cast<std::size_t>(end_ - at_) < sizeof(T)) throw Damage{at_, "a number is cut short"};
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    static_assert(std::endian::native == std::endian::little);
    return value;
  }

  const char* at_;
  const char* end_;
};

// --- nodes ----------------------------------------------------------------------------------------------------------

enum class Kind : u8 { invalid, metadata, load, store, compute, send, receive, collective };

/// The order of Chakra's CollectiveCommType.
constexpr std::array kTypes{Collective::all_reduce, Collective::reduce,         Collective::all_gather,
                            Collective::gather,     Collective::scatter,        Collective::broadcast,
                            Collective::all_to_all, Collective::reduce_scatter, Collective::reduce_scatter,
                            Collective::barrier};

/// What an attribute holds where a whole number from 0 on is needed.
struct Number {
  u64 value = 0;
  bool sound = true;  ///< false: it holds something else
};

struct Node {
  const char* at = nullptr;
  u64 id = 0;
  std::string_view name;
  u64 kind = 0;
  u64 micros = 0;
  std::string_view inputs;
  std::vector<u64> waits_for;
  bool on_cpu = false;
  std::optional<Number> type, size, source, destination, root;
  Number tag;
  Number operations;
  std::string_view group;

  void clear() {
    std::vector<u64> kept = std::move(waits_for);
    kept.clear();
    *this = {};
    waits_for = std::move(kept);
  }
};

/// The number that an attribute holds, whatever its type, a text too; and that text.
struct Attribute {
  std::string_view name;
  Number number;
  std::string_view text;
};

Number of_real(double value) {
  constexpr double kMost = 9e18;
  const bool sound = value >= 0 && value < kMost && value == std::floor(value);
  return {sound ? static_cast<u64>(value) : 0, sound};
}
Number of_signed(i64 value) { return {static_cast<u64>(value), value >= 0}; }
Number of_text(std::string_view text) {
  Number number;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  number.sound = problem == std::errc() && end == text.data() + text.size();
  return number;
}

Attribute attribute_of(std::string_view bytes) {
  Attribute attribute;
  const auto zigzag = [](u64 value) { return static_cast<i64>(value >> 1U ^ (~(value & 1U) + 1)); };
  for (Message message(bytes); !message.done();) {
    const Field field = message.field();
    switch (field.number) {
      case 1:
        attribute.name = field.bytes;
        break;
      case 3:
        if (field.type == 1) attribute.number = of_real(std::bit_cast<double>(field.value));
        break;
      case 5:
        if (field.type == 5) attribute.number = of_real(std::bit_cast<float>(static_cast<u32>(field.value)));
        break;
      case 15:
      case 17:
        attribute.number = of_signed(zigzag(field.value));
        break;
      case 7:
      case 9:
      case 25:
        attribute.number = of_signed(static_cast<i64>(field.value));
        break;
      case 23:
        attribute.number = of_signed(static_cast<i32>(static_cast<u32>(field.value)));
        break;
      case 11:
      case 13:
      case 19:
      case 21:
      case 27:
        attribute.number = {field.value, true};
        break;
      case 29:
      case 31:
        attribute.text = field.bytes;
        attribute.number = of_text(field.bytes);
        break;
      case 4:  // lists
      case 6:
      case 8:
      case 10:
      case 12:
      case 14:
      case 16:
      case 18:
      case 20:
      case 22:
      case 24:
      case 26:
      case 28:
      case 30:
      case 32:
        attribute.number.sound = false;
        break;
      default:
        break;
    }
  }
  return attribute;
}

void take_attribute(const Attribute& attribute, Node& node) {
  const std::string_view name = attribute.name;
  if (name == "is_cpu_op") {
    node.on_cpu = attribute.number.value != 0;
  } else if (name == "num_ops") {
    node.operations = attribute.number;
  } else if (name == "comm_type") {
    node.type = attribute.number;
  } else if (name == "comm_size") {
    node.size = attribute.number;
  } else if (name == "comm_src") {
    node.source = attribute.number;
  } else if (name == "comm_dst") {
    node.destination = attribute.number;
  } else if (name == "comm_tag") {
    node.tag = attribute.number;
  } else if (name == "pg_name") {
    node.group = attribute.text;
  } else if (name == "root" || name == "root_rank") {
    node.root = attribute.number;
  }
}

void parse_node(std::string_view bytes, Node& node) {
  node.clear();
  node.at = bytes.data();
  for (Message message(bytes); !message.done();) {
    const Field field = message.field();
    switch (field.number) {
      case 1:
        node.id = field.value;
        break;
      case 2:
        node.name = field.bytes;
        break;
      case 3:
        node.kind = field.value;
        break;
      case 4:
      case 5:
        if (field.type == 2) {
          for (Message ids(field.bytes); !ids.done();) node.waits_for.push_back(ids.varint());
        } else {
          node.waits_for.push_back(field.value);
        }
        break;
      case 7:
        node.micros = field.value;
        break;
      case 8:
        for (Message inputs(field.bytes); !inputs.done();) {
          const Field input = inputs.field();
          if (input.number == 1) node.inputs = input.bytes;
        }
        break;
      case 10:
        take_attribute(attribute_of(field.bytes), node);
        break;
      default:
        break;
    }
  }
}

// --- all ranks ------------------------------------------------------------------------------------------------------

constexpr u8 kComputeCore = 1;  ///< core 0 sends and receives: a device computes and communicates at the same time
constexpr u8 kHostCore = 2;

/// One rank's part of a collective.
struct Part {
  u32 begin = 0;  ///< operations around it
  u32 end = 0;
  Collective collective = Collective::all_reduce;
  u64 size = 0;
  u32 root = 0;
  std::string name;
};

class Reader {
 public:
  Reader(std::vector<std::string> files, const ChakraOptions& options, ChakraNotes* notes)
      : files_(std::move(files)), options_(options), notes_(notes), builder_(static_cast<u32>(files_.size())) {
    if (!options.groups.empty()) read_groups(options.groups);
  }

  ScheduleBuilder read() {
    for (u32 rank = 0; rank < files_.size(); ++rank) read_rank(rank);
    add_collectives();
    return std::move(builder_);
  }

 private:
  struct Around {
    u64 id;
    u32 begin;  ///< operations
    u32 end;
  };

  [[noreturn]] void refuse(const std::string& cause, const std::string& remedy) const {
    throw ConfigError({files_[rank_], 0, 0, ""}, cause, remedy);
  }
  [[noreturn]] void refuse_node(const Node& node, const std::string& what, const std::string& remedy) const {
    refuse(fmt::format("byte {}: node {} ({}) {}", node.at - bytes_.data(), node.id,
                       with_faults_shown(std::string(node.name)), what),
           remedy);
  }

  void read_rank(u32 rank) {
    rank_ = rank;
    bytes_ = read_uncompressed(files_[rank]);
    try {
      read_messages();
    } catch (const Damage& damage) {
      refuse(fmt::format("byte {}: {}", damage.at - bytes_.data(), damage.what),
             "give the whole file, as the tool wrote it");
    }
    bytes_ = {};
  }

  void read_messages() {
    Message file(bytes_);
    if (file.done()) throw Damage{bytes_.data(), "the file is empty"};
    for (Message metadata(file.bytes()); !metadata.done();) static_cast<void>(metadata.field());
    around_.clear();
    edges_.clear();
    Node node;
    while (!file.done()) {
      parse_node(file.bytes(), node);
      add(node);
    }
    connect();
    if (notes_ != nullptr) notes_->nodes += around_.size();
  }

  u64 whole(const Node& node, const Number& number, const char* attribute) const {
    if (number.sound) return number.value;
    refuse_node(node, fmt::format("has a {} that is no whole number from 0 on", attribute), "write such a number");
  }
  u64 nanoseconds_of(const Node& node) const {
    if (node.micros > u64{1} << 50U) refuse_node(node, "takes more than 35 years", "see what its duration is");
    if (node.micros > 0 || options_.operations_per_ns <= 0) return node.micros * 1000;
    return static_cast<u64>(std::llround(
        std::min(static_cast<double>(whole(node, node.operations, "num_ops")) / options_.operations_per_ns, 1e18)));
  }

  u32 peer_of(const Node& node, const std::optional<Number>& peer, const char* attribute) const {
    if (!peer) refuse_node(node, fmt::format("has no {}", attribute), "give the rank at the other end");
    const u64 rank = whole(node, *peer, attribute);
    if (rank >= files_.size()) {
      refuse_node(node, fmt::format("has the {} {}, and there are {} ranks", attribute, rank, files_.size()),
                  "give the files of all ranks");
    }
    return static_cast<u32>(rank);
  }

  u64 size_of(const Node& node) const {
    if (!node.size) refuse_node(node, "has no comm_size", "give the length of the message in bytes");
    return checked_size(node);
  }
  u64 checked_size(const Node& node) const {
    const u64 size = whole(node, *node.size, "comm_size");
    if (size > u64{1} << 48U) refuse_node(node, "has a comm_size above 256 TiB", "see what wrote it");
    return size;
  }

  u32 tag_of(const Node& node) {
    const u64 tag = whole(node, node.tag, "comm_tag");
    if (tag >= u64{1} << 31U) refuse_node(node, fmt::format("has the tag {}", tag), "use tags below 2^31");
    highest_tag_ = std::max(highest_tag_, static_cast<u32>(tag) + 1);
    return static_cast<u32>(tag);
  }

  void add(const Node& node) {
    const u8 core = node.on_cpu ? kHostCore : kComputeCore;
    u32 operation = 0;
    if (builder_.operations(rank_) >= (1U << 31U)) refuse_node(node, "is one too many", "split the trace");
    switch (static_cast<Kind>(std::min<u64>(node.kind, 8))) {
      case Kind::send:
        operation = builder_.send(rank_, size_of(node), peer_of(node, node.destination, "comm_dst"), tag_of(node));
        if (peer_of(node, node.destination, "comm_dst") == rank_ && to_itself_.empty()) to_itself_ = node.name;
        break;
      case Kind::receive:
        operation = builder_.receive(rank_, size_of(node), peer_of(node, node.source, "comm_src"), tag_of(node));
        break;
      case Kind::collective:
        if (add_collective(node)) return;
        operation = builder_.calculate(rank_, nanoseconds_of(node), core);
        break;
      case Kind::metadata:
        take_groups(node);
        operation = builder_.calculate(rank_, 0, kHostCore);
        break;
      case Kind::invalid:
        operation = builder_.calculate(rank_, 0, kHostCore);
        break;
      case Kind::load:
      case Kind::store:
      case Kind::compute:
        operation = builder_.calculate(rank_, nanoseconds_of(node), core);
        break;
      default:
        refuse_node(node, fmt::format("is of the unknown type {}", node.kind), "use a trace of schema 0.0.4");
    }
    remember(node, operation, operation);
  }

  void remember(const Node& node, u32 begin, u32 end) {
    const u32 index = static_cast<u32>(around_.size());
    around_.push_back({node.id, begin, end});
    for (const u64 id : node.waits_for) edges_.emplace_back(index, id);
  }

  /// False: it lacks type or size, and is to be skipped.
  bool add_collective(const Node& node) {
    const u64 type = node.type ? whole(node, *node.type, "comm_type") : kTypes.size();
    const bool typed = type < kTypes.size();
    const bool sized = node.size || (typed && kTypes[type] == Collective::barrier);
    if (!typed || !sized) {
      const char* const lacks = node.type && !typed ? "has an unknown comm_type"
                                : !typed            ? "has no comm_type"
                                                    : "has no comm_size";
      if (!options_.skip_incomplete) {
        refuse_node(
            node, fmt::format("is a collective that {}", lacks),
            "give it in the trace, or set incomplete = \"skip\" (of a command: --incomplete skip) to take such nodes "
            "for computations");
      }
      if (notes_ != nullptr) {
        ++notes_->skipped_nodes;
        if (skipped_.emplace(node.name).second) notes_->skipped.emplace_back(node.name);
      }
      return false;
    }
    Part part;
    part.begin = builder_.calculate(rank_, 0);
    part.end = builder_.calculate(rank_, 0);
    builder_.after_end(rank_, part.end, part.begin);
    part.collective = kTypes[type];
    part.size = node.size ? checked_size(node) : 0;
    // Tools write -1 as the root of what has none.
    if (node.root && has_root(part.collective)) {
      const u64 root = whole(node, *node.root, "root");
      if (root >= files_.size()) refuse_node(node, "has a root that is no rank", "give the files of all ranks");
      part.root = static_cast<u32>(root);
    }
    part.name = with_faults_shown(std::string(node.name));
    auto& parts = parts_[std::string(node.group)];
    parts.resize(files_.size());
    parts[rank_].push_back(std::move(part));
    remember(node, parts[rank_].back().begin, parts[rank_].back().end);
    return true;
  }

  /// Gives the operations of the rank what their nodes wait for.
  void connect() {
    std::vector<u32> sorted;
    const bool in_order =
        std::is_sorted(around_.begin(), around_.end(), [](const Around& a, const Around& b) { return a.id < b.id; });
    if (!in_order) {
      sorted.resize(around_.size());
      for (u32 i = 0; i < sorted.size(); ++i) sorted[i] = i;
      std::sort(sorted.begin(), sorted.end(), [this](u32 a, u32 b) { return around_[a].id < around_[b].id; });
    }
    const auto at = [&](std::size_t i) -> const Around& { return around_[in_order ? i : sorted[i]]; };
    for (std::size_t i = 1; i < around_.size(); ++i) {
      if (at(i).id == at(i - 1).id)
        refuse(fmt::format("two nodes have the number {}", at(i).id), "number the nodes of a rank differently");
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const u64 id = edges_[e].second;
      std::size_t low = 0;
      std::size_t high = around_.size();
      while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (at(middle).id < id) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (low == around_.size() || at(low).id != id) {
        if (options_.skip_incomplete) {
          if (notes_ != nullptr) ++notes_->dangling;
          continue;
        }
        refuse(
            fmt::format("node {} waits for node {}, which is not there", around_[edges_[e].first].id, id),
            "give the whole trace of the rank, or set incomplete = \"skip\" (of a command: --incomplete skip) to leave "
            "such dependencies out");
      }
      const u32 earlier = at(low).end;
      const u32 later = around_[edges_[e].first].begin;
      // A node that is both a control and a data dependency counts once.
      bool twice = false;
      for (std::size_t k = e; k > 0 && edges_[k - 1].first == edges_[e].first && !twice; --k)
        twice = edges_[k - 1].second == id;
      if (!twice) builder_.after_end(rank_, later, earlier);
    }
  }

  // --- groups ---

  /// The groups that a node of PyTorch names: a list of {"pg_name": "1", "ranks": [0, 1]}, quoted within a list.
  void take_groups(const Node& node) {
    const std::size_t begin = node.inputs.find("[{");
    const std::size_t end = node.inputs.rfind("}]");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return;
    std::string text(node.inputs.substr(begin, end + 2 - begin));
    for (std::size_t quote = text.find("\\\""); quote != std::string::npos; quote = text.find("\\\"", quote))
      text.erase(quote, 1);
    const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
    if (!list.is_array()) refuse_node(node, "does not hold a list of groups as JSON", "write the trace again");
    for (const nlohmann::json& group : list) {
      if (!group.is_object() || !group.contains("pg_name") || !group["pg_name"].is_string()) continue;
      std::vector<u32> members;
      if (group.contains("ranks") && !take_ranks(group["ranks"], members)) {
        refuse_node(node, "names a group with other ranks than there are", "give the files of all ranks");
      }
      groups_[group["pg_name"].get<std::string>()] = std::move(members);
    }
  }

  void read_groups(const std::string& path) {
    std::string why;
    const std::optional<std::string> text = read_whole_file(path, &why);
    if (!text) throw ConfigError({path, 0, 0, ""}, "cannot read the groups: " + why, "give a JSON file of groups");
    std::set<std::string> names;
    std::string twice;
    const auto note_name = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
      if (depth == 1 && event == nlohmann::json::parse_event_t::key && !names.insert(parsed.get<std::string>()).second)
        twice = parsed.get<std::string>();
      return true;
    };
    const nlohmann::json groups = nlohmann::json::parse(*text, note_name, false);
    if (!twice.empty()) {
      throw ConfigError({path, 0, 0, ""}, fmt::format("group {} is there twice", with_faults_shown(twice)),
                        "leave one of them out");
    }
    if (!groups.is_object())
      throw ConfigError({path, 0, 0, ""}, "the groups are no JSON object", R"(write {"1": [0, 1]})");
    for (const auto& [name, ranks] : groups.items()) {
      std::vector<u32> members;
      if (!take_ranks(ranks, members)) {
        throw ConfigError({path, 0, 0, ""},
                          fmt::format("group {} is no list of different ranks below {}", name, files_.size()),
                          "give the ranks of the trace");
      }
      if (members.empty()) {
        throw ConfigError({path, 0, 0, ""}, fmt::format("group {} has no ranks", with_faults_shown(name)),
                          "give its ranks, or leave it out");
      }
      groups_[name] = std::move(members);
    }
  }

  bool take_ranks(const nlohmann::json& ranks, std::vector<u32>& members) const {
    if (!ranks.is_array()) return false;
    std::vector<bool> seen(files_.size(), false);
    for (const nlohmann::json& rank : ranks) {
      if (!rank.is_number_unsigned() || rank.get<u64>() >= files_.size() || seen[rank.get<u64>()]) return false;
      seen[rank.get<u64>()] = true;
      members.push_back(rank.get<u32>());
    }
    return true;
  }

  /// The ranks of a group: all, where it has no name and where none were listed.
  [[nodiscard]] std::vector<u32> members_of(const std::string& name) const {
    std::vector<u32> members;
    const auto group = groups_.find(name);
    if (group != groups_.end()) members = group->second;
    if (group == groups_.end() && !name.empty() && name != "0") {
      throw ConfigError(
          {files_[0], 0, 0, ""}, fmt::format("nothing says which ranks the group {} has", with_faults_shown(name)),
          "give them in a JSON file with groups = FILE (of a command: --groups FILE), such as {\"1\": [0, 1]}");
    }
    if (members.empty()) {
      for (u32 rank = 0; rank < files_.size(); ++rank) members.push_back(rank);
    }
    return members;
  }

  // --- collectives ---

  void add_collectives() {
    u32 tag = highest_tag_;
    for (const auto& [group, parts] : parts_) {
      const std::vector<u32> members = members_of(group);
      check_parts(group, parts, members);
      std::vector<u32> begin(members.size());
      for (std::size_t k = 0; k < parts[members[0]].size(); ++k) {
        for (std::size_t m = 0; m < members.size(); ++m) begin[m] = parts[members[m]][k].begin;
        const CollectiveOperation operation = operation_of(group, parts[members[0]][k], members);
        if (operation.algorithm == Algorithm::in_network) {
          reduced_.push_back({parts[0][k].begin, k, operation.bytes, &parts});
          note(operation, members.size());
          continue;
        }
        const CollectiveEnd end = append_collective(builder_, operation, {members, tag, begin, nullptr});
        for (std::size_t m = 0; m < members.size(); ++m) {
          for (const u32 last : end.last[m]) {
            if (last != begin[m]) builder_.after_end(members[m], parts[members[m]][k].end, last);
          }
        }
        tag += end.tags;
        if (tag >= kAnyTag - (1U << 24U)) tag = highest_tag_;
        note(operation, members.size());
      }
    }
    add_reduced(tag);
  }

  /// What switches reduce: one collective after the other, as of rank 0, so that contributions of all ranks meet in the
  /// same order.
  void add_reduced(u32 tag) {
    if (reduced_.empty()) return;
    if (!to_itself_.empty()) {
      throw ConfigError({files_[0], 0, 0, ""},
                        fmt::format("{} is a message of a rank to itself, which stands for a contribution where the "
                                    "network reduces",
                                    with_faults_shown(to_itself_)),
                        "use another algorithm than in_network");
    }
    std::sort(reduced_.begin(), reduced_.end(), [](const Reduced& a, const Reduced& b) { return a.begin < b.begin; });
    std::vector<u32> last(files_.size(), kNone);
    for (const Reduced& reduced : reduced_) {
      const u32 segments =
          static_cast<u32>(std::max<u64>(1, (reduced.bytes + options_.contribution - 1) / options_.contribution));
      for (u32 rank = 0; rank < files_.size(); ++rank) {
        const Part& part = (*reduced.parts)[rank][reduced.part];
        last[rank] = append_contributions(builder_, rank, reduced.bytes, segments, tag, {part.begin, last[rank]});
        builder_.after_end(rank, part.end, last[rank]);
      }
      if (notes_ != nullptr) ++notes_->reduced;
      tag += segments;
      if (tag >= kAnyTag - (1U << 24U)) tag = highest_tag_;
    }
  }

  void note(const CollectiveOperation& operation, std::size_t members) {
    if (notes_ == nullptr) return;
    ++notes_->collectives;
    ChakraNotes::Kind& kind = notes_->by_kind[static_cast<std::size_t>(operation.collective)];
    ++kind.count;
    kind.bytes += operation.bytes;
    kind.algorithms.insert(algorithm_of(operation, static_cast<u32>(members)));
  }

  void check_parts(const std::string& group, const std::vector<std::vector<Part>>& parts,
                   const std::vector<u32>& members) const {
    const std::string of_group = group.empty() ? "" : fmt::format(" of group {}", with_faults_shown(group));
    std::vector<bool> is_member(files_.size(), false);
    for (const u32 member : members) is_member[member] = true;
    const u32 first = members[0];
    for (u32 rank = 0; rank < files_.size(); ++rank) {
      if (!is_member[rank] && !parts[rank].empty()) {
        throw ConfigError(
            {files_[rank], 0, 0, ""},
            fmt::format("rank {} takes part in {}{}, and is none of its ranks", rank, parts[rank][0].name, of_group),
            "give the group with all its ranks");
      }
      if (!is_member[rank]) continue;
      for (std::size_t k = 0; k < std::min(parts[rank].size(), parts[first].size()); ++k) {
        const Part& a = parts[first][k];
        const Part& b = parts[rank][k];
        if (a.collective == b.collective && a.size == b.size && a.root == b.root) continue;
        throw ConfigError(
            {files_[rank], 0, 0, ""},
            fmt::format("collective {}{} is {} of {} bytes at rank {} ({}), and {} of {} bytes at rank {} ({})", k,
                        of_group, name_of(a.collective), a.size, first, a.name, name_of(b.collective), b.size, rank,
                        b.name),
            "give the collectives of a group in the same order at all its ranks");
      }
      if (parts[rank].size() != parts[first].size()) {
        throw ConfigError({files_[rank], 0, 0, ""},
                          fmt::format("rank {} has {} collectives{}, and rank {} has {}", rank, parts[rank].size(),
                                      of_group, first, parts[first].size()),
                          "give the trace of the same steps for all ranks");
      }
    }
  }

  [[nodiscard]] CollectiveOperation operation_of(const std::string& group, const Part& part,
                                                 const std::vector<u32>& members) const {
    CollectiveOperation operation;
    operation.collective = part.collective;
    operation.algorithm = options_.algorithms[static_cast<std::size_t>(part.collective)];
    // Switches reduce what all ranks of a job have.
    if (operation.algorithm == Algorithm::in_network && (members.size() != files_.size() || members.size() == 1))
      operation.algorithm = Algorithm::automatic;
    operation.bytes = part.size;
    operation.group = options_.group;
    const u32 count = static_cast<u32>(members.size());
    if (part.collective == Collective::all_gather || part.collective == Collective::gather) operation.bytes *= count;
    // The root is a rank; one that the group lacks is its first.
    const auto root = std::find(members.begin(), members.end(), part.root);
    operation.root = root == members.end() ? 0 : static_cast<u32>(root - members.begin());
    if (tracked_pieces(operation, count) > kMostPieces) {
      throw ConfigError({files_[0], 0, 0, ""},
                        fmt::format("{} among the {} ranks{} has more messages than a schedule can hold", part.name,
                                    count, group.empty() ? "" : " of group " + with_faults_shown(group)),
                        "choose an algorithm with fewer messages");
    }
    return operation;
  }

  std::vector<std::string> files_;
  const ChakraOptions& options_;
  ChakraNotes* notes_;
  ScheduleBuilder builder_;
  u32 rank_ = 0;
  std::string bytes_;
  std::vector<Around> around_;              ///< per node of the rank
  std::vector<std::pair<u32, u64>> edges_;  ///< node by index, and the number of the one that it waits for
  std::map<std::string, std::vector<u32>> groups_;
  std::map<std::string, std::vector<std::vector<Part>>> parts_;  ///< by group: per rank in their order
  struct Reduced {
    u32 begin = 0;         ///< operation of rank 0
    std::size_t part = 0;  ///< of each rank in `parts`
    u64 bytes = 0;
    const std::vector<std::vector<Part>>* parts = nullptr;
  };
  std::vector<Reduced> reduced_;
  std::string to_itself_;  ///< name of a message from a rank to itself
  std::set<std::string, std::less<>> skipped_;
  u32 highest_tag_ = 0;
};

// --- the files ------------------------------------------------------------------------------------------------------

struct Named {
  std::string name;  ///< without the number
  u64 rank = 0;
};

/// NAME.3.et or NAME.3.et.gz.
std::optional<Named> rank_file(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view end : {".gz", ".et"}) {
    if (std::string_view(name).ends_with(end)) {
      name.resize(name.size() - end.size());
    } else if (end == ".et") {
      return std::nullopt;
    }
  }
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0 || name.size() - dot > 8) return std::nullopt;
  Named named{name.substr(0, dot), 0};
  const char* const end = name.data() + name.size();
  const auto [stopped, problem] = std::from_chars(name.data() + dot + 1, end, named.rank);
  if (problem != std::errc() || stopped != end) return std::nullopt;
  return named;
}

std::vector<std::string> files_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code problem;
  const bool folder = fs::is_directory(path, problem);
  const std::optional<Named> given = rank_file(path);
  if (!folder && !given) return {path};
  const fs::path parent = folder ? fs::path(path) : fs::path(path).parent_path();
  std::map<std::string, std::map<u64, std::string>> found;
  for (fs::directory_iterator entry(parent.empty() ? "." : parent, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::optional<Named> named = rank_file(entry->path());
    if (!named || (!folder && named->name != given->name)) continue;
    auto& ranks = found[named->name];
    const std::string file = (parent / entry->path().filename()).string();
    if (!ranks.emplace(named->rank, file).second) {
      throw ConfigError({file, 0, 0, ""}, fmt::format("rank {} has two files", named->rank), "remove one of them");
    }
  }
  if (found.empty()) {
    throw ConfigError({path, 0, 0, ""}, "no file here is named as those of a Chakra trace",
                      "name them NAME.0.et, NAME.1.et ...");
  }
  if (found.size() > 1) {
    throw ConfigError(
        {path, 0, 0, ""},
        fmt::format("there are several traces here: {} and {}", found.begin()->first, std::next(found.begin())->first),
        "give one of the files of the trace that is meant");
  }
  std::vector<std::string> files;
  for (const auto& [rank, file] : found.begin()->second) {
    if (rank != files.size()) {
      throw ConfigError({file, 0, 0, ""}, fmt::format("the file of rank {} is missing", files.size()),
                        "give the files of all ranks, numbered from 0");
    }
    files.push_back(file);
  }
  return files;
}

bool recognizes(const std::string& path, std::string_view start) {
  std::error_code problem;
  if (!std::filesystem::is_directory(path, problem)) return is_chakra(uncompressed_start(start));
  for (std::filesystem::directory_iterator entry(path, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (rank_file(entry->path())) return true;
  }
  return false;
}

Program read_program(const std::string& path) { return Program(read_chakra(path), path); }

}  // namespace
}  // namespace chakra

const Format format_chakra = {"chakra", "a Chakra execution trace (MLCommons), one of its files or their folder",
                              &chakra::recognizes, &chakra::read_program};

void set_algorithm(ChakraOptions& options, std::string_view collective, std::string_view algorithm,
                   const Where& where) {
  const auto remedy_of = [](std::string_view name, const std::vector<std::string>& names) {
    const std::string near = nearest_name(name, names);
    std::string all;
    for (const std::string& other : names) all += (all.empty() ? "" : ", ") + other;
    return (near.empty() ? "" : "did you mean " + near + "? ") + "choose one of " + all;
  };
  const std::optional<Collective> which = collective_named(collective);
  if (!which) {
    throw ConfigError(where, fmt::format("there is no collective \"{}\"", with_faults_shown(std::string(collective))),
                      remedy_of(collective, collective_names()));
  }
  const std::optional<Algorithm> how = algorithm_named(algorithm);
  if (!how || !(*how == Algorithm::in_network ? has_in_network(*which) : has_algorithm(*which, *how))) {
    std::vector<std::string> names = algorithm_names(*which);
    if (has_in_network(*which)) names.emplace_back(name_of(Algorithm::in_network));
    throw ConfigError(where,
                      fmt::format("{} has no algorithm \"{}\"", collective, with_faults_shown(std::string(algorithm))),
                      remedy_of(algorithm, names));
  }
  options.algorithms[static_cast<std::size_t>(*which)] = *how;
}

bool is_chakra(std::string_view start) noexcept {
  // The first message: texts of a version and of attributes, each behind its length; nodes follow. What is seen of it
  // must be as it is announced.
  try {
    chakra::Message file(start);
    const u64 length = file.varint();
    const std::string_view rest = start.substr(static_cast<std::size_t>(file.at() - start.data()));
    if (length == 0) return rest.size() > 2 && rest[1] == 0x08;
    if (length > u64{1} << 30U || rest.empty() || (rest[0] != 0x0a && rest[0] != 0x12)) return false;
    chakra::Message inner(rest.substr(1));
    const u64 text = inner.varint();
    return text + 2 <= length && (rest[0] == 0x0a || (rest.size() > 2 && text > 0 &&
                                                      inner.at() != rest.data() + rest.size() && *inner.at() == 0x0a));
  } catch (const chakra::Damage&) { return false; }
}

std::vector<std::string> chakra_files(const std::string& path) { return chakra::files_of(path); }

Schedule read_chakra(const std::string& path, const ChakraOptions& options, ChakraNotes* notes) {
  return chakra::Reader(chakra::files_of(path), options, notes).read().build();
}

}  // namespace banyan::workload
