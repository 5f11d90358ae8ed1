#include "banyan/engine/run_keeper.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <regex>
#include <string_view>
#include <system_error>

#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::engine {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// First line of every checkpoint; the number counts changes of the encoding and of what is written.
constexpr const char* kMagic = "Banyan checkpoint, format 8\n";
constexpr const char* kAnyMagic = "Banyan checkpoint, format ";
constexpr std::size_t kRoom = std::size_t{1} << 16U;  ///< bytes of a buffer; a multiple of those of a word

struct Closes {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closes>;

/// A digest of bytes that come in any pieces.
class Digest {
 public:
  /// A multiple of 8 bytes, but for the last time.
  void add(const char* data, std::size_t size) {
    size_ += size;
    for (; size >= 8; data += 8, size -= 8) {
      u64 word = 0;
      std::memcpy(&word, data, 8);
      hasher_.add(word);
    }
    u64 word = 0;
    std::memcpy(&word, data, size);
    hasher_.add(word);
  }
  [[nodiscard]] u64 value() const {
    Hasher last = hasher_;
    last.add(size_);
    return last.value();
  }

 private:
  Hasher hasher_;
  u64 size_ = 0;
};

[[nodiscard]] std::string reason() { return errno != 0 ? std::strerror(errno) : "unknown reason"; }

class ArchiveToFile final : public Archive {
 public:
  explicit ArchiveToFile(const std::string& path) : Archive(false), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) throw std::runtime_error(reason());
    buffer_.reserve(kRoom);
  }
  /// Writes what is left and the digest of all.
  void finish() {
    flush();
    const u64 digest = digest_.value();
    if (std::fwrite(&digest, 1, sizeof digest, file_.get()) != sizeof digest || std::fflush(file_.get()) != 0 ||
        fsync(fileno(file_.get())) != 0) {
      throw std::runtime_error(reason());
    }
  }

 private:
  void bytes(void* data, std::size_t size) override {
    const char* from = static_cast<const char*>(data);
    while (size != 0) {
      const std::size_t now = std::min(size, kRoom - buffer_.size());
      buffer_.append(from, now);
      from += now;
      size -= now;
      if (buffer_.size() == kRoom) flush();
    }
  }
  void flush() {
    errno = 0;
    digest_.add(buffer_.data(), buffer_.size());
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size())
      throw std::runtime_error(reason());
    buffer_.clear();
  }

  File file_;
  std::string buffer_;
  Digest digest_;
};

class ArchiveOfFile final : public Archive {
 public:
  explicit ArchiveOfFile(const std::string& path) : Archive(true), file_(std::fopen(path.c_str(), "rb")) {
    if (file_ == nullptr) throw std::runtime_error(reason());
  }

 private:
  void bytes(void* data, std::size_t size) override {
    if (size != 0 && std::fread(data, 1, size, file_.get()) != size) throw ArchiveMismatch("the state ends too early");
  }

  File file_;
};

void add_header(Archive& a, CheckpointHeader& header) {
  std::string magic = kMagic;
  a.row(magic.data(), magic.size());
  a(header);
}

[[noreturn]] void refuse(const std::string& file, const std::string& cause, const std::string& remedy) {
  throw ConfigError({file, 0, 0, ""}, cause, remedy);
}

/// Whether the last 8 bytes are the digest of those before.
[[nodiscard]] bool is_whole(std::FILE* file, u64 size) {
  if (size < sizeof(u64)) return false;
  Digest digest;
  std::string buffer(kRoom, '\0');
  for (u64 left = size - sizeof(u64); left != 0;) {
    const std::size_t now = std::min<u64>(left, kRoom);
    if (std::fread(buffer.data(), 1, now, file) != now) return false;
    digest.add(buffer.data(), now);
    left -= now;
  }
  u64 written = 0;
  return std::fread(&written, 1, sizeof written, file) == sizeof written && written == digest.value();
}

