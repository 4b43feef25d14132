"""Notebook 17: each version of a step (`cpp/course/steps.cpp`) plays chess; their race."""

import functools
import itertools
from pathlib import Path

import chess
import numpy as np
import pandas as pd
import pytest

from rungs._src import paths
from rungs._src.chess.perft import read_epd
from rungs._src.chess.unpack import unpack_mask
from rungs._src.native import gpp
from rungs.chess import from_uci
from rungs.errors import MismatchError
from rungs_course import compiled
from rungs_course.notebooks import nb17_versions as nb17
from rungs_course.notebooks.nb17_mailbox import Mailbox, legal_moves
from tests.processes import succeed

DATA = Path(__file__).parents[1] / "proof" / "data"
every_version = pytest.mark.parametrize("name", nb17.VERSIONS)


def is_classical(fen):
    """Whether its rights to castle are those of classical chess, as the versions know no other."""
    rights = chess.Board(fen, chess960=True).clean_castling_rights()
    return chess.Board(fen).clean_castling_rights() == rights


@functools.cache
def trees(max_leaves, step):
    """Positions, depths and published leaves: all tricky positions, and some random ones."""
    some = itertools.islice(read_epd(DATA / "random.epd"), None, None, step)
    cases = [*read_epd(DATA / "tricky.epd"), *some]
    cases = [case for case in cases if is_classical(case.fen)]
    assert len(cases) > 12
    return [
        (case.fen, depth, leaves)
        for case in cases
        for depth, leaves in case.leaves.items()
        if leaves <= max_leaves
    ]


@pytest.fixture(scope="module")
def api():
    return compiled.load_steps(*nb17.NATIVE)


@pytest.fixture(scope="module")
def games():
    games = nb17.random_games(45, 40, seed=5)
    assert games.begins  # at least one game ends
    return games


@pytest.fixture(scope="module")
def outcomes(games):
    """How python-chess says that the games stand at the end."""
    boards = nb17.PythonBoards(nb17.ChessBoard, games)
    boards.play(games.steps)
    np.testing.assert_array_equal(nb17.bits(boards.masks), games.masks[-1])
    return boards.outcomes


@every_version
def test_a_version_counts_trees_as_published(api, games, name):
    boards = nb17.VersionBoards(api, name, games)
    for fen, depth, leaves in trees(1_000 if name == "first" else 5_000, 4):
        assert boards.perft(fen, depth) == leaves, fen


@every_version
def test_a_version_plays_random_games_in_lockstep(api, games, outcomes, name):
    boards = nb17.VersionBoards(api, name, games)
    for ply in range(games.steps):
        boards.play(ply + 1)
        np.testing.assert_array_equal(nb17.bits(boards.masks), games.masks[ply])
    np.testing.assert_array_equal(boards.outcomes, outcomes)


def test_the_mailbox_in_python_plays_the_same(games, outcomes):
    boards = nb17.PythonBoards(Mailbox, games)
    boards.play(games.steps)
    np.testing.assert_array_equal(nb17.bits(boards.masks), games.masks[-1])
    np.testing.assert_array_equal(boards.outcomes, outcomes)


def leaves_of(board, depth):
    if not depth:
        return 1
    total = 0
    for move in list(legal_moves(board)):
        after = board.copy()
        after.make(move)
        total += leaves_of(after, depth - 1)
    return total


def test_the_mailbox_in_python_counts_trees_as_published():
    for fen, depth, leaves in trees(500, 10):
        assert leaves_of(Mailbox(fen), depth) == leaves, fen


def test_games_on_the_first_boards_or_repeated_in_one_batch_are_the_same(games, api):
    number = np.flatnonzero(games.ends.any(axis=0))[0] + 1  # the last of them begins a second game
    fewer = nb17.on_boards(games, np.arange(number), games.steps)
    more = nb17.on_boards(games, np.tile(np.arange(games.num_envs), 3), 30)
    assert len(more.begins) == 3 * games.ends[:30].sum() > 0
    versions = [nb17.VersionBoards(api, "memory", played) for played in (fewer, more)]
    for racer in (*versions, nb17.WholeRung("cpp", fewer)):
        racer.play(racer.games.steps)
        np.testing.assert_array_equal(nb17.bits(racer.masks), racer.games.masks[-1])
    np.testing.assert_array_equal(fewer.masks[-1], games.masks[-1, :number])
    np.testing.assert_array_equal(more.masks[-1], np.concatenate([games.masks[29]] * 3))


