// Question: do streams that are advanced in closed form do the same, cycle by cycle, as flits that are moved one by
// one?
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/switching/circuit/streams.hpp"

namespace banyan::circuit_streams_test {
namespace {

using switching::parts::CircuitStreams;
using switching::parts::Sharing;

/// The plain way: every flit is an entry of a queue, every cycle looks at every channel.
class Plain {
 public:
  Plain(u32 channels, u32 vcs, u32 circuits, Sharing sharing)
      : sharing_(sharing), owner_(channels, std::vector<int>(vcs, -1)), last_(channels, 0), circuits_(circuits) {}

  [[nodiscard]] bool is_free(u32 channel, u32 vc) const { return owner_[channel][vc] < 0; }
  void reserve(u32 circuit, u32 channel, u32 vc) {
    owner_[channel][vc] = static_cast<int>(circuit);
    circuits_[circuit].path.push_back({channel, vc});
    circuits_[circuit].buffers.emplace_back();
  }
  void release_last(u32 circuit) {
    const auto [channel, vc] = circuits_[circuit].path.back();
    owner_[channel][vc] = -1;
    circuits_[circuit].path.pop_back();
    circuits_[circuit].buffers.pop_back();
  }
  void start(u32 circuit, u32 flits) {
    for (u32 i = 1; i <= flits; ++i) circuits_[circuit].source.push_back(i == flits);
    circuits_[circuit].on = true;
  }

  /// Frees what tails have crossed in the cycle before.
  void begin_cycle() {
    for (const auto& [channel, vc] : crossed_) owner_[channel][vc] = -1;
    crossed_.clear();
  }
  /// Moves the data of one cycle; tells of every tail that crosses a channel, and of first flits that arrive.
  template <class Tail, class Head>
  void end_cycle(const Tail& tail, const Head& head) {
    struct Move {
      u32 circuit;
      u32 stage;
    };
    std::vector<Move> moves;
    for (u32 c = 0; c < owner_.size(); ++c) {
      const u32 vcs = static_cast<u32>(owner_[c].size());
      for (u32 k = 1; k <= vcs; ++k) {
        const u32 vc = (last_[c] + k) % vcs;
        if (owner_[c][vc] < 0) continue;
        const u32 circuit = static_cast<u32>(owner_[c][vc]);
        const int stage = sender(circuit, c, vc);
        if (sharing_ == Sharing::demand && stage < 0) continue;
        last_[c] = vc;
        if (stage >= 0) moves.push_back({circuit, static_cast<u32>(stage)});
        break;
      }
    }
    // Everybody decided on the state of the beginning of the cycle.
    std::map<std::pair<u32, u32>, bool> flits;
    for (const Move& m : moves) {
      Circuit& k = circuits_[m.circuit];
      std::deque<bool>& from = m.stage == 0 ? k.source : k.buffers[m.stage - 1];
      flits[{m.circuit, m.stage}] = from.front();
      from.pop_front();
    }
    for (const auto& [place, is_tail] : flits) {
      const auto [circuit, stage] = place;
      Circuit& k = circuits_[circuit];
      if (stage + 1 < k.path.size()) {
        k.buffers[stage].push_back(is_tail);
      } else if (!k.arrived) {
        k.arrived = true;
        head(circuit);
      }
      if (!is_tail) continue;
      crossed_.push_back(k.path[stage]);
      tail(circuit, stage);
      if (stage + 1 == k.path.size()) k = Circuit{};
    }
  }

 private:
  struct Circuit {
    std::vector<std::pair<u32, u32>> path;
    std::deque<bool> source;  ///< flits, true for the tail
    std::vector<std::deque<bool>> buffers;
    bool on = false;
    bool arrived = false;
  };

