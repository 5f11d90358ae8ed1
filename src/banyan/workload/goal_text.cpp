// GOAL as text (LogGOPSim, txt2bin):
//
//   num_ranks 2
//   rank 0 {
//     a: send 8b to 1 tag 3 cpu 0 nic 0   // tag, cpu and nic are 0 where they are not given
//     b: calc 100 cpu 1
//     b requires a                         // or irequires: after the start of a
//   }
//   rank 1 { recv 8b from -1 tag -1 }      // -1: of any rank, of any tag
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/workload/formats.hpp"
#include "banyan/workload/remedy.hpp"

namespace banyan::workload {
namespace goal_text {
namespace {

/// Ranks that a text may announce: what more would need is a mistake of writing.
constexpr u64 kMostRanks = u64{1} << 26U;

/// The labels of one rank and the operations that they name; the texts are those of the file.
class Labels {
 public:
  struct Label {
    std::string_view text;
    u32 operation = 0;
    u32 rank = kNone;  ///< whose label it is: those of other ranks are free places
    const char* at = nullptr;
  };

  Labels() : table_(64) {}

  void begin(u32 rank) {
    rank_ = rank;
    used_ = 0;
  }
  [[nodiscard]] Label* find(std::string_view text) {
    Label& place = place_of(text);
    return place.rank == rank_ ? &place : nullptr;
  }
  void add(std::string_view text, u32 operation) {
    if ((used_ + 1) * 2 > table_.size()) grow();
    ++used_;
    place_of(text) = {text, operation, rank_, text.data()};
  }

 private:
  static u64 hash_of(std::string_view text) {
    u64 hash = 0xcbf29ce484222325ULL;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash ^ hash >> 32U;
  }
  Label& place_of(std::string_view text) {
    std::size_t i = hash_of(text) & (table_.size() - 1);
    while (table_[i].rank == rank_ && table_[i].text != text) i = (i + 1) & (table_.size() - 1);
    return table_[i];
  }
  void grow() {
    std::vector<Label> before(table_.size() * 2);
    before.swap(table_);
    for (const Label& label : before) {
      if (label.rank == rank_) place_of(label.text) = label;
    }
  }

  std::vector<Label> table_;  ///< of a power of two
  u32 rank_ = kNone;
  std::size_t used_ = 0;
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& path) : path_(path), begin_(text.data()), at_(begin_) {
    end_ = begin_ + text.size();
    if (text.starts_with(kByteOrderMark)) begin_ = at_ = begin_ + kByteOrderMark.size();
  }

  ScheduleBuilder read() {
    expect_word("num_ranks", "the file begins with num_ranks and the number of ranks");
    const char* const number = skip();
    const u64 ranks = read_number("the number of ranks", kMostRanks);
    if (ranks == 0 || ranks > kMostRanks)
      refuse(number, fmt::format("a schedule of {} ranks", ranks), fmt::format("give 1 to {}", kMostRanks));
    builder_.emplace(static_cast<u32>(ranks));
    seen_.assign(ranks, false);
    u64 read = 0;
    for (; skip(true) != end_; ++read) read_rank();
    if (read < ranks) {
      const auto missing = std::find(seen_.begin(), seen_.end(), false) - seen_.begin();
      refuse(end_, fmt::format("the file ends after {} of {} ranks, and rank {} is missing", read, ranks, missing),
             "give the whole file: a block for every rank, an empty one where it does nothing");
    }
    return *std::move(builder_);
  }

 private:
  struct Requirement {
    u32 operation = 0;
    std::string_view label;
    bool after_start = false;
  };

  // --- tokens ----------------------------------------------------------------------------------------------------
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  static bool is_of_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

