"""Matches: both colours, the same openings, results that python-chess agrees with, and PGN."""

import contextlib
import io

import chess
import chess.pgn
import numpy as np
import pytest

import rungs
from rungs._src.chess.actions import action_on
from rungs._src.chess.reason import Reason
from rungs._src.search.search import Search
from rungs._src.search.settings import Gumbel, Puct
from rungs._src.selfplay.elo import Pairs
from rungs._src.selfplay.matches import MASK, Match, Table, material, pairs_of, play
from rungs._src.selfplay.players import NetworkPlayer, RandomPlayer
from rungs._src.train.evaluate import NetworkEvaluator
from rungs._src.train.network import PolicyValueNetwork
from rungs.errors import ConfigurationError


class Greedy:
    """Mates where it can, else takes the first legal move."""

    name = "greedy"

    def close(self):
        pass

    def choose(self, table):
        actions = table.info["action_mask"][:, 0].astype(np.int64)
        for game in np.flatnonzero(table.which):
            board = table.boards[game]
            for move in board.legal_moves:
                board.push(move)
                mate = board.is_checkmate()
                board.pop()
                if mate:
                    actions[game] = action_on(move, board)
        return actions


@pytest.fixture(scope="module")
def matches():
    return play(Greedy(), RandomPlayer(0), 20, seed=8, max_plies=60)


@pytest.fixture(scope="module")
def begun_by_black():
    return play(Greedy(), RandomPlayer(0), 20, seed=1, opening_plies=3, max_plies=60)


def test_white_is_who_plays_the_white_pieces(begun_by_black):
    """Whoever moves first: so do games whose opening would have ended with its last ply."""
    assert [match.white for match in begun_by_black] == ["random"] * 10 + ["greedy"] * 10
    for match in begun_by_black:
        start, played = match.board.root(), match.board.move_stack[0]
        assert start.turn == chess.BLACK
        if match.black == "greedy":
            least = min(start.legal_moves, key=lambda move: action_on(move, start))
            assert played == least or "#" in start.san(played)


def test_each_plays_half_of_the_games_with_white_from_the_same_openings(matches):
    assert [match.white for match in matches] == ["greedy"] * 10 + ["random"] * 10
    starts = [match.board.root().fen() for match in matches]
    assert starts[:10] == starts[10:]
    assert len(set(starts)) > 5


def test_results_are_those_of_python_chess(matches, begun_by_black):
    for match in matches + begun_by_black:
        end = match.board.outcome()
        if end:
            points = {True: 1, False: 0, None: 0.5}[end.winner]
            assert (match.reason.name, match.points) == (end.termination.name, points)
        elif match.reason == Reason.THREEFOLD_REPETITION:
            assert match.board.is_repetition(3)
        else:
            ahead = material(match.board)
            assert match.adjudicated
            assert match.points == (1 if ahead >= 5 else 0 if ahead <= -5 else 0.5)
            assert len(match.board.move_stack) == 60
    mates = {match.points for match in matches if match.reason == Reason.CHECKMATE}
    assert mates == {0, 1}  # by either side
    assert {match.points for match in matches if match.adjudicated} > {0.5}


def test_material_counts_pawns_and_is_told_in_pgn():
    for placement, ahead in {
        "4k3/8/8/8/8/8/8/R3K3": 5,
        "q3k3/8/8/8/8/8/7P/4K1N1": -5,
        "4k3/8/8/8/8/8/8/B3K3": 3,
    }.items():
        board = chess.Board(f"{placement} w - - 0 1")
        assert material(board) == ahead
        assert f"{ahead:+}" in Match("a", "b", board, Reason.MAX_PLIES, 0.5).pgn("a test")
    assert '[Termination "time forfeit"]' in Match("a", "b", board, None, 1.0).pgn("a test")


def test_a_pair_is_the_two_games_of_an_opening(matches):
    points = {}
    for match in matches:
        won = match.points if match.white == "greedy" else 1 - match.points
        points.setdefault(match.board.root().fen(), []).append(won)
    assert {len(games) for games in points.values()} == {2}  # no two openings are the same
    counts = tuple([sum(games) for games in points.values()].count(n / 2) for n in range(5))
    expected = Pairs(counts)
    assert pairs_of(matches) == {("greedy", "random"): expected}
    assert pairs_of(matches[::-1]) == {("random", "greedy"): Pairs(counts[::-1])}
    assert (expected.games, expected.points) == (20, sum(map(sum, points.values())))


def test_pgn_is_read_back(matches):
    for match in matches:
        game = chess.pgn.read_game(io.StringIO(match.pgn("a test")))
        assert not game.errors
        assert list(game.mainline_moves()) == match.board.move_stack
        assert game.board().fen() == match.board.root().fen()
        assert game.headers["White"] == match.white
        assert game.headers["Result"] == {1: "1-0", 0.5: "1/2-1/2", 0: "0-1"}[match.points]


def test_the_same_seed_plays_the_same_games(matches):
    again = play(Greedy(), RandomPlayer(0), 20, seed=8, max_plies=60)
    assert [m.board.move_stack for m in again] == [m.board.move_stack for m in matches]


@pytest.fixture
def network():
    return PolicyValueNetwork(width=16, blocks=0, keys=8)


def test_a_network_without_search_plays_its_likeliest_move(network):
    first, second = play(NetworkPlayer("a", network, 0), NetworkPlayer("b", network, 0), 2, seed=0)
    assert first.board.move_stack == second.board.move_stack  # by the same network
    assert first.points == second.points


def test_a_player_searches_by_its_rule(network):
    """As `Search` itself does, without noise."""
    evaluate = NetworkEvaluator(network)
    rules = {"gumbel": Gumbel(scale=0.0), "puct": Puct(fraction=0.0, temperature=0.0)}
    visits = {}
    with contextlib.closing(rungs.make("chess", "cpp", 2, mask=MASK, seed=[1, 2])) as env:
        observation, info = env.reset()
        table = Table(env, observation, info, [chess.Board(), chess.Board()], np.ones(2, bool))
        for policy, settings in rules.items():
            with contextlib.closing(NetworkPlayer("a", network, 40, policy=policy)) as player:
                visits[policy] = player.look(table).visits
            with Search(2, simulations=40, policy=settings, keep=False) as search:
                search.begin(env)
                assert (search.run(evaluate).visits == visits[policy]).all()
    assert (visits["gumbel"] != visits["puct"]).any()


def test_a_player_searches_by_the_stronger_rule_unless_told_otherwise(network):
    assert [NetworkPlayer("a", network, count).policy for count in (32, 1024)] == ["gumbel", "puct"]
    assert NetworkPlayer("a", network, 1024, policy="gumbel").policy == "gumbel"
    with pytest.raises(ConfigurationError, match="uct"):
        NetworkPlayer("a", network, 4, policy="uct")


def test_a_match_has_games():
    with pytest.raises(ConfigurationError, match="games=1"):
        play(Greedy(), RandomPlayer(0), 1, seed=0)
