"""The open lab: a step of 512 boards in any way, compared with the time to write its outputs."""

import functools

import chess
import numpy as np

from rungs.chess import NUM_PLANES
from rungs.machine import usable_cores
from rungs_course.labs.arrays import compare
from rungs_course.labs.harness import for_case
from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Lab, Unit

_BOARDS, _TEAMS, _COUNTS = 512, (1, 2, 3), (1, 9, 300)
_WORDS, _ACTIONS = 8, 64 * NUM_PLANES


def _fen_of(words: np.ndarray) -> str:
    """Returns a position's FEN, its mover as White; rights to castle are left out."""
    board = chess.Board(None)
    for kind, bits in enumerate(words[:6].tolist(), 1):
        for square in chess.SquareSet(bits):
            is_movers = bool(int(words[6]) >> square & 1)
            board.set_piece_at(square, chess.Piece(kind, is_movers))
    return board.fen()


def _judge(submission, baseline):
    for count in _COUNTS:
        now = np.empty((count, _WORDS), np.uint64)
        actions = np.empty(count, np.int16)
        baseline.random_games(29, now, actions, count)
        expected, masks = np.empty_like(now), np.empty((count, _ACTIONS), np.uint8)
        baseline.call(now, actions, expected, masks, count, 1)
        fen = functools.partial(lambda rows, i, _: _fen_of(rows[i]), expected)
        for threads in _TEAMS:
            next_positions = guarded_empty(now.shape, np.uint64)
            mask = guarded_empty(masks.shape, np.uint8)
            submission.call(guarded(now), guarded(actions), next_positions, mask, count, threads)
            team = f"of {count}, stepped by {threads} thread{'s' * (threads > 1)}"
            word = f"position {{}} {team}: word {{}}".format
            yield compare(next_positions, expected, word, exact=True, fen=fen)
            byte = f"the mask of position {{}} {team}: byte {{}}".format
            yield compare(mask, masks, byte, exact=True, fen=fen)


LAB = Lab(
    "open",
    ("step",),
    _judge,
    target=0.2,
    cause="any cause",
    headers=("chess/boards.hpp", "env/mask.hpp", "rungs/thread_pool.hpp"),
    **for_case(
        f"""
using GamePosition = rungs::chess::Position;
// A legal action of a position, or -1 where the game is over.
inline int random_action(const GamePosition& from, std::uint64_t random) {{
  rungs::chess::LegalActions legal;
  rungs::chess::generate(from, legal);
  const int any = rungs::chess::count(legal);
  return any ? rungs::env::nth_action(legal, static_cast<int>(random % any)) : -1;
}}
// Positions after up to 79 random plies, and a legal action of each.
inline void random_games(std::uint64_t seed, std::uint64_t* words, std::int16_t* actions,
                         std::int64_t count) {{
  auto* positions = reinterpret_cast<GamePosition*>(words);
  for (std::int64_t i = 0; i < count; ++i) {{
    GamePosition p = rungs::chess::start_position();
    const int plies = static_cast<int>(mixed(seed + 128 * i) % 80);
    for (int ply = 0; ply <= plies; ++ply) {{
      const rungs::chess::Action action = random_action(p, mixed(seed + 128 * i + ply + 1) >> 8);
      if (action < 0) {{  // the game is over: another begins
        p = rungs::chess::start_position();
        actions[i] = static_cast<std::int16_t>(random_action(p, seed >> 8));
        break;
      }}
      actions[i] = static_cast<std::int16_t>(action);
      if (ply < plies) rungs::chess::play(p, action);
    }}
    positions[i] = p;
  }}
}}
inline void call(const std::uint64_t* now, const std::int16_t* actions, std::uint64_t* next,
                 std::uint8_t* masks, std::int64_t count, std::int32_t threads) {{
  step(reinterpret_cast<const GamePosition*>(now), actions, reinterpret_cast<GamePosition*>(next),
       masks, count, threads);
}}
struct Case {{
  static constexpr std::int64_t kCount = {_BOARDS}, kBytes = {_ACTIONS}, kChunk = 32;
  alignas(64) std::uint64_t now[8 * kCount], next[8 * kCount];
  alignas(64) std::uint8_t masks[kBytes * kCount];
  std::int16_t actions[kCount];
  rungs::ThreadPool pool{{{usable_cores()}}};
  // All positions of games that were played once, as they take long, each with an action of
  // several: more pairs than a race draws, so that to keep what becomes of each gains nothing.
  static constexpr std::int64_t kPlayed = 1 << 15, kEach = 8;
  std::vector<std::uint64_t> played;
  std::vector<std::int16_t> choices;
  void make(std::uint64_t seed) {{
    if (played.empty()) play_once(seed);
    for (std::int64_t i = 0; i < kCount; ++i) {{
      const std::uint64_t random = mixed(seed + i), which = random % kPlayed;
      __builtin_memcpy(now + 8 * i, played.data() + 8 * which, 64);
      actions[i] = choices[kEach * which + (random >> 32) % kEach];
    }}
  }}
  void play_once(std::uint64_t seed) {{
    played.resize(8 * kPlayed);
    choices.resize(kEach * kPlayed);
    auto* positions = reinterpret_cast<GamePosition*>(played.data());
    GamePosition p = rungs::chess::start_position();
    for (std::int64_t i = 0, ply = 0; i < kPlayed; ++ply) {{
      rungs::chess::LegalActions legal;
      rungs::chess::generate(p, legal);
      const int any = rungs::chess::count(legal);
      const auto action = [&](int n) {{
        const std::uint64_t random = mixed(seed - (kEach + 1) * i - n);
        return rungs::env::nth_action(legal, static_cast<int>(random % any));
      }};
      if (!any || ply == 80) {{  // the game is over: another begins
        p = rungs::chess::start_position();
        ply = -1;
        continue;
      }}
      for (int n = 0; n < kEach; ++n) choices[kEach * i + n] = static_cast<std::int16_t>(action(n));
      positions[i++] = p;
      rungs::chess::play(p, action(kEach));
    }}
  }}
  void run() {{ call(now, actions, next, masks, kCount, {usable_cores()}); }}
  // Writes as many bytes as a step writes.
  void bound() {{
    pool.run({usable_cores()}, kCount / kChunk, [&](std::int64_t chunk) {{
      __builtin_memset(masks + kBytes * kChunk * chunk, static_cast<int>(chunk), kBytes * kChunk);
      __builtin_memcpy(next + 8 * kChunk * chunk, now + 8 * kChunk * chunk, 64 * kChunk);
      return 0;
    }});
  }}
  std::uint64_t digest() const {{
    return harness::digest(next, sizeof next) + harness::digest(masks, sizeof masks);
  }}
}};
""",
        bounded=True,
    ),
    per=Unit("board", _BOARDS, 2 * 64 + 64 * NUM_PLANES, "L3"),
    bound=True,
)
