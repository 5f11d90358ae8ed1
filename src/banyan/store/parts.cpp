#include "banyan/store/parts.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>  // strverscmp, with GNU's extensions, which g++ and clang++ define
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "banyan/api/version.hpp"
#include "banyan/base/error.hpp"
#include "banyan/store/digest.hpp"
#include "banyan/store/sweep.hpp"

namespace banyan::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".sqlite";
constexpr int kTries = 8;  ///< to copy a file that somebody is writing to
constexpr std::chrono::milliseconds kPause{60};

/// Where the copy of a store lies among others.
std::string copy_in(const TemporaryFolder& folder, std::size_t number) {
  return (fs::path(folder.path()) / fmt::format("{}{}", number, kExtension)).string();
}

/// Numbers that differ when a file has changed.
std::array<i64, 4> stamp_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {-1, 0, 0, 0};
  return {i64{status.st_size}, i64{status.st_mtim.tv_sec}, i64{status.st_mtim.tv_nsec},
          static_cast<i64>(status.st_ino)};
}

std::string journal_of(const std::string& file) { return file + "-journal"; }

void copy_if_there(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::remove(to, error);
  const fs::file_status status = fs::status(from, error);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status)) {
    throw ConfigError({from, 0, 0, ""}, "this is no file, and so no result store", "name a folder with results");
  }
  fs::copy_file(from, to, error);
  // A journal may go between the two; then the stamps differ, and the copy is made again.
  if (!error || error == std::errc::no_such_file_or_directory) return;
  throw ConfigError({from, 0, 0, ""}, fmt::format("cannot be copied to {}: {}", to, error.message()),
                    "mend its permissions, make room there, or set TMPDIR to another folder");
}

/// Copies a store, with what a killed writer left half done, which is undone in the copy. Nothing is locked, and
/// nothing of the original changes. True when the copy is of one moment.
bool copy_store(const std::string& from, const std::string& to) {
  const auto store = stamp_of(from);
  const auto journal = stamp_of(journal_of(from));
  copy_if_there(journal_of(from), journal_of(to));
  copy_if_there(from, to);
  return stamp_of(from) == store && stamp_of(journal_of(from)) == journal;
}

/// A run that a store holds, and what is wrong with it.
struct Held {
  u64 run = 0;
  Reader::Made made;
  std::vector<std::string> damage;
};

/// Which of two that hold one run is kept: that of this Banyan, else of the later version, of which 1.10 is one after
/// 1.9. Those of one version may differ in compiler and cost: any will do, if it is the same in any order.
bool is_better(const Reader::Made& a, const Reader::Made& b) {
  if (a.version == b.version) return a.digest < b.digest;
  if (a.version == api::version() || b.version == api::version()) return a.version == api::version();
  return strverscmp(a.version.c_str(), b.version.c_str()) > 0;
}

/// A store that takes part: where its copy is, and what is in it. Thousands of them are not all held open.
struct Member {
  std::string file;  ///< as users know it
  std::string copy;
  std::vector<Held> runs;
  std::optional<Plan> plan;
  std::optional<ConfigError> failure;
};

/// A worker that was killed before its first point leaves a file without tables.
bool holds_nothing_yet(const std::string& copy) {
  std::error_code ignored;
  return fs::file_size(copy, ignored) == 0 || Database(copy, Database::Mode::read).number("PRAGMA user_version") == 0;
}

void read_member(Member& member) {
  const Reader reader(member.copy);
  member.plan = reader.plan();
  member.runs.clear();
  for (const u64 run : reader.runs()) member.runs.push_back({run, reader.made(run), reader.damage(run)});
}

/// Nothing when the file holds nothing.
std::optional<Member> open_member(const std::string& file, const std::string& copy) {
  Member member{file, copy, {}, std::nullopt, std::nullopt};
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(kPause);
    const bool whole = copy_store(file, copy);
    member.failure.reset();
    try {
      if (holds_nothing_yet(copy)) return std::nullopt;
      read_member(member);
    } catch (const ConfigError& error) {
      member.failure.emplace(Where{file, 0, 0, ""}, error.cause(), error.remedy());
      member.runs.clear();
      member.plan.reset();
    }
    if (whole) break;
  }
  return member;
}

/// The files of a folder: its store first, if there is one.
using Group = std::vector<std::string>;

std::string store_file(const std::string& folder) { return (fs::path(folder) / kFileName).string(); }