@pytest.mark.needs("llvm-mca")
@pytest.mark.parametrize(
    "flags", [pytest.param("-O3", marks=pytest.mark.system), "-O3 -march=native"]
)
def test_a_loop_of_each_version_is_read_and_simulated(flags):
    for version in nb17.LOOPS:
        loops = nb17.side_by_side(version, version, flags).data
        assert "cycles an iteration" in loops, version


@every_version
@pytest.mark.parametrize(
    ("fen", "uci", "outcome"),
    [
        ("6k1/5ppp/8/8/8/8/8/KR6 w - - 0 1", "b1b8", 1),
        ("7k/8/8/5Q2/8/8/8/K7 w - - 0 1", "f5f7", 2),
        ("6k1/5ppp/8/8/8/8/8/KR6 w - - 0 1", "b1b7", 0),
    ],
)
def test_mate_and_stalemate_are_distinguished(api, name, fen, uci, outcome):
    actions, ends = np.array([[from_uci(uci, fen)]], np.int16), np.zeros((1, 1), bool)
    boards = nb17.VersionBoards(api, name, nb17.Games([fen], 0, [fen], actions, ends, [], None))
    boards.play(1)
    assert boards.outcomes.tolist() == [outcome]


@pytest.mark.system
def test_none_reads_or_writes_where_it_must_not(games, tmp_path):
    flags = ["-std=c++20", "-O1", "-g", "-march=native", "-w"]
    flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    program = gpp.build("versions-sanitized", paths.CPP / "course" / "bench_versions.cpp", flags)
    input_file, output_file = tmp_path / "games", tmp_path / "masks"
    nb17.write(games, input_file)
    for name in nb17.VERSIONS:
        succeed([program, name, games.num_envs, games.steps, input_file, output_file])
        masks = np.frombuffer(output_file.read_bytes(), np.uint8).reshape(games.num_envs, -1)
        np.testing.assert_array_equal(nb17.bits(masks), games.masks[-1])


def test_gains_are_over_the_row_before_and_over_the_first():
    nanoseconds = {"python": 1000.0, "first": 100.0, "king": 50.0, "cpp": 200.0}
    rows = [
        (racer, repeat, 10, ply * (1 + repeat) * 1e-8)
        for racer, ply in nanoseconds.items()
        for repeat in range(3)
    ]
    times = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])
    table = nb17.waterfall(times, 1e-7)
    assert table["racer"].tolist() == ["python", "first", "king", "cpp"]
    np.testing.assert_allclose(table["nanoseconds"], [2000, 200, 100, 400])
    np.testing.assert_allclose(table["relative"], [1, 10, 2, 0.25])
    np.testing.assert_allclose(table["absolute"], [1, 10, 20, 5])
    np.testing.assert_allclose(table["share"], [0.05, 0.5, 1, 0.25])


class Racer:
    """Takes half a second for each step; may err in the last action of the last board."""

    def __init__(self, games, errs=False):
        self.games, self.errs = games, errs

    def play(self, steps):
        self.masks = unpack_mask(self.games.masks[steps - 1])
        self.masks[-1, -1] ^= self.errs
        return 0.5 * steps


@pytest.mark.parametrize(("seconds", "steps"), [(0.1, 1), (1.0, 2), (100.0, 40)])
def test_the_slow_play_fewer_steps(games, seconds, steps):
    effort = {"repeats": 2, "warmup": 0, "seconds": seconds}
    times = nb17.race_versions({"slow": Racer(games)}, **effort)
    assert times["plies"].tolist() == [games.num_envs * steps] * 2


def test_nothing_is_timed_that_finds_other_actions(games):
    racers = {"right": Racer(games), "erring": Racer(games, errs=True)}
    with pytest.raises(MismatchError, match="erring"):
        nb17.race_versions(racers, repeats=1, warmup=0, seconds=0.1)
