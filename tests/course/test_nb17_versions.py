"""The versions of one step (`cpp/course/steps.cpp`): each plays chess, as python-chess has it."""

import subprocess
from pathlib import Path

import chess
import numpy as np
import pytest

from rungs._src import paths
from rungs._src.chess.perft import read_epd
from rungs._src.native import cling, gpp
from rungs_course import compiled, nb17_versions
from rungs_course.nb17_mailbox import Mailbox, legal_moves

DATA = Path(__file__).parents[1] / "proof" / "data"
NAMES = list(nb17_versions.VERSIONS)


def is_classical(fen):
    """Whether its rights to castle are those of classical chess, as the versions know no other."""
    fen = fen if len(fen.split()) == 6 else f"{fen} 0 1"
    rights = chess.Board(fen, chess960=True).clean_castling_rights()
    return chess.Board(fen).clean_castling_rights() == rights


TRICKY, RANDOM = (
    [case for case in read_epd(DATA / name) if is_classical(case.fen)]
    for name in ("tricky.epd", "random.epd")
)


@pytest.fixture(scope="module")
def api():
    return compiled.load_steps(*nb17_versions.NATIVE)


@pytest.fixture(scope="module")
def games():
    return nb17_versions.random_games(45, 40, seed=5)


def test_there_are_enough_cases_and_an_end_of_a_game(games):
    assert len(TRICKY) > 12
    assert len(RANDOM) > 1000
    assert len(games.begins) > 0


@pytest.mark.parametrize("name", NAMES)
class TestVersion:
    def test_it_counts_trees_as_published(self, api, games, name):
        boards = nb17_versions.VersionBoards(api, name, games)
        most = 1_000 if name == "first" else 5_000
        for case in [*TRICKY, *RANDOM[::20]]:
            for depth, leaves in case.leaves.items():
                if leaves <= most:
                    assert boards.perft(case.fen, depth) == leaves, case.fen

    def test_it_plays_random_games_in_lockstep(self, api, games, name):
        boards = nb17_versions.VersionBoards(api, name, games)
        for ply in range(games.steps):
            boards.play(ply + 1)
            np.testing.assert_array_equal(nb17_versions.bits(boards.masks), games.masks[ply])


def test_boards_in_python_play_the_same_and_end_the_same(games, api):
    reference, mailbox = (
        nb17_versions.PythonBoards(board, games) for board in (nb17_versions.ChessBoard, Mailbox)
    )
    for boards in (reference, mailbox):
        boards.play(games.steps)
        np.testing.assert_array_equal(nb17_versions.bits(boards.masks), games.masks[-1])
    np.testing.assert_array_equal(mailbox.outcomes, reference.outcomes)
    for name in NAMES:
        boards = nb17_versions.VersionBoards(api, name, games)
        boards.play(games.steps)
        np.testing.assert_array_equal(boards.outcomes, reference.outcomes)


def leaves_of(board, depth):
    moves = list(legal_moves(board))
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        after = board.copy()
        after.make(move)
        total += leaves_of(after, depth - 1)
    return total


def test_the_mailbox_in_python_counts_trees_as_published():
    for case in [*TRICKY, *RANDOM[::50]]:
        for depth, leaves in case.leaves.items():
            if leaves <= 500:
                assert leaves_of(Mailbox(case.fen), depth) == leaves, case.fen


def test_games_repeated_in_one_batch_are_the_same(games, api):
    more = nb17_versions.repeated(games, 3, 30)
    assert len(more.begins) == 3 * games.ends[:30].sum() > 0
    boards = nb17_versions.VersionBoards(api, "memory", more)
    boards.play(30)
    np.testing.assert_array_equal(nb17_versions.bits(boards.masks), more.masks[-1])
    np.testing.assert_array_equal(more.masks[-1], np.concatenate([games.masks[29]] * 3))


@pytest.mark.system
def test_clings_are_the_same(games):
    api = cling.load()
    cling.include("course/steps.cpp")
    for name in ("first", "memory"):
        boards = nb17_versions.VersionBoards(api, name, games)
        boards.play(games.steps)
        np.testing.assert_array_equal(nb17_versions.bits(boards.masks), games.masks[-1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("before", "uci", "outcome"),
    [
        ("6k1/5ppp/8/8/8/8/8/KR6 w - - 0 1", (1, 57), 1),
        ("7k/8/8/5Q2/8/8/8/K7 w - - 0 1", (37, 53), 2),
        ("6k1/5ppp/8/8/8/8/8/KR6 w - - 0 1", (1, 49), 0),
    ],
)
def test_mate_and_stalemate_are_distinguished(api, name, before, uci, outcome):
    board = chess.Board(before)
    move = chess.Move(*uci)
    action = next(a for a, m in nb17_versions.legal_actions(board).items() if m == move)
    board.push(move)
    assert (board.is_checkmate(), board.is_stalemate()) == (outcome == 1, outcome == 2)
    shape = (1, 1)
    games = nb17_versions.Games(
        [before], 0, [before], np.full(shape, action, np.int16), np.zeros(shape, bool), [], shape
    )
    boards = nb17_versions.VersionBoards(api, name, games)
    boards.play(1)
    assert boards.outcomes.tolist() == [outcome]


@pytest.mark.system
def test_none_reads_or_writes_where_it_must_not(games, tmp_path):
    flags = ["-std=c++20", "-O1", "-g", "-march=native", "-Wall", "-Wextra", "-Werror"]
    flags += ["-Wno-psabi", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    program = gpp.build("versions-sanitized", paths.CPP / "course" / "bench_versions.cpp", flags)
    played, out = tmp_path / "games", tmp_path / "masks"
    nb17_versions.write(games, played)
    for name in NAMES:
        command = [program, name, games.num_envs, games.steps, played, out]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        masks = np.frombuffer(out.read_bytes(), np.uint8).reshape(games.num_envs, -1)
        np.testing.assert_array_equal(nb17_versions.bits(masks), games.masks[-1])