Group group_of(const std::string& folder) {
  Group files;
  std::error_code ignored;
  if (fs::exists(store_file(folder), ignored)) files.push_back(store_file(folder));
  for (std::string& file : part_files(folder)) files.push_back(std::move(file));
  return files;
}

/// Points by their position.
using Points = std::map<u64, Plan::Point>;

/// Points of one run may differ in what its result does not depend on (names, audits, shards): the least is kept, so
/// that it does not matter who comes first.
void add_points(const Plan& plan, Points& points) {
  for (const Plan::Point& point : plan.points) {
    const auto [place, first] = points.emplace(point.position, point);
    if (!first && point.configuration < place->second.configuration) place->second = point;
  }
}

std::vector<Plan::Point> list(Points&& points) {
  std::vector<Plan::Point> all;
  all.reserve(points.size());
  for (auto& [position, point] : points) all.push_back(std::move(point));
  return all;
}

/// Likewise of the files of one sweep, which may have had several names.
bool is_less(const Source& a, const Source& b) {
  const auto order = [](const Source& of) { return std::tie(of.file, of.command, of.text, of.overrides, of.options); };
  return order(a) < order(b);
}

[[noreturn]] void refuse_place(const std::string& folder, const std::string& other) {
  throw ConfigError({folder, 0, 0, ""}, fmt::format("this is of another sweep than {}", other),
                    "give another --out, for it would lose its table");
}

/// The files of the workers of a folder, without those that are named already.
Group other_parts(const std::string& folder, const std::vector<Group>& named) {
  const auto place = [](const std::string& file) {
    std::error_code ignored;
    return fs::weakly_canonical(file, ignored);
  };
  std::set<fs::path> places;
  for (const Group& group : named) {
    for (const std::string& file : group) places.insert(place(file));
  }
  Group parts = part_files(folder);
  std::erase_if(parts, [&](const std::string& file) { return places.contains(place(file)); });
  return parts;
}

/// Stores that are made one, each run once.
class Join {
 public:
  /// `own`: the workers' files of the folder that the others are merged into, whose store has the table of `sweep`.
  explicit Join(const std::vector<Group>& groups, const Group& own = {}, const std::optional<u64>& sweep = {}) {
    for (const Group& group : groups) add(group, {});
    others_ = members_.size();
    add(own, sweep);
    for (std::size_t i = 0; i < members_.size(); ++i) take(i);
    for (std::size_t i = 0; i < members_.size(); ++i) agree(i);
  }

