"""Random games on the rung `cpp`, compared ply by ply with other move generators; with a log.

After each ply an oracle must find the same legal actions and the same end of the game. What is
independent of what:

- `mailbox` and `tables` are C++ of notebook 03 (`cpp/course/step_mailbox.hpp`, a board of 64
  squares that looks out from the king; `step_bitboards.hpp`, attack tables, pins and a check mask).
  The rung has no code of theirs that generates or plays a move; all three share authors, the
  numbering of actions, the reader of FENs and constants (ranks, directions), and the two share
  lists of moves. They know no draws but stalemate.
- `python-chess` and `OpenSpiel` are others' programs, behind our translations of actions. They
  check draws, too; both are slow, and check a sample.

A run is cut into chunks, each of which follows from its oracle and seed alone: the same games for
all oracles with chunks of one size. The log has a line of JSON for each; a run that was stopped
plays those that are missing, and all of them where this file, one in `cpp` or the published
positions have changed.

    python -m tests.proof.differential --log FILE [--oracle NAME ...] [--plies N] [--processes N]
"""

import argparse
import contextlib
import ctypes
import functools
import hashlib
import json
import multiprocessing
import os
import sys
import time
import weakref
from pathlib import Path

import chess
import numpy as np

import rungs
from rungs._src import paths
from rungs._src.chess.actions import NUM_ACTIONS, legal_actions, move_of
from rungs._src.chess.boards.native import parse_fen
from rungs._src.chess.perft import read_epd
from rungs._src.chess.reason import Reason
from rungs._src.core.memory import zeroed_lines
from rungs._src.native import loader
from rungs_course import compiled
from rungs_course.machine.naming import slug
from rungs_course.notebooks import nb17_versions
from rungs_course.peers.open_spiel import TO_OURS, load_chess, to_open_spiel

PUBLISHED = Path(__file__).parent / "data" / "random.epd"


class Cpp:
    """Boards of one of notebook 03's versions."""

    # By the rung's reason, in order, what `play` may return. A stalemate may be of insufficient
    # material, too.
    ENDS = ((0,), (1,), (2,), (0, 2), (0,), (0,))

    def __init__(self, version, fens):
        self._api = compiled.load_steps(*nb17_versions.NATIVE)
        name = ctypes.create_string_buffer(version.encode())
        self._boards = self._api.rungs_steps_new(ctypes.addressof(name), len(fens))
        weakref.finalize(self, self._api.rungs_steps_delete, self._boards)
        self._masks = zeroed_lines(len(fens) * NUM_ACTIONS).reshape(-1, NUM_ACTIONS)
        self._ends = np.zeros(len(fens), np.int8)
        begins = self._positions(fens)
        self._api.rungs_steps_start(self._boards, begins.ctypes.data, self._masks.ctypes.data)

    def play(self, actions, ended, begins):
        """Plays a ply on each board, and begins the next games where the rung has `ended` one.

        Returns the masks after that, (N, 4672) bool, and how each ply ended its game, (N,) int.
        """
        positions, actions = self._positions(begins), actions.astype(np.int16)
        arrays = (actions, ended, positions, self._masks, self._ends)
        self._api.rungs_steps_play(self._boards, 1, *(array.ctypes.data for array in arrays))
        return self._masks.view(np.bool_), self._ends

    def _positions(self, fens):
        api = loader.load()
        return np.array([parse_fen(api, fen) for fen in fens], np.uint64).reshape(-1, 8)


class Listed:
    """Boards of a program that is asked for lists, one game after the other."""

    def __init__(self, fens):
        self._games = [self.game(fen) for fen in fens]

    def play(self, actions, ended, begins):
        """See `Cpp.play`."""
        begins, ends = iter(begins), []
        masks = np.zeros((len(actions), NUM_ACTIONS), np.bool_)
        for i, action in enumerate(actions.tolist()):
            ends.append(self.push(self._games[i], action))
            if ended[i]:
                self._games[i] = self.game(next(begins))
            masks[i, self.legal(self._games[i])] = True
        return masks, np.array(ends)


