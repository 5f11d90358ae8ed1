#include "banyan/engine/ranks.hpp"

#include "banyan/base/error.hpp"

namespace banyan::engine {

Ranks::Ranks(RankTransport& transport)
    : transport_(transport), rank_(transport.rank()), size_(transport.size()), out_(size_), in_(size_) {
  begin();
}

/// Every text begins with its kind.
void Ranks::begin() {
  for (std::string& text : out_) text.assign(kHeader, '\0');
}

void Ranks::meet(Kind kind) {
  for (std::string& text : out_) text.front() = static_cast<char>(kind);
  transport_.swap(out_, in_);
  begin();
  for (u32 r = 0; r < size_; ++r) {
    if (r == rank_ || in_[r].front() == static_cast<char>(kind)) continue;
    if (in_[r].front() != static_cast<char>(Kind::failure)) throw InvariantError("ranks came to different meetings");
    RankFailure failure;
    throw RankFailed(read(r, failure));
  }
}

RankFailure Ranks::fail(int status, const std::string& reason) {
  RankFailure first{rank_, status, reason};
  ArchiveToText written;
  written(first);
  const std::string text = std::string(1, static_cast<char>(Kind::failure)) + written.take();
  out_.assign(size_, text);
  transport_.swap(out_, in_);
  begin();
  for (u32 r = 0; r < rank_; ++r) {
    if (in_[r].front() == static_cast<char>(Kind::failure)) return read(r, first);
  }
  return first;
}

}  // namespace banyan::engine