  /// Goes to what comes next in the line, or, over lines, to what comes next at all. Comments are blanks.
  const char* skip(bool lines = false) {
    for (;;) {
      while (at_ != end_ && (is_blank(*at_) || (lines && *at_ == '\n'))) ++at_;
      if (end_ - at_ < 2 || *at_ != '/') return at_;
      if (at_[1] == '/') {
        while (at_ != end_ && *at_ != '\n') ++at_;
      } else if (at_[1] == '*') {
        const char* const from = at_;
        const std::string_view rest(at_ + 2, static_cast<std::size_t>(end_ - at_ - 2));
        const std::size_t close = rest.find("*/");
        if (close == std::string_view::npos)
          refuse(from, "a comment that does not end", "end it with */, or give the whole file");
        at_ += close + 4;
      } else {
        return at_;
      }
    }
  }
  std::string_view word() {
    const char* const from = skip();
    while (at_ != end_ && is_of_word(*at_)) ++at_;
    return {from, static_cast<std::size_t>(at_ - from)};
  }
  [[nodiscard]] std::string seen_here() const {
    if (at_ == end_) return "the file ends";
    if (*at_ == '\n') return "the line ends";
    const char* to = at_;
    while (to != end_ && is_of_word(*to) && to - at_ < 40) ++to;
    if (to == at_) ++to;
    return fmt::format("there is \"{}\"", std::string(at_, to));
  }
  void expect_word(std::string_view expected, const std::string& remedy) {
    const char* const from = skip(true);
    if (word() == expected) return;
    at_ = from;
    refuse(from, fmt::format("{} where \"{}\" is expected", seen_here(), expected), remedy);
  }
  void expect(char c, const std::string& remedy, bool lines) {
    if (skip(lines) == end_ || *at_ != c)
      refuse(at_, fmt::format("{} where \"{}\" is expected", seen_here(), c), remedy);
    ++at_;
  }
  u64 read_number(const char* what, u64 most = ~u64{0}) {
    const char* const from = skip();
    if (at_ == end_ || !is_digit(*at_))
      refuse(at_, fmt::format("{} where {} is expected", seen_here(), what), "give a whole number");
    u64 value = 0;
    for (; at_ != end_ && is_digit(*at_); ++at_) {
      const u64 digit = static_cast<u64>(*at_ - '0');
      if (value > (~u64{0} - digit) / 10)
        refuse(from, fmt::format("{} is too large", what), fmt::format("give at most {}", most));
      value = value * 10 + digit;
    }
    return value;
  }
  u32 read_number_up_to(const char* what, u64 most) {
    const char* const from = skip();
    const u64 value = read_number(what, most);
    if (value > most) refuse(from, fmt::format("{} is {}", what, value), fmt::format("give at most {}", most));
    return static_cast<u32>(value);
  }
  bool wildcard() {
    if (end_ - skip() < 2 || at_[0] != '-' || at_[1] != '1' || (end_ - at_ > 2 && is_of_word(at_[2]))) return false;
    at_ += 2;
    return true;
  }

  // --- statements ------------------------------------------------------------------------------------------------
  void read_rank() {
    const char* const from = at_;
    expect_word("rank", "what follows num_ranks are blocks: rank NUMBER { ... }");
    const u64 rank = read_number("the number of a rank");
    if (rank >= seen_.size())
      refuse(from, fmt::format("rank {} of {}", rank, seen_.size()),
             "ranks are numbered from 0; num_ranks says how many there are");
    if (seen_[rank]) refuse(from, fmt::format("rank {} a second time", rank), "give one block for each rank");
    seen_[rank] = true;
    rank_ = static_cast<u32>(rank);
    expect('{', "the operations of a rank stand in { }", true);
    labels_.begin(rank_);
    required_.clear();
    for (;;) {
      skip(true);
      if (at_ == end_)
        refuse(at_, fmt::format("the file ends inside rank {}", rank_), "give the whole file: a rank ends with }");
      if (*at_ == '}') break;
      if (*at_ == ';') {
        ++at_;
        continue;
      }
      read_statement();
    }
    ++at_;
    for (const Requirement& r : required_) require(r, "is no label of this rank");
  }

  static const std::vector<std::string>& operation_words() {
    static const std::vector<std::string> words{"send", "recv", "calc"};
    return words;
  }

  void read_statement() {
    const char* const from = at_;
    std::string_view label = word();
    if (label.empty()) {
      refuse(from, fmt::format("{} where an operation or a label is expected", seen_here()),
             "write send, recv, calc, or LABEL requires LABEL");
    }
    if (!read_operation(label)) {
      if (!is_letter(label.front()))
        refuse(from, fmt::format("a label that begins with \"{}\"", label.front()), "begin it with a letter");
      if (skip() != end_ && *at_ == ':') {
        ++at_;
        skip();
        const char* const operation = at_;
        const u32 number = builder_->operations(rank_);
        if (const std::string_view kind = word(); !read_operation(kind)) {
          at_ = operation;
          refuse(operation, fmt::format("{} where an operation is expected", seen_here()),
                 remedy_for(kind, operation_words(), "write send, recv or calc"));
        }
        if (const Labels::Label* const before = labels_.find(label); before != nullptr) {
          refuse(from, fmt::format("the label {} stands in line {} already", label, line_of(before->at)),
                 "give each operation of a rank a label of its own");
        }
        labels_.add(label, number);
      } else {
        read_requirement(from, label);
      }
    }
    if (skip() != end_ && *at_ != '\n' && *at_ != '}' && *at_ != ';')
      refuse(at_, fmt::format("{} behind the end of a statement", seen_here()), "begin a new line");
  }