class PythonChess(Listed):
    """python-chess, a draw as soon as it could be claimed."""

    ENDS = ((0,), (1,), (2,), (3,), (4,), (5,))

    def game(self, fen):
        return chess.Board(fen)

    def push(self, board, action):
        board.push(move_of(action, board))
        for reason, holds in (
            (Reason.CHECKMATE, board.is_checkmate),
            (Reason.INSUFFICIENT_MATERIAL, board.is_insufficient_material),
            (Reason.STALEMATE, board.is_stalemate),
            (Reason.FIFTY_MOVES, board.is_fifty_moves),
            (Reason.THREEFOLD_REPETITION, functools.partial(board.is_repetition, 3)),
        ):
            if holds():
                return int(reason)
        return 0

    def legal(self, board):
        return list(legal_actions(board))


class OpenSpiel(Listed):
    """OpenSpiel's states, which say who won, and not why a game is drawn."""

    ENDS = ((0,), (1,), (2,), (2,), (2,), (2,))

    def game(self, fen):
        return load_chess().new_initial_state(fen)

    def push(self, state, action):
        state.apply_action(to_open_spiel(action, state.legal_actions()))
        return 0 if not state.is_terminal() else 1 if any(state.returns()) else 2

    def legal(self, state):
        return TO_OURS[state.legal_actions()]


# By name: what makes it of FENs, the boards and steps of a chunk, and the plies of a whole run.
ORACLES = {
    "mailbox": (functools.partial(Cpp, "arrays"), 256, 4096, 10**9),
    "tables": (functools.partial(Cpp, "pins"), 256, 4096, 10**9),
    "python-chess": (PythonChess, 32, 512, 10**7),
    "OpenSpiel": (OpenSpiel, 32, 512, 10**7),
}


@functools.cache
def published_starts():
    """Returns the published perft positions from which a game can begin, with their clocks."""
    fens = [f"{case.fen} 0 1" for case in read_epd(PUBLISHED)]
    return [fen for fen in fens if not chess.Board(fen).is_game_over()]


def play_chunk(oracle, seed, boards, steps):
    """Plays a chunk's games, with an odd seed from published positions; returns its line."""
    began = time.process_time()
    starts = published_starts() if seed % 2 else [chess.STARTING_FEN]
    env = rungs.make("chess", "cpp", boards, start_fens=starts)
    _, info = env.reset(seed=seed)
    fens = env.fens()
    theirs = oracle(fens)
    allowed = np.zeros((len(Reason), len(Reason)), np.bool_)
    for reason, ends in enumerate(theirs.ENDS):
        allowed[reason, list(ends)] = True
    rng, digest = np.random.default_rng(seed), hashlib.sha256("\n".join(fens).encode())
    played, first = [], np.zeros(boards, np.int64)  # the step each board's game begins at
    wrong = {}
    for step in range(steps):
        actions = env.sample_actions(rng)
        *_, terminated, truncated, info = env.step(actions)
        played.append(actions.astype(np.int16))
        ended, reasons = terminated | truncated, info["reason"]
        digest.update(played[-1].tobytes() + reasons.tobytes())
        begun = {int(i): env.boards.fen(int(i)) for i in np.flatnonzero(ended)}
        masks, ends = theirs.play(actions, ended, list(begun.values()))
        same = allowed[reasons, ends]
        equal = np.array_equal(masks.view(np.uint64), info["action_mask"].view(np.uint64))
        if not equal or not same.all():
            differs = (masks != info["action_mask"]).any(axis=1)
            board = int(np.flatnonzero(differs | ~same)[0])
            game = [int(row[board]) for row in played[first[board] :]]
            fen = fens[board]
            if board in begun and same[board]:  # the masks are of the next game
                fen, game = begun[board], []
            wrong = {"step": step, "board": board}
            wrong |= _fault(fen, game, masks[board], info["action_mask"][board])
            wrong |= {"oracle": int(ends[board]), "rung": Reason(reasons[board]).name.lower()}
            break
        for i in begun:
            fens[i], first[i] = begun[i], step + 1
    env.close()
    return {
        "seed": seed,
        "plies": (step + 1) * boards,
        "digest": digest.hexdigest(),
        "verdict": "differs" if wrong else "same",
        "seconds": round(time.process_time() - began, 3),
    } | wrong