  /// The plan of all; nothing when nobody has one that is merged. Throws ConfigError when they are of different sweeps.
  [[nodiscard]] std::optional<Plan> plan() const {
    std::optional<Plan> all;
    std::string first;
    Points points;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Member& member = members_[i];
      if (!member.plan) continue;
      if (i >= others_ && !all) return all;
      if (all && all->digest != member.plan->digest) {
        if (i >= others_) refuse_place(fs::path(member.file).parent_path().parent_path().string(), first);
        const bool together = fs::path(member.file).parent_path() == fs::path(first).parent_path();
        throw ConfigError({member.file, 0, 0, ""}, fmt::format("this is of another sweep than {}", first),
                          together
                              ? "move one of them, and all others of its sweep, to another folder"
                              : "merge what \"banyan sweep FILE --part i/n\" made of one FILE with the same key=value");
      }
      add_points(*member.plan, points);
      if (!all || is_less(member.plan->source, all->source)) all = member.plan;
      if (first.empty()) first = member.file;
    }
    if (!all) return all;
    all->points = list(std::move(points));
    return all;
  }

  [[nodiscard]] bool has_plan() const {
    return std::any_of(members_.begin(), members_.end(), [](const Member& member) { return member.plan.has_value(); });
  }
  /// The first member that belongs to another sweep; nullptr: none.
  [[nodiscard]] const Member* of_another(const Plan& plan) const {
    const auto found = std::find_if(members_.begin(), members_.end(), [&](const Member& member) {
      return member.plan && member.plan->digest != plan.digest;
    });
    return found == members_.end() ? nullptr : &*found;
  }

  /// Throws ConfigError where something is damaged that is nowhere else.
  void require_whole(const std::optional<Plan>& plan) const {
    if (complete(plan)) return;
    for (const Member& member : members_) {
      if (member.failure) refuse(member, member.failure->cause(), plan);
      for (const Held& held : member.runs) {
        if (held.damage.empty() || chosen_.contains(held.run)) continue;
        refuse(member, fmt::format("the result store is damaged: {}", damage_text(held.damage)), plan);
      }
    }
  }

  void tell_damage(const Tell& tell) const {
    if (!tell) return;
    for (const Member& member : members_) {
      if (member.failure) tell(fmt::format("{} is left out: {}", member.file, member.failure->cause()));
      for (const Held& held : member.runs) {
        if (held.damage.empty() || chosen_.contains(held.run)) continue;
        tell(fmt::format("a damaged point of {} is run again: {}", member.file, damage_text(held.damage)));
      }
    }
  }

  /// Copies what the store lacks.
  void fill(Writer& store) const {
    // All are looked at first: what is refused changes nothing.
    std::vector<std::vector<u64>> lacking(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (const Held& held : members_[i].runs) {
        const auto chosen = chosen_.find(held.run);
        if (chosen != chosen_.end() && chosen->second.member == i && lacks(store, held)) lacking[i].push_back(held.run);
      }
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!lacking[i].empty()) store.copy(members_[i].copy, lacking[i]);
    }
  }

  [[nodiscard]] std::vector<u64> runs(const std::string& version) const {
    std::vector<u64> runs;
    for (const auto& [run, holder] : chosen_) {
      if (holder.made.version == version) runs.push_back(run);
    }
    return runs;
  }
  [[nodiscard]] u64 shared() const { return shared_; }
  [[nodiscard]] bool has(u64 run) const { return chosen_.contains(run); }

 private:
  struct Holder {
    std::size_t member = 0;
    Reader::Made made;
  };

  /// `sweep`: of the folder's store, which took in what earlier parts had.
  void add(const Group& group, std::optional<u64> sweep) {
    for (const std::string& file : group) {
      std::optional<Member> member = open_member(file, copy_in(copies_, members_.size()));
      if (!member) continue;
      if (!part_of_file(file) && member->plan) sweep = member->plan->digest;
      if (sweep && member->plan && member->plan->digest != *sweep) member->plan.reset();
      members_.push_back(std::move(*member));
    }
  }

  void take(std::size_t index) {
    for (const Held& held : members_[index].runs) {
      if (!held.damage.empty()) continue;
      const auto [place, first] = chosen_.emplace(held.run, Holder{index, held.made});
      if (!first && is_better(held.made, place->second.made)) place->second = {index, held.made};
    }
  }

  /// Those of the version that is chosen have the same result; what other versions have does not matter.
  void agree(std::size_t index) {
    for (const Held& held : members_[index].runs) {
      if (!held.damage.empty()) continue;
      const Holder& chosen = chosen_.at(held.run);
      if (chosen.member == index || chosen.made.version != held.made.version) continue;
      if (chosen.made.state_hash != held.made.state_hash) {
        const bool before = chosen.member < index;
        const Holder other{index, held.made};
        conflict(held.run, before ? chosen : other, before ? other : chosen);
      }
      ++shared_;
    }
  }

  [[noreturn]] void conflict(u64 run, const Holder& a, const Holder& b) const {
    conflict(run, members_[a.member].file, a.made, members_[b.member].file, b.made);
  }
  [[noreturn]] void conflict(u64 run, const std::string& a, const Reader::Made& in_a, const std::string& b,
                             const Reader::Made& in_b) const {
    throw ConfigError({b, 0, 0, ""},
                      fmt::format("overlaps with {}, and they differ in the result of {}: state hash {} here, {} there",
                                  a, point_text(run), in_b.state_hash, in_a.state_hash),
                      "find with \"banyan verify\" the one that this Banyan gives again, and leave the other out");
  }

  [[nodiscard]] std::string point_text(u64 run) const {
    for (const Member& member : members_) {
      for (std::size_t i = 0; member.plan && i < member.plan->points.size(); ++i) {
        if (member.plan->points[i].run == run) return fmt::format("point {}", member.plan->points[i].position);
      }
    }
    return "a point";
  }

  [[nodiscard]] bool lacks(const Writer& store, const Held& held) const {
    const Reader::Made there = store.reader().made(held.run);
    if (there.version.empty() || !store.reader().damage(held.run).empty()) return true;
    if (there.version == held.made.version && there.state_hash != held.made.state_hash) {
      conflict(held.run, store.reader().path(), there, members_[chosen_.at(held.run).member].file, held.made);
    }
    return is_better(held.made, there);
  }

  [[nodiscard]] bool complete(const std::optional<Plan>& plan) const {
    if (!plan || plan->points.size() < plan->total) return false;
    return std::all_of(plan->points.begin(), plan->points.end(),
                       [&](const Plan::Point& point) { return chosen_.contains(point.run); });
  }

  [[noreturn]] static void refuse(const Member& member, const std::string& cause, const std::optional<Plan>& plan) {
    const std::optional<SweepPart> part = part_of_file(member.file);
    if (!plan || (!part && member.failure)) {
      throw ConfigError({member.file, 0, 0, ""}, cause,
                        "restore it from a copy, or remove it and run its points again");
    }
    Source source = plan->source;
    fs::path folder = fs::path(member.file).parent_path();
    if (part) source.options.push_back("--part=" + to_text(*part));
    if (part) folder = folder.parent_path();
    throw ConfigError({member.file, 0, 0, ""}, cause,
                      fmt::format("{}run its points again: {}", member.failure ? "remove it and " : "",
                                  continuation(source, folder.empty() ? "." : folder.string())));
  }

  TemporaryFolder copies_;
  std::vector<Member> members_;
  std::size_t others_ = 0;  ///< members that come from elsewhere; all, where nothing is merged
  std::map<u64, Holder> chosen_;
  u64 shared_ = 0;
};