/// Removes the temporary files beside that one whose processes are gone, on this machine.
void remove_abandoned_beside(const std::string& path) {
  const fs::path place(path);
  const std::string before = "." + place.filename().string() + ".";
  constexpr std::string_view kAfter = ".tmp";
  std::vector<fs::path> abandoned;
  std::error_code error;
  for (fs::directory_iterator entry(place.has_parent_path() ? place.parent_path() : ".", error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(before) || !name.ends_with(kAfter) || name.size() < before.size() + kAfter.size()) continue;
    const std::string_view digits =
        std::string_view(name).substr(before.size(), name.size() - before.size() - kAfter.size());
    pid_t process = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), process);
    if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || process <= 0) continue;
    if (kill(process, 0) != 0 && errno == ESRCH) abandoned.push_back(entry->path());
  }
  for (const fs::path& file : abandoned) fs::remove(file, error);
}

}  // namespace

CheckpointHeader read_checkpoint_header(const std::string& path, const std::string& program) {
  errno = 0;
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {  // to open a pipe may wait for ever
    refuse(path, fmt::format("cannot be read: it is {}", fs::is_directory(path, error) ? "a directory" : "no file"),
           "name a file that --checkpoint wrote");
  }
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    refuse(path, fmt::format("cannot be read: {}", reason()), "name a file that --checkpoint wrote");
  }
  std::string start(std::strlen(kMagic), '\0');
  start.resize(std::fread(start.data(), 1, start.size(), file.get()));
  if (!start.starts_with(kAnyMagic)) refuse(path, "is no checkpoint", "name a file that --checkpoint wrote");
  const auto other = [&](const std::string& whose) {
    refuse(path, fmt::format("was written by {}, and this is Banyan {}", whose, program),
           "go on with the program that wrote it, or run the experiment from its start");
  };
  if (start != kMagic) other("a Banyan whose checkpoints have another format");
  std::rewind(file.get());
  const u64 size = fs::file_size(path, error);
  if (error || !is_whole(file.get(), size)) {
    refuse(path, "is damaged or was cut: its digest is another one than it was written with",
           "use an earlier copy, or run the experiment from its start");
  }
  CheckpointHeader header;
  ArchiveOfFile a(path);
  add_header(a, header);
  if (header.program != program) other("Banyan " + header.program);
  return header;
}

std::string part_of_checkpoint(const std::string& file, u64 identity, u32 rank) {
  return fmt::format("{}.{:016x}.{}", file, identity, rank);
}

RunKeeper::RunKeeper(Setup setup) : setup_(std::move(setup)), last_(Clock::now()) {
  if (setup_.ranks != nullptr) setup_.header.ranks = setup_.ranks->size();
  if (is_pipe_or_device(setup_.file)) {
    refuse(setup_.file, "is no regular file, and a checkpoint takes the place of the one before", "name a file");
  }
  if (!setup_.resume.empty()) open_resumed();
}

void RunKeeper::open_resumed() {
  const u32 here = setup_.header.ranks;
  const auto open = [&](const std::string& file) {
    reader_ = std::make_unique<ArchiveOfFile>(file);
    CheckpointHeader header;
    add_header(*reader_, header);
    return header;
  };
  const CheckpointHeader header = open(setup_.resume);
  if (header.ranks != here) {
    const auto processes = [](u32 n) { return n == 1 ? std::string("one process") : fmt::format("{} processes", n); };
    refuse(setup_.resume,
           fmt::format("was written by {}, and this run has {}", processes(header.ranks), processes(here)),
           header.ranks == 1 ? "go on without mpirun" : fmt::format("go on with mpirun -n {}", header.ranks));
  }
  if (setup_.ranks != nullptr) {
    const std::string part = part_of_checkpoint(setup_.resume, header.identity, setup_.ranks->rank());
    std::error_code ignored;
    if (!fs::exists(part, ignored)) {
      refuse(part, fmt::format("is not there, and {} names it: each process has a file of its own", setup_.resume),
             fmt::format("put it back beside {}, where all processes see it, or run the experiment from its start",
                         setup_.resume));
    }
    static_cast<void>(read_checkpoint_header(part, setup_.header.program));
    if (open(part).identity != header.identity)
      refuse(part, fmt::format("belongs to another checkpoint than {}", setup_.resume),
             "name the files as they were, or run the experiment from its start");
  }
  (*reader_)(unread_);
}

RunKeeper::~RunKeeper() = default;

