"""The search in C++ makes the trees of the slow reference, visit for visit."""

import chess
import numpy as np
import pytest

import rungs
from rungs._src import paths
from rungs._src.chess.actions import from_uci
from rungs._src.chess.perft import read_epd
from rungs._src.chess.reason import Reason
from rungs._src.search.search import Search, uniform
from rungs._src.search.settings import Gumbel, Puct
from tests.library.search.made_up import ENDINGS, assert_evaluated, evaluate, random_fens
from tests.library.search.sameness import assert_same, search_both

DATA = paths.CPP.parent / "tests" / "proof" / "data"

SETTINGS = {
    "gumbel": {},
    "gumbel-few": {"policy": Gumbel(considered=3, scale=0.5), "seed": 2**64 - 1},
    "gumbel-silent": {"policy": Gumbel(scale=0.0, value_scale=1.0, maxvisit_init=0.0)},
    "gumbel-narrow": {"nodes": 26, "keep": True},
    "puct": {"policy": "puct"},
    "puct-silent": {"policy": Puct(fraction=0.0, temperature=0.0)},
    "puct-loud": {"policy": Puct(alpha=2.5, fraction=1.0, temperature=0.3, c_base=50.0)},
    "puct-anew": {"policy": Puct(alpha=0.03), "keep": False},
    "planes": {"obs": "planes", "dtype": "uint8"},
    "bitplanes": {"obs": "bitplanes"},
}

# Two plies before a position stands for the third time.
SHUFFLE = "7k/8/8/8/8/8/8/r5RK b - - 10 40"
TO_AND_FRO = ("a1b1", "g1f1", "b1a1", "f1g1", "a1b1", "g1f1")


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_trees(name):
    rng = np.random.default_rng(list(SETTINGS).index(name))
    games = [*ENDINGS[:3], *random_fens(rng, 3)]
    cpp = {"threads": 1, "batches": 1}
    search_both(games, assert_evaluated, rng, plies=3, simulations=24, cpp=cpp, **SETTINGS[name])


def test_ties_are_broken_alike():
    rng = np.random.default_rng(6)
    for policy in ("gumbel", "puct"):
        cpp = {"threads": 1}
        search_both(ENDINGS[:3], uniform, rng, plies=2, simulations=30, cpp=cpp, policy=policy)


def test_repetitions_fifty_moves_and_mates_on_the_path():
    rng = np.random.default_rng(7)
    settings = {"policy": Puct(c_init=30.0), "cpp": {"threads": 1}}
    reasons = search_both(ENDINGS, evaluate, rng, plies=4, simulations=40, **settings)
    there = {Reason.CHECKMATE, Reason.FIFTY_MOVES, Reason.INSUFFICIENT_MATERIAL}
    assert all(reasons[reason] for reason in there)


def test_repetitions_are_seen_in_the_tree():
    rng = np.random.default_rng(11)
    settings = {"policy": Puct(c_init=100.0, fraction=0.0), "cpp": {"threads": 1}}
    reasons = search_both(
        [SHUFFLE], evaluate, rng, plies=2, simulations=90, moves=TO_AND_FRO, **settings
    )
    assert reasons[Reason.THREEFOLD_REPETITION]


def test_a_pawn_moves_after_many_plies_without_one():
    """Of keys there is room for 100, and behind them lies the history of observations."""
    rng, start = np.random.default_rng(12), "4k3/8/8/8/8/8/P6P/4K3 w - - 0 1"
    board = chess.Board(start)
    while board.halfmove_clock < 98:
        moves = [m for m in board.legal_moves if not board.is_zeroing(m)]
        board.push(moves[rng.integers(len(moves))])
        if board.is_repetition(3):
            board.pop()
    pawns = [from_uci(move, start) for move in ("a2a3", "a2a4", "h2h3", "h2h4")]

    def down_one_line(observation, actions, counts):
        logits, values = evaluate(observation, actions, counts)
        preferred = np.isin(actions[:, : logits.shape[1]], pawns)
        return 8 * logits + 40 * preferred.astype(np.float32), 0 * values

    settings = {"policy": Puct(c_init=1.0, fraction=0.0), "obs": "bitplanes"}
    moves = [move.uci() for move in board.move_stack]
    cpp = {"threads": 1}
    search_both(
        [start], down_one_line, rng, plies=2, simulations=80, moves=moves, cpp=cpp, **settings
    )