std::shared_ptr<const Joined> joined(const Join& join, const std::optional<Plan>& plan) {
  auto result = std::make_shared<const Joined>();
  Writer store(fs::path(result->file()).parent_path().string(), result->file());
  store.hurry();
  join.fill(store);
  if (plan) store.plan(*plan);
  store.keep();
  return result;
}

/// The name of this host, in letters that may stand in a file's name.
std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "host";
  std::string text = name.data();
  for (char& c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!plain) c = '_';
  }
  return text.empty() ? "host" : text;
}

std::optional<u32> number_in(std::string_view text) {
  u32 value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(value) : std::nullopt;
}

/// What the table of a store has; nothing where it is damaged, and thus to be written anew.
std::optional<Plan> plan_of(const Writer& store) {
  try {
    return store.reader().plan();
  } catch (const ConfigError&) { return std::nullopt; }
}

/// Adds what a plan of the same sweep has.
void add_plan(const Plan& from, Plan& to) {
  Points points;
  add_points(to, points);
  add_points(from, points);
  to.points = list(std::move(points));
  if (is_less(from.source, to.source)) to.source = from.source;
}

}  // namespace

SweepPart read_part(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto refuse = [&](const std::string& cause) {
    throw ConfigError({"command line", 0, 0, "--part"}, cause,
                      "write --part i/n with i from 1 to n, such as --part 2/8 for the second of eight workers");
  };
  if (slash == std::string::npos) refuse(fmt::format("\"{}\" is no part", text));
  const std::optional<u32> index = number_in(std::string_view(text).substr(0, slash));
  const std::optional<u32> count = number_in(std::string_view(text).substr(slash + 1));
  if (!index || !count) refuse(fmt::format("\"{}\" is no part", text));
  if (*count == 0) refuse("there are no parts of which this could be one");
  if (*index > *count) refuse(fmt::format("there is no part {} of {}", *index, *count));
  return {*index == 0 ? *count : *index, *count};
}

std::string to_text(const SweepPart& part) { return fmt::format("{}/{}", part.index, part.count); }

std::vector<std::size_t> places_of(const api::ExperimentSet& set, const SweepPart& part) {
  std::map<u64, std::size_t> numbers;  // of runs, in the order in which they come
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < set.points.size(); ++i) {
    const auto [number, first] = numbers.emplace(set.points[i].configuration_hash, numbers.size());
    if (number->second % part.count == part.index - 1) places.push_back(i);
  }
  return places;
}

std::string new_part_file(const std::string& folder, const SweepPart& part) {
  const fs::path parts = fs::path(folder) / kPartsFolder;
  std::error_code error;
  fs::create_directories(parts, error);
  if (error) {
    throw ConfigError({parts.string(), 0, 0, ""}, fmt::format("cannot be made: {}", error.message()),
                      "name another folder, or mend its permissions or the space on its disk");
  }
  // Hosts may share a name, and containers the numbers of their processes: hardly at one nanosecond.
  const auto now = static_cast<u64>(std::chrono::system_clock::now().time_since_epoch().count());
  return (parts / fmt::format("{}-of-{}.{}.{}-{:x}{}", part.index, part.count, host_name(), getpid(), now, kExtension))
      .string();
}