def _fault(fen, game, theirs, ours):
    """Names the position of a difference, and the moves of the game that led there."""
    position, moves = chess.Board(fen), []
    for action in game:
        moves.append(move_of(action, position))
        position.push(moves[-1])
    only = {
        name: [str(move_of(int(action), position)) for action in np.flatnonzero(mask)]
        for name, mask in (("oracle_only", theirs & ~ours), ("rung_only", ours & ~theirs))
    }
    found = {"ply": len(moves), "fen": fen, "moves": " ".join(map(str, moves))}
    return found | {"position": position.fen()} | only


def read_log(path):
    """Returns the lines of a log, which may be missing; cuts off a last one that is torn.

    Raises ValueError where another line is no JSON.
    """
    if not path.exists():
        return []
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        os.truncate(path, len(whole))
    return [json.loads(line) for line in whole.splitlines()]


def summary(lines):
    """Returns, for each oracle, its plies, chunks, seconds of a core, rate and differences."""
    text = []
    for name in dict.fromkeys(line["name"] for line in lines):
        of = [line for line in lines if line["name"] == name]
        plies, seconds = (sum(line[key] for line in of) for key in ("plies", "seconds"))
        wrong = sum(line["verdict"] != "same" for line in of)
        text.append(
            f"{name}: {plies:,} plies in {len(of):,} chunks, {wrong} of which differ; "
            f"{seconds:,.0f} s of a core, {plies / seconds:,.0f} plies/s"
        )
    return "\n".join(text)


def run(log, names, plies=None, processes=1, oracles=ORACLES):
    """Plays all chunks that the log does not have; returns its lines, of these sources.

    `plies` are those of each oracle, rounded up to whole chunks; None for those of `oracles`.
    """
    lines = read_log(log)
    files = [Path(__file__), PUBLISHED]
    files += sorted(each for each in paths.CPP.rglob("*") if each.is_file())
    source = hashlib.sha256(b"\0".join(each.read_bytes() for each in files)).hexdigest()[:12]
    lines = [line for line in lines if line["source"] == source]
    done = {(line["name"], line["seed"]) for line in lines}
    facts = {"source": source, "machine": slug()}
    tasks = []
    for name in names:
        oracle, boards, steps, whole = oracles[name]
        chunks = -(-(plies or whole) // (boards * steps))
        seeds = [seed for seed in range(chunks) if (name, seed) not in done]
        tasks += [(name, oracle, seed, boards, steps) for seed in seeds]
    with log.open("a") as file, contextlib.ExitStack() as stack:
        play = map
        if processes > 1:
            context = multiprocessing.get_context("spawn")
            play = stack.enter_context(context.Pool(processes)).imap_unordered
        for line in play(_play, tasks):
            lines.append(line | facts)
            file.write(json.dumps(lines[-1]) + "\n")
            file.flush()
            os.fsync(file.fileno())
    return lines


def _play(task):
    name, *how = task
    return {"name": name} | play_chunk(*how)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--oracle", dest="names", action="append", choices=ORACLES)
    parser.add_argument("--plies", type=lambda text: int(float(text)))
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    lines = run(options.log, options.names or list(ORACLES), options.plies, options.processes)
    print(summary(lines))
    wrong = [line for line in lines if line["verdict"] != "same"]
    for line in wrong[:10]:
        print(json.dumps(line, indent=1))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