  /// False: the word names no operation.
  bool read_operation(std::string_view kind) {
    if (kind == "calc") {
      const u64 amount = read_number("a time in nanoseconds");
      const Attributes attributes = read_attributes(false);
      builder_->calculate(rank_, amount, attributes.cpu);
      return true;
    }
    const bool send = kind == "send";
    if (!send && kind != "recv") return false;
    const u64 bytes = read_number("a number of bytes");
    skip();
    const char* at = at_;
    if (word() != "b") {
      at_ = at;
      refuse(at, fmt::format("{} where \"b\" is expected", seen_here()), "write the size as 8b");
    }
    skip();
    at = at_;
    if (word() != (send ? "to" : "from")) {
      at_ = at;
      refuse(at, fmt::format("{} where \"{}\" is expected", seen_here(), send ? "to" : "from"),
             send ? "write send 8b to RANK" : "write recv 8b from RANK, or from -1");
    }
    skip();
    at = at_;
    u32 peer = kAnyPeer;
    if (send || !wildcard()) {
      const u64 number = read_number("the number of a rank");
      if (number >= seen_.size()) {
        refuse(at, fmt::format("rank {} of {}", number, seen_.size()),
               "ranks are numbered from 0; num_ranks says how many there are");
      }
      peer = static_cast<u32>(number);
    }
    const Attributes a = read_attributes(true);
    if (send) {
      builder_->send(rank_, bytes, peer, a.tag, a.cpu, a.nic);
    } else {
      builder_->receive(rank_, bytes, peer, a.tag, a.cpu, a.nic);
    }
    return true;
  }

  /// A word before a number behind an operation: a misspelt attribute, if it is like one.
  void refuse_slip(const char* from, std::string_view name, bool message) {
    if (std::ranges::count(operation_words(), name) != 0) return;
    const std::vector<std::string> known =
        message ? std::vector<std::string>{"tag", "cpu", "nic"} : std::vector<std::string>{"cpu"};
    if (nearest_name(name, known).empty()) return;
    at_ = from;
    refuse(from, fmt::format("{} where {} is expected", seen_here(), message ? "tag, cpu or nic" : "cpu"),
           remedy_for(name, known, "begin a new line"));
  }

  struct Attributes {
    u32 tag = 0;
    u8 cpu = 0;
    u8 nic = 0;
  };
  Attributes read_attributes(bool message) {
    Attributes a;
    std::vector<std::string_view> told;
    for (;;) {
      skip();
      const char* const from = at_;
      const std::string_view name = word();
      const bool known = name == "cpu" || (message && (name == "nic" || name == "tag"));
      if (!known) {
        if (!name.empty() && skip() != end_ && is_digit(*at_)) refuse_slip(from, name, message);
        at_ = from;
        return a;
      }
      if (std::ranges::count(told, name) != 0)
        refuse(from, fmt::format("{} is there twice", name), "leave one of them out");
      told.push_back(name);
      if (name == "cpu") {
        a.cpu = static_cast<u8>(read_number_up_to("the number of a core", 255));
      } else if (name == "nic") {
        a.nic = static_cast<u8>(read_number_up_to("the number of a network interface", 255));
      } else {
        a.tag = wildcard() ? kAnyTag : read_number_up_to("a tag", kAnyTag - 1);
      }
    }
  }

  void read_requirement(const char* from, std::string_view label) {
    skip();
    const char* const at = at_;
    const std::string_view verb = word();
    if (verb != "requires" && verb != "irequires") {
      at_ = at;
      // A misspelt operation looks like a label.
      if (const std::string remedy = remedy_for(label, operation_words(), ""); !remedy.empty())
        refuse(from, fmt::format("\"{}\" is no operation", label), remedy);
      refuse(at, fmt::format("{} behind the label {}", seen_here(), label),
             remedy_for(verb, {"requires", "irequires"},
                        "write LABEL: OPERATION, LABEL requires LABEL or LABEL irequires LABEL"));
    }
    const Labels::Label* const operation = labels_.find(label);
    if (operation == nullptr) refuse(from, fmt::format("{} is no label of this rank", label), "define it before");
    const std::string_view earlier = word();
    if (earlier.empty()) refuse(at_, fmt::format("{} where a label is expected", seen_here()), "name what is required");
    const Requirement requirement{operation->operation, earlier, verb == "irequires"};
    // The dependents of an operation are in the order of the text, so that all wait where one cannot be resolved yet.
    if (required_.empty() && labels_.find(earlier) != nullptr) {
      require(requirement, "");
    } else {
      required_.push_back(requirement);
    }
  }
  void require(const Requirement& r, const char* missing) {
    const Labels::Label* const earlier = labels_.find(r.label);
    if (earlier == nullptr)
      refuse(r.label.data(), fmt::format("{} {}", r.label, missing), "name an operation that has it");
    if (r.after_start) {
      builder_->after_start(rank_, r.operation, earlier->operation);
    } else {
      builder_->after_end(rank_, r.operation, earlier->operation);
    }
  }