std::vector<std::string> part_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(fs::path(folder) / kPartsFolder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (part_of_file(entry->path().string())) files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<SweepPart> part_of_file(const std::string& file) {
  const fs::path path(file);
  const std::string name = path.filename().string();
  constexpr std::string_view kOf = "-of-";
  const std::size_t of = name.find(kOf);
  const std::size_t dot = name.find('.');
  if (path.extension() != kExtension || of == std::string::npos || dot == std::string::npos || dot < of) {
    return std::nullopt;
  }
  const std::optional<u32> index = number_in(std::string_view(name).substr(0, of));
  const std::size_t after = of + kOf.size();
  const std::optional<u32> count = number_in(std::string_view(name).substr(after, dot - after));
  if (!index || !count) return std::nullopt;
  return SweepPart{*index, *count};
}

bool has_parts(const std::string& folder) { return !part_files(folder).empty(); }

std::string Joined::file() const { return store_file(folder_.path()); }

/// The first of these files that says of which sweep it is, if that is another one. The others were asked the same when
/// they were made.
std::string first_of_another(const std::vector<std::string>& files, const Plan& plan) {
  const TemporaryFolder copies;
  for (const std::string& file : files) {
    const std::optional<Member> member = open_member(file, copy_in(copies, 0));
    if (!member || !member->plan) continue;
    return member->plan->digest == plan.digest ? std::string() : file;
  }
  return {};
}

std::shared_ptr<const Joined> join_parts(const std::string& folder) {
  const Join join({group_of(folder)});
  const std::optional<Plan> plan = join.plan();
  join.require_whole(plan);
  return joined(join, plan);
}

std::shared_ptr<const Joined> join_for_part(const std::string& folder, const Plan& plan, const SweepPart& part,
                                            const Tell& tell) {
  Group files = group_of(folder);
  // Other parts of the same cut have none of these points, but they tell whose folder this is.
  const auto mine = std::stable_partition(files.begin(), files.end(), [&](const std::string& file) {
    const std::optional<SweepPart> other = part_of_file(file);
    return other && other->count == part.count && other->index != part.index;
  });
  const std::vector<std::string> others(files.begin(), mine);
  std::vector<Group> alone;
  for (auto file = mine; file != files.end(); ++file) alone.push_back({std::move(*file)});
  const Join join(alone);
  const auto refuse = [&](const std::string& file) {
    throw ConfigError({folder, 0, 0, ""}, fmt::format("{} is of another sweep", file),
                      "name another folder with --out, or give the experiment and its key=value as they were");
  };
  if (const Member* other = join.of_another(plan)) refuse(other->file);
  // What a store has taken in may be of earlier sweeps.
  if (!join.has_plan()) {
    if (const std::string other = first_of_another(others, plan); !other.empty()) refuse(other);
  }
  join.tell_damage(tell);
  return joined(join, std::nullopt);
}

std::vector<u64> runs_in(const std::string& folder) { return Join({group_of(folder)}).runs(api::version()); }

void absorb_parts(const std::string& folder, Writer& store, const Tell& tell) {
  const std::vector<std::string> files = part_files(folder);
  if (files.empty()) return;
  const Join join({files});
  join.tell_damage(tell);
  join.fill(store);
}

MergeReport merge(const std::vector<std::string>& from, Writer& into) {
  std::vector<Group> groups;
  for (const std::string& name : from) {
    std::error_code ignored;
    groups.push_back(fs::is_directory(name, ignored) ? group_of(name) : Group{name});
    // Refuses what is no store, in the words of every command.
    if (groups.back().empty()) static_cast<void>(Reader(name));
    if (!fs::exists(groups.back().front(), ignored)) static_cast<void>(Reader(name));
  }
  const std::optional<Plan> there = plan_of(into);
  const Join join(groups, other_parts(into.folder(), groups), there ? std::optional<u64>(there->digest) : std::nullopt);
  std::optional<Plan> plan = join.plan();
  if (there && plan && there->digest != plan->digest) refuse_place(into.folder(), from.front());
  join.require_whole(plan);
  if (!plan) {
    throw ConfigError({from.front(), 0, 0, ""}, "the result store holds no finished run",
                      "fill it with \"banyan sweep FILE --part i/n --out FOLDER\"");
  }
  join.fill(into);
  // A store that has points already keeps them: parts are often merged one after the other.
  if (there) add_plan(*there, *plan);
  into.plan(*plan);
  MergeReport report{plan->total, 0, join.shared(), 0};
  for (const Plan::Point& point : plan->points) {
    const std::string version = into.reader().made(point.run).version;
    if (version.empty() || !into.reader().damage(point.run).empty()) continue;
    ++report.finished;
    report.others += version == api::version() ? 0U : 1U;
  }
  return report;
}

}  // namespace banyan::store
