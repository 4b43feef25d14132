"""Chess on a GPU: the same games as elsewhere, what bounds them, and what is another's layout."""

import ctypes
import functools
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

import rungs
from rungs._src.chess.boards.device import Host
from rungs._src.compile import loader
from rungs._src.compile.abi import described
from rungs.errors import MismatchError
from rungs_course.measure.race import steps_of
from rungs_course.measure.turns import timed_rounds
from rungs_course.measure.verify import verify_games

# Bytes that a GPU fetches at a time, and threads that go together.
LINE, SECTOR, WARP = 128, 32, 32

# Ways to run the kernels' code on the host, a change apart.
HOST_WAYS = ("vectors, a board in one place", "plain, a board in one place", "plain, as on a GPU")


def check_same(where: str, num_envs: int, steps: int, seed: int) -> None:
    """Plays the rungs cuda and cpp side by side, and compares all that they return, bit for bit.

    Args:
        where: "cuda", or "cpu", where the kernels' code is run by the host.
        num_envs: boards.
        steps: random plies of each.
        seed: of games and actions.

    Raises:
        MismatchError: they differ; the message names step and output.
    """
    ours = rungs.make("chess", "cuda", num_envs, device=where, mask="bits")
    theirs = rungs.make("chess", "cpp", num_envs, mask="bits")
    verify_games({"cpp": theirs, f"cuda on {where}": ours}, seed=seed, steps=steps)


def ply_bytes() -> dict[str, int]:
    """Returns what a random ply has to move of a board on a GPU (`board`, `bits`): bytes by name.

    A board plays on from memory and is written back after every ply; keys of past positions are
    read too, eight bytes each, as many as there are.
    """
    return {
        "position, key and counts, read and written": 2 * 88,
        "legal actions, read to choose one": 584,
        "legal actions, written": 584,
        "key of the position left, written": 8,
        "mask": 584,
        "observation": 72,
        "reward, flags and codes": 9,
    }


def race_layouts(
    board_counts: Iterable[int], *, plies: int, repeats: int, warmup: int, seed: int
) -> pd.DataFrame:
    """Times random plies on the host: with vectors, without, and in a GPU's layout.

    One compiler, g++, makes all three of the same headers, and they play the same games.

    Args:
        board_counts: numbers of boards.
        plies: of all boards, in a repeat.
        repeats: how often each is timed, in turns.
        warmup: rounds that come first, untimed.
        seed: of the games.

    Returns:
        A row per way, number of boards and repeat: `racer` (of `HOST_WAYS`), `num_envs`, `repeat`,
        `plies`, `seconds`.

    Raises:
        MismatchError: they stand at different positions at the end.
        CompilerError: there is no g++.
    """
    rows = []
    for num_envs in board_counts:
        steps = steps_of(plies, num_envs)
        how: dict[str, Any] = {"device": "cpu", "mask": "bits", "validate": False}
        on_gpu: Any = rungs.make("chess", "cuda", num_envs, **how)
        together = [rungs.make("chess", "cpp", num_envs, mask="bits") for _ in range(2)]
        for env in (on_gpu, *together):
            env.reset(seed=seed)
        plays: list[Callable[[], Any]] = [
            _together(Host(vectors=True), together[0].boards),
            _together(Host(), together[1].boards),
            functools.partial(on_gpu.boards.step_many, 1),
        ]
        racers = {
            way: functools.partial(_seconds, play, steps)
            for way, play in zip(HOST_WAYS, plays, strict=True)
        }
        rows += [
            (way, num_envs, repeat, steps * num_envs, seconds)
            for way, repeat, seconds in timed_rounds(racers, repeats=repeats, warmup=warmup)
        ]
        if not all(env.fens() == on_gpu.fens() for env in together):
            raise MismatchError(f"{num_envs} boards: the host's ways play different games")
    return pd.DataFrame(rows, columns=["racer", "num_envs", "repeat", "plies", "seconds"])


def _together(host: Host, boards: Any) -> Callable[[], None]:
    """Returns what plays a ply on each of `rungs._src.chess.boards.cpp.CppBoards`."""
    ended, batch = ctypes.c_int64(), boards.memory.address
    return lambda: host.run("step_many_together", 0, batch, 1, ctypes.addressof(ended))


def _seconds(play: Callable, steps: int) -> float:
    start = time.perf_counter()
    for _ in range(steps):
        play()
    return time.perf_counter() - start


def follow(num_envs: int, plies: int, seed: int) -> pd.DataFrame:
    """Follows random games by what a kernel's thread loops over or decides in each ply.

    Returns:
        A row per ply and board: `ply`, `board`; loops by how often a thread goes around: `keys`, of
        past positions compared, and `planes`, looked through for the action; and `ended`, whether
        the game did, after which the next one begins in the same step.
    """
    env = rungs.make("chess", "cpp", num_envs, mask="bits")
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    frames = []
    for ply in range(plies):
        actions = env.sample_actions(rng)
        observation, _, terminated, truncated, info = env.step(actions)
        ended = terminated | truncated
        clock = observation[:, 69].copy()  # halfmoves since a pawn moved or a piece was taken
        if "final_obs" in info:
            clock[ended] = info["final_obs"][ended, 69]
        loops = {"keys": clock.astype(int), "planes": actions // 64 + 1, "ended": ended.astype(int)}
        frames.append(pd.DataFrame({"ply": ply, "board": np.arange(num_envs)} | loops))
    return pd.concat(frames, ignore_index=True)


def at_work(followed: pd.DataFrame, lanes: int = WARP) -> pd.DataFrame:
    """Returns how much of a warp works in a loop that lasts as long as its longest lane's.

    Args:
        followed: of `follow`.
        lanes: threads of a warp; a group of fewer boards at the end is left out.

    Returns:
        A row per loop: `loop`, `lane` and `warp` (means of how often a thread needs to go around,
        and of how often its warp does), and `at_work`, the share of lanes that do something.
    """
    whole = followed[followed["board"] < followed["board"].nunique() // lanes * lanes]
    warps = whole.groupby(["ply", whole["board"] // lanes])
    rows = []
    for loop in ("keys", "planes", "ended"):
        lane, warp = float(whole[loop].mean()), float(warps[loop].max().mean())
        rows.append((loop, lane, warp, lane / warp if warp else 1.0))
    return pd.DataFrame(rows, columns=["loop", "lane", "warp", "at_work"])


def fetched(num_boards: int, threads: int = WARP, word: int = 0) -> pd.DataFrame:
    """Returns where in memory neighbouring threads find the same word of a board each.

    Args:
        num_boards: of the batch.
        threads: that read, each of its own board, from board 0 on.
        word: which, of those that a board has.

    Returns:
        A row per layout and thread: `layout` ("array of structures", "structure of arrays"),
        `board`, `byte`, `line` (of `LINE` bytes), `sector` (of `SECTOR`, which memory hands over).
    """
    constants = described(loader.load()).constants
    words = sum(constants[name] for name in ("device_words", "planes", "fifty_moves"))
    board = np.arange(threads)
    at = {
        "array of structures": 8 * (board * words + word),
        "structure of arrays": 8 * (word * num_boards + board),
    }
    return pd.concat(
        pd.DataFrame(
            {
                "layout": layout,
                "board": board,
                "byte": byte,
                "line": byte // LINE,
                "sector": byte // SECTOR,
            }
        )
        for layout, byte in at.items()
    )