RunKeeper::Part::Part(RunKeeper* keeper, State state) : keeper_(keeper) {
  if (keeper_ == nullptr) return;
  if (keeper_->unread_ != 0) {
    state(*keeper_->reader_);
    if (--keeper_->unread_ == 0) keeper_->reader_.reset();
  }
  keeper_->parts_.push_back(std::move(state));
}

RunKeeper::Part::~Part() {
  if (keeper_ != nullptr) keeper_->parts_.pop_back();
}

bool RunKeeper::due() const { return !saved_ ? !setup_.file.empty() : due_since(last_); }

bool RunKeeper::due_since(Clock::time_point last) const {
  if (setup_.file.empty()) return false;
  const bool due = std::chrono::duration<double>(Clock::now() - last).count() >= setup_.seconds;
  if (setup_.ranks == nullptr) return due;
  return setup_.ranks->sum(setup_.ranks->rank() == 0 && due, [](bool& any, bool more) { any |= more; });
}

void RunKeeper::save() {
  if (setup_.file.empty()) return;
  failure_ = setup_.ranks == nullptr ? put(setup_.file, true) : put_parts();
  if (!failure_.empty() && !saved_) {
    refuse(setup_.file, "the checkpoint cannot be written: " + failure_,
           "name another place, or mend its permissions or the space on its disk");
  }
  saved_ = true;
  last_ = Clock::now();
}

/// Why it could not be written; empty: it was.
std::string RunKeeper::put(const std::string& place, bool state) const {
  // What runs have left that were killed while they wrote takes the room of this one.
  remove_abandoned_beside(place);
  const std::string temporary = temporary_beside(place);
  std::error_code ignored;
  std::error_code error;
  std::string failure;
  try {
    write(temporary, state);
    fs::rename(temporary, place, error);
    if (error) failure = error.message();
  } catch (const NotArchived&) {
    fs::remove(temporary, ignored);
    throw;
  } catch (const std::runtime_error& problem) { failure = problem.what(); }
  if (!failure.empty()) fs::remove(temporary, ignored);
  return failure;
}

/// A rank may be killed at any time: the file that names the others changes when all of them are whole.
std::string RunKeeper::put_parts() {
  Ranks& ranks = *setup_.ranks;
  const auto first_failure = [&](std::string own) {
    return ranks.sum(std::move(own), [](std::string& first, const std::string& more) {
      if (first.empty()) first = more;
    });
  };
  const u64 now = static_cast<u64>(std::chrono::system_clock::now().time_since_epoch().count());
  setup_.header.identity = ranks.sum(ranks.rank() == 0 ? now : u64{0}, [](u64& sum, u64 more) { sum += more; });
  const std::string part = part_of_checkpoint(setup_.file, setup_.header.identity, ranks.rank());
  std::error_code ignored;
  std::string failure = first_failure(put(part, true));
  if (failure.empty()) failure = first_failure(ranks.rank() == 0 ? put(setup_.file, false) : std::string());
  if (!failure.empty()) {
    fs::remove(part, ignored);
    return failure;
  }
  remove_old_parts(part);
  return failure;
}

/// Those of the checkpoint before, and what ranks left that were killed while they wrote. Each rank removes what has
/// its number, or one that there is no rank for any more.
void RunKeeper::remove_old_parts(const std::string& own) const {
  const fs::path place(setup_.file);
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
  const std::regex part("\\.?(.*)\\.([0-9a-f]{16})\\.([0-9]{1,9})(\\.[0-9]+\\.tmp)?");
  std::vector<fs::path> old;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    std::smatch words;
    if (name == fs::path(own).filename().string() || !std::regex_match(name, words, part)) continue;
    const auto rank = static_cast<u32>(std::stoul(words[3]));
    if (words[1] == place.filename().string() && rank % setup_.header.ranks == setup_.ranks->rank())
      old.push_back(entry.path());
  }
  for (const fs::path& file : old) fs::remove(file, ignored);
}

void RunKeeper::write(const std::string& temporary, bool state) const {
  ArchiveToFile a(temporary);
  CheckpointHeader header = setup_.header;
  add_header(a, header);
  u64 parts = state ? parts_.size() : 0;
  a(parts);
  for (u64 i = 0; i < parts; ++i) parts_[i](a);
  a.finish();
}

}  // namespace banyan::engine