  // --- places ----------------------------------------------------------------------------------------------------
  [[nodiscard]] u32 line_of(const char* at) const { return static_cast<u32>(std::count(begin_, at, '\n')) + 1; }
  [[noreturn]] void refuse(const char* at, const std::string& cause, const std::string& remedy) const {
    const char* line = at;
    while (line != begin_ && line[-1] != '\n') --line;
    throw ConfigError({path_, line_of(at), static_cast<u32>(at - line) + 1, ""}, cause, remedy);
  }

  const std::string& path_;
  const char* begin_;
  const char* end_;
  const char* at_;
  std::optional<ScheduleBuilder> builder_;
  std::vector<bool> seen_;
  u32 rank_ = 0;
  Labels labels_;
  std::vector<Requirement> required_;  ///< labels that were not known yet, and what came behind them
};

bool recognizes(const std::string& path, std::string_view start) {
  static_cast<void>(path);
  // A byte order mark, comments and blanks may stand in front.
  if (start.starts_with(kByteOrderMark)) start.remove_prefix(kByteOrderMark.size());
  for (;;) {
    const std::size_t at = start.find_first_not_of(" \t\r\n");
    if (at == std::string_view::npos) return false;
    start.remove_prefix(at);
    if (start.starts_with("num_ranks")) return true;
    if (!start.starts_with("//") && !start.starts_with("/*")) return false;
    const std::string_view close = start[1] == '/' ? "\n" : "*/";
    const std::size_t behind = start.find(close, 2);
    if (behind == std::string_view::npos) return false;
    start.remove_prefix(behind + close.size());
  }
}

Program read(const std::string& path) {
  std::string why;
  const std::optional<MappedFile> file = MappedFile::open(path, &why);
  if (!file) throw ConfigError({path, 0, 0, ""}, "the file cannot be read: " + why, "give a file that is there");
  return Program(Reader(file->bytes(), path).read(), path);
}

}  // namespace
}  // namespace goal_text

const Format format_goal_text = {"goal_text", "GOAL as text (num_ranks, rank blocks)", &goal_text::recognizes,
                                 &goal_text::read};

std::string to_goal_text(const Program& program) {
  std::string text = fmt::format("num_ranks {}\n", program.ranks());
  const auto out = std::back_inserter(text);
  const auto wild = [](u32 value) { return value == kNone ? std::string("-1") : std::to_string(value); };
  static_assert(kAnyPeer == kNone && kAnyTag == kNone);
  for (u32 r = 0; r < program.ranks(); ++r) {
    fmt::format_to(out, "\nrank {} {{\n", r);
    for (u32 i = 0; i < program.operations(r); ++i) {
      const Operation o = program.operation(r, i);
      if (o.kind == OperationKind::calculate) {
        fmt::format_to(out, "l{}: calc {}", i + 1, o.amount);
      } else {
        const bool send = o.kind == OperationKind::send;
        fmt::format_to(out, "l{}: {} {}b {} {} tag {}", i + 1, send ? "send" : "recv", o.amount, send ? "to" : "from",
                       wild(o.peer), wild(o.tag));
      }
      if (o.cpu != 0) fmt::format_to(out, " cpu {}", o.cpu);
      if (o.nic != 0 && o.kind != OperationKind::calculate) fmt::format_to(out, " nic {}", o.nic);
      text += '\n';
    }
    for (u32 i = 0; i < program.operations(r); ++i) {
      program.for_each_after_end(r, i, [&](u32 d) { fmt::format_to(out, "l{} requires l{}\n", d + 1, i + 1); });
      program.for_each_after_start(r, i, [&](u32 d) { fmt::format_to(out, "l{} irequires l{}\n", d + 1, i + 1); });
    }
    text += "}\n";
  }
  return text;
}

}  // namespace banyan::workload