@pytest.mark.parametrize("policy", ["gumbel", "puct"])
def test_threads_and_batches_change_nothing(policy):
    rng = np.random.default_rng(8)
    games = random_fens(rng, 37, plies=40)
    plays = []
    for cpp in ({"threads": 1, "batches": 1}, {"threads": 3, "batches": 2}):
        results = []
        with Search(len(games), simulations=16, policy=policy, **cpp) as search:
            search.begin(games)
            for _ in range(3):
                results.append(search.run(evaluate))
                search.advance(results[-1].chosen)
        plays.append(results)
    for first, second in zip(*plays, strict=True):
        assert_same(first, second)


def test_boards_of_an_environment_are_searched_with_their_past():
    """Board 1 comes back to where it was, which observations show."""
    num_envs, rng = 4, np.random.default_rng(9)
    env = rungs.make("chess", "cpp", num_envs, obs="planes", mask="bits")
    env.reset()
    stepped, played = (Search(num_envs, simulations=8, obs="planes", keep=False) for _ in range(2))
    with stepped, played:
        for move in ["g1f3", "g8f6", "f3g1", "f6g8", "e2e4", "e7e5", "g1f3", "b8c6", "f1b5"]:
            stepped.begin(env)
            played.begin(env, np.arange(num_envs) % 2 == 0)
            assert stepped.fens() == played.fens()
            assert_same(stepped.run(evaluate), played.run(evaluate))
            actions = env.sample_actions(rng).copy()
            actions[1] = env.legal_moves(1)[move]
            env.step(actions)
            played.advance(actions)


GUMBELS = {"considered": range(1, 40), "scale": [0.0, 1.0, 3.0], "value_scale": [0.1, 1.0]}
GUMBELS |= {"maxvisit_init": np.arange(60.0)}
PUCTS = {"c_init": [0.5, 1.25, 5.0, 30.0], "c_base": [100.0, 19652.0], "fraction": [0.0, 0.25, 1.0]}
PUCTS |= {"alpha": [0.03, 0.3, 1.0, 4.0], "temperature": [0.0, 0.5, 1.0]}


@pytest.mark.system
def test_the_same_trees_over_many_positions_and_settings():
    rng = np.random.default_rng(10)
    fens = [case.fen for name in ("tricky", "random") for case in read_epd(DATA / f"{name}.epd")]
    tricky = [fen for fen in fens if not chess.Board(fen).is_game_over()]
    positions, reasons = 0, np.zeros(8, np.int64)
    while positions < 1000:
        kind, ranges = (Gumbel, GUMBELS) if rng.random() < 0.5 else (Puct, PUCTS)
        policy = kind(**{name: rng.choice(values).item() for name, values in ranges.items()})
        settings = {"seed": int(rng.integers(2**63)), "keep": bool(rng.random() < 0.8)}
        simulations = int(rng.integers(1, 50))
        if rng.random() < 0.3:
            settings["nodes"] = simulations + int(rng.integers(1, 20))
        games = [*random_fens(rng, 4), *rng.choice(tricky, 2), *rng.choice(ENDINGS, 2)]
        cpp = {"threads": int(rng.integers(1, 4)), "batches": int(rng.integers(1, 3))}
        obs = str(rng.choice(["board", "board", "bitplanes"]))
        settings |= {"plies": 3, "simulations": simulations, "cpp": cpp, "obs": obs}
        settings |= {"moves": TO_AND_FRO, "policy": policy}
        reasons += search_both([SHUFFLE, *games], evaluate, rng, **settings)
        positions += 3 * len(games)
    assert reasons[: Reason.MAX_PLIES].all(), reasons
