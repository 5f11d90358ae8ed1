// What the tests of workload readers share: files of their own, schedules as text, and damage.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/workload/schedule.hpp"

namespace banyan::test {

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// "0: send 8 to 1 tag 0 after 2" per operation, rank by rank; '<' before what has only to begin.
inline std::string text_of(const workload::Schedule& schedule) {
  using workload::OperationKind;
  std::string text;
  for (u32 r = 0; r < schedule.ranks.size(); ++r) {
    const workload::RankSchedule& rank = schedule.ranks[r];
    text += fmt::format("rank {}\n", r);
    std::vector<std::string> after(rank.operations.size());
    for (u32 i = 0; i < rank.operations.size(); ++i) {
      for (const workload::Dependent& dependent : rank.dependents_of(i)) {
        after[dependent.operation] += fmt::format(" {}{}", dependent.after_start ? "<" : "", i);
      }
    }
    for (u32 i = 0; i < rank.operations.size(); ++i) {
      const workload::Operation& o = rank.operations[i];
      text += fmt::format("  {}: ", i);
      const std::string peer = o.peer == workload::kAnyPeer ? "any" : std::to_string(o.peer);
      if (o.kind == OperationKind::send) text += fmt::format("send {} to {} tag {}", o.amount, peer, o.tag);
      if (o.kind == OperationKind::receive) text += fmt::format("recv {} from {} tag {}", o.amount, peer, o.tag);
      if (o.kind == OperationKind::calculate) text += fmt::format("calc {} core {}", o.amount, o.cpu);
      text += (after[i].empty() ? "" : " after" + after[i]) + "\n";
    }
  }
  return text;
}

/// The error of a reader as one line; "" when there is none.
inline std::string refusal(const std::function<void()>& read) {
  try {
    read();
  } catch (const ConfigError& error) {
    const Where& where = error.where();
    std::string text = std::filesystem::path(where.file).filename().string();
    if (where.line != 0) text += fmt::format(":{}:{}", where.line, where.column);
    return text + ": " + error.cause() + "; " + error.remedy();
  }
  return "";
}

/// Reads damaged copies of a file: cut, changed, with bytes more. Nothing but a ConfigError may come of it.
inline void expect_survives_damage(const std::string& bytes, const std::filesystem::path& file,
                                   const std::function<void()>& read, u32 copies = 400) {
  std::mt19937 random(7);
  u32 refused = 0;
  for (u32 copy = 0; copy < copies; ++copy) {
    std::string damaged = bytes;
    const u32 changes = 1 + static_cast<u32>(random() % 3);
    for (u32 k = 0; k < changes && !damaged.empty(); ++k) {
      const std::size_t at = random() % damaged.size();
      switch (random() % 5) {
        case 0:
          damaged.resize(at);
          break;
        case 1:
          damaged[at] = static_cast<char>(random());
          break;
        case 2:
          damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
          break;
        case 3:
          damaged.insert(at, std::string(1 + random() % 9, static_cast<char>(random())));
          break;
        default:
          damaged.erase(at, 1 + random() % 9);
      }
    }
    write_bytes(file, damaged);
    try {
      read();
    } catch (const ConfigError& error) {
      ++refused;
      ASSERT_FALSE(error.cause().empty());
      ASSERT_FALSE(error.where().file.empty()) << error.cause();
    }
  }
  EXPECT_GT(refused, copies / 4);
  write_bytes(file, bytes);
}

}  // namespace banyan::test