  /// The stage at which a circuit can send over (channel, vc) now, or -1.
  [[nodiscard]] int sender(u32 circuit, u32 channel, u32 vc) const {
    const Circuit& k = circuits_[circuit];
    if (!k.on) return -1;
    for (u32 j = 0; j < k.path.size(); ++j) {
      if (k.path[j] != std::pair{channel, vc}) continue;
      const bool has = !(j == 0 ? k.source : k.buffers[j - 1]).empty();
      const bool place = j + 1 == k.path.size() || k.buffers[j].size() < 2;
      return has && place ? static_cast<int>(j) : -1;
    }
    return -1;
  }

  Sharing sharing_;
  std::vector<std::vector<int>> owner_;
  std::vector<u32> last_;
  std::vector<Circuit> circuits_;
  std::vector<std::pair<u32, u32>> crossed_;
};

struct Case {
  u32 channels;
  u32 vcs;
  u32 circuits;
  u32 longest_path;
  u32 longest_message;
  Sharing sharing;
  Tick cycles;
};

/// Circuits are set up, given up and started at random on both; every crossing must come at the same cycle.
void compare(const Case& x, u64 seed) {
  CircuitStreams streams(x.channels, x.vcs, x.circuits, x.sharing, x.channels);
  streams.clear();
  Plain plain(x.channels, x.vcs, x.circuits, x.sharing);
  enum class State { idle, setting_up, streaming };
  std::vector<State> state(x.circuits, State::idle);
  std::vector<u32> goal(x.circuits);
  std::vector<u32> length(x.circuits);
  std::vector<Tick> look(x.circuits, kNever);
  const Random random(seed, Stream{"test"}, 1, 0);

  std::vector<std::vector<Tick>> expected(x.circuits);  ///< crossings of the present message
  std::vector<Tick> expected_head(x.circuits, kNever);
  std::vector<std::vector<Tick>> seen(x.circuits);
  u64 messages = 0;
  u64 busy = 0;
  u64 squares = 0;
  for (Tick now = 0; now < x.cycles; ++now) {
    plain.begin_cycle();
    for (u32 c = 0; c < x.circuits; ++c) {
      if (look[c] != now || state[c] != State::streaming) continue;
      const u32 before = streams.released(c);
      const u32 crossed = streams.settle(c, now);
      ASSERT_LE(crossed, before + 1);
      if (crossed != before) seen[c].push_back(now - 1);
      look[c] = kNever;
      if (crossed != streams.stages(c)) continue;
      ASSERT_EQ(seen[c], expected[c]) << "circuit " << c << " at " << now;
      ASSERT_EQ(streams.head_arrival(c), expected_head[c]);
      streams.finish(c);
      state[c] = State::idle;
      ++messages;
    }
    for (u32 c = 0; c < x.circuits; ++c) {
      const Words words = random.at(c, now);
      if (state[c] == State::idle) {
        if (below(words[0], 8) != 0) continue;
        state[c] = State::setting_up;
        goal[c] = 1 + below(words[1], x.longest_path);
        length[c] = 0;
        seen[c].clear();
        expected[c].clear();
        expected_head[c] = kNever;
      }
      if (state[c] != State::setting_up) continue;
      if (length[c] == goal[c]) {
        const u32 flits = 1 + below(words[2], x.longest_message);
        streams.start(c, flits, now);
        plain.start(c, flits);
        state[c] = State::streaming;
        continue;
      }
      const u32 channel = below(words[2], x.channels);
      const u32 vc = below(words[3], x.vcs);
      bool mine = false;
      for (u32 j = 0; j < length[c]; ++j) mine = mine || streams.channel_of(c, j) == channel;
      if (!mine && plain.is_free(channel, vc)) {
        ASSERT_EQ(streams.reserved(channel) >> vc & 1U, 0U);
        streams.reserve(c, channel, vc, now);
        plain.reserve(c, channel, vc);
        ++length[c];
      } else if (length[c] != 0 && below(words[1], 4) == 0) {
        streams.release_last(c, now);
        plain.release_last(c);
        --length[c];
      }
    }
    if (streams.sharing()) {
      streams.share(now, [&](u32 c) { look[c] = now + 1; });
    }
    streams.take_touched([&](u32 c) {
      if (const Tick next = streams.next_look(c); next != kNever) look[c] = next;
    });
    plain.end_cycle([&](u32 c, u32) { expected[c].push_back(now); }, [&](u32 c) { expected_head[c] = now + 1; });
    for (u32 c = 0; c < x.channels; ++c) {
      const u64 reserved = static_cast<u64>(std::popcount(streams.reserved(c)));
      busy += reserved;
      squares += reserved * reserved;
    }
    for (u32 c = 0; c < x.circuits; ++c) {
      if (look[c] != kNever) { ASSERT_GT(look[c], now); }
    }
  }
  EXPECT_FALSE(streams.late());
  EXPECT_GT(messages, x.cycles / (x.longest_message * x.vcs * 4));
  EXPECT_LE(streams.busy(), busy);  // what came after a channel's last change is not counted yet
  EXPECT_GT(static_cast<double>(streams.busy()), 0.9 * static_cast<double>(busy));
  EXPECT_LE(streams.squares(), squares);
  EXPECT_GT(static_cast<double>(streams.squares()), 0.9 * static_cast<double>(squares));
}

const std::vector<Case>& cases(Sharing sharing) {
  static std::map<Sharing, std::vector<Case>> all;
  std::vector<Case>& list = all[sharing];
  if (list.empty()) {
    list = {{1, 1, 2, 1, 5, sharing, 3000},        {1, 3, 4, 1, 9, sharing, 3000},
            {4, 2, 8, 4, 32, sharing, 20'000},     {12, 2, 16, 8, 64, sharing, 20'000},
            {6, 6, 20, 6, 40, sharing, 20'000},    {5, 4, 12, 5, 3, sharing, 10'000},
            {30, 8, 40, 12, 100, sharing, 20'000}, {3, 64, 70, 3, 500, sharing, 20'000}};
  }
  return list;
}

TEST(CircuitStreams, turns_over_reserved_channels_agree_with_flits_moved_one_by_one) {
  for (u64 seed = 1; const Case& x : cases(Sharing::tdm)) {
    SCOPED_TRACE(seed);
    compare(x, seed++);
    if (HasFatalFailure()) return;
  }
}

TEST(CircuitStreams, turns_on_demand_agree_with_flits_moved_one_by_one) {
  for (u64 seed = 101; const Case& x : cases(Sharing::demand)) {
    SCOPED_TRACE(seed);
    compare(x, seed++);
    if (HasFatalFailure()) return;
  }
}

TEST(SlowCircuitStreams, agree_on_many_seeds) {
  for (u64 seed = 1000; seed < 1040; ++seed) {
    for (const Sharing sharing : {Sharing::tdm, Sharing::demand}) {
      for (const Case& x : cases(sharing)) {
        SCOPED_TRACE(seed);
        compare(x, seed);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(CircuitStreams, a_lone_stream_takes_one_cycle_per_flit_and_one_per_channel) {
  for (u32 stages = 1; stages <= CircuitStreams::kMostStages; ++stages) {
    for (const u32 flits : {1U, 2U, 3U, 32U, 1000U}) {
      CircuitStreams streams(stages, 2, 1, Sharing::tdm, stages);
      streams.clear();
      for (u32 j = 0; j < stages; ++j) streams.reserve(0, j, j % 2, 0);
      streams.start(0, flits, 7);
      Tick now = kNever;
      streams.take_touched([&](u32 c) { now = streams.next_look(c); });
      while (streams.settle(0, now) != stages) now = streams.next_look(0);
      EXPECT_EQ(now, 7 + flits + stages - 1);
      EXPECT_EQ(streams.head_arrival(0), 7 + stages);
      EXPECT_EQ(streams.reserved(stages - 1), 0U);
    }
  }
}

}  // namespace
}  // namespace banyan::circuit_streams_test
