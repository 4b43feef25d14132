"""The promise: every rung is the same environment, bit for bit."""

from pathlib import Path

import chess
import pytest

import rungs
from rungs._src.chess.observation import OBSERVATIONS
from rungs._src.chess.perft import read_epd
from tests.library.chess.test_cuda import DEVICES, OnHost
from tests.proof import lockstep
from tests.tiers import system_tier

# Each king has one rank, on which it soon comes back to where it was.
WALLED_IN = "4k3/1p1p1p1p/1P1P1P1P/8/8/p1p1p1p1/P1P1P1P1/4K3 w - - 0 1"
# num_envs, steps, policy, settings
GAMES = [
    (1, 300, "rare", {"opponent": "random"}),
    (1, 500, "uniform", {}),
    (1, 700, "shuffling", {"mask": "bits", "obs": "planes"}),
    (7, 350, "uniform", {"mask": "bits", "autoreset_mode": "NEXT_STEP"}),
    (7, 400, "shuffling", {"mask": "bits", "obs": "bitplanes"}),
    (7, 150, "uniform", {"opponent": "random", "autoreset_mode": "DISABLED"}),
    (7, 130, "uniform", {"opponent": "random", "max_plies": 37, "autoreset_mode": "NEXT_STEP"}),
    (64, 50, "rare", {}),
    (64, 70, "uniform", {"mask": "bits"}),  # one ends in another block than the last
    (64, 25, "uniform", {"mask": "bits", "opponent": "random", "obs": "bitplanes"}),
    (7, 150, "rare", {"start": "chess960", "mask": "bits", "obs": "bitplanes"}),
    (7, 150, "uniform", {"start": "chess960", "opponent": "random"}),
    (7, 60, "uniform", {"start_fens": [WALLED_IN]}),
    *(
        (4, 30, "uniform", {"obs": obs, "dtype": dtype, "max_plies": 9})
        for obs, dtype in OBSERVATIONS
    ),
]


def pair(num_envs, **settings):
    return [rungs.make("chess", rung, num_envs, **settings) for rung in ("cpp", "python")]


@pytest.mark.parametrize(("num_envs", "steps", "policy", "settings"), GAMES)
def test_cpp_is_python(num_envs, steps, policy, settings):
    batch, reference = pair(num_envs, **settings)
    lockstep.play(batch, reference, seed=num_envs, steps=steps, policy=policy)


# Every rung but the reference, and its settings.
RUNGS = [
    ("cpp", {}),
    ("openmp", {"threads": 2}),
    ("threads", {"threads": 2}),
    ("mpi", {"threads": 1}),
    *(("cuda", {"device": device}) for device in DEVICES),
    *system_tier(
        ("multiprocessing", {"workers": 2, "transport": "queue"}),
        ("multiprocessing", {"workers": 2, "transport": "shared"}),
    ),
]
# Numbers of moves that a byte, or eight bits of a bfloat16, can't hold, and whose low byte is full.
LATE = [
    "4k3/8/8/8/8/8/4P3/R3K3 w Q - 97 259",
    "4k3/8/8/8/8/8/4P3/R3K3 b Q - 0 257",
    "4k3/8/8/8/8/8/4P3/R3K3 b Q - 0 58879",
]
PLANES = {"obs": "planes", "mask": "bits", "start_fens": LATE, "max_plies": 20}
CHESS960 = {"start": "chess960", "max_plies": 30}
NEXT_STEP, DISABLED = {"autoreset_mode": "NEXT_STEP"}, {"autoreset_mode": "DISABLED"}
# Every mode, opponent and format of outputs, and both kinds of chess.
EVERY_RUNGS_GAMES = [
    ({"opponent": "random", "opening_plies": (0, 40), "max_plies": 40}, "uniform"),
    ({"obs": "bitplanes", "mask": "bits", "first_board": 3, "max_plies": 40}, "rare"),
    ({"mask": "list", "opponent": "random", "max_plies": 20}, "uniform"),
    (NEXT_STEP | {"mask": "list", "max_plies": 20}, "rare"),
    (DISABLED | {"mask": "list", "max_plies": 20}, "uniform"),
    (PLANES | {"dtype": "uint8"}, "shuffling"),
    (PLANES | NEXT_STEP | {"dtype": "bfloat16"}, "shuffling"),
    (PLANES | DISABLED | {"dtype": "uint8"}, "shuffling"),
    (CHESS960 | {"mask": "bits"}, "rare"),
    (CHESS960 | NEXT_STEP | {"opponent": "random", "obs": "bitplanes"}, "uniform"),
    (CHESS960 | DISABLED | {"obs": "planes", "opening_plies": (0, 30)}, "rare"),
]


@pytest.mark.parametrize(("settings", "policy"), EVERY_RUNGS_GAMES)
@pytest.mark.parametrize(("rung", "rung_settings"), RUNGS)
def test_every_rung_is_python(rung, rung_settings, settings, policy):
    """By way of `cpp`, which is compared with it first: Python plays a hundredth as fast."""
    env = rungs.make("chess", rung, 5, **rung_settings, **settings)
    reference = rungs.make("chess", "python" if rung == "cpp" else "cpp", 5, **settings)
    batch = OnHost(env) if rung == "cuda" else env
    # A device on the host is slow: each board ends one episode at least, at 40 plies.
    steps = 45 if rung == "cuda" else 80
    seeds = [5, 2**64 - 1, 5, 1 << 63, 0]
    reasons = lockstep.play(batch, reference, seed=seeds, steps=steps, policy=policy, rollout=3)
    assert sum(reasons.values()) >= 5
    env.close()


# Positions in which something rare is near.
ADVERSARIAL = (
    "8/PPPPPPPP/8/2k5/5K2/8/pppppppp/8 w - - 0 1",  # promotion races
    "1n1n1n1n/P1P1P1P1/8/8/8/2k5/4K3/8 w - - 0 1",  # captures that promote
    "8/8/8/K2Pp2r/8/8/8/4k3 w - e6 0 1",  # an en-passant capture that would bare the king
    "8/8/8/8/k2Pp2R/8/8/4K3 b - d3 0 1",
    "4k3/8/8/2KPp3/8/8/8/8 w - e6 0 1",  # an en-passant capture that answers nothing
    "8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3 0 1",  # pinned along a diagonal
    "r3k2r/8/8/8/4r3/8/8/R3K2R w KQkq - 0 1",  # in check: no castling
    "r3k2r/8/5r2/8/8/8/8/R3K2R w KQkq - 0 1",  # the king would pass an attacked square
    "r3k2r/8/1r6/8/8/8/8/R3K2R w KQkq - 0 1",  # only the rook passes one
    "r3k2r/p6p/8/8/8/8/P6P/R3K2R b KQkq - 20 40",  # rights lost by captures and moves
    "8/8/4k3/8/8/4K3/4P3/8 w - - 90 120",  # near 50 moves, with a pawn to spare
    "7k/8/8/8/8/8/8/KQ6 w - - 96 120",  # a mate on the last ply comes before the draw
    "8/2k5/8/8/8/5K2/5B2/5b2 w - - 0 1",  # bishops, one capture from a draw
    "4k3/8/8/8/8/8/8/NN2K3 w - - 0 1",
    "R6k/8/8/8/8/8/8/4K2R b - - 10 30",
)


@pytest.mark.parametrize("opponent", [None, "random"])
@pytest.mark.parametrize("policy", lockstep.POLICIES)
def test_cpp_is_python_from_adversarial_starts(policy, opponent):
    settings = {"start_fens": ADVERSARIAL, "opening_plies": (0, 3), "max_plies": 120}
    batch, reference = pair(20, mask="bits", opponent=opponent, **settings)
    steps = 75 if opponent else 150  # as many plies
    reasons = lockstep.play(batch, reference, seed=8, steps=steps, policy=policy)
    assert len(reasons) >= 4


def test_a_first_ply_that_is_left_out_does_not_count():
    # White mates by many a move; where the environment plays it, such a one is left out.
    starts = ["7k/5Q2/6K1/8/8/8/8/8 w - - 0 1"]
    batch, reference = pair(64, opponent="random", start_fens=starts, max_plies=5)
    lockstep.play(batch, reference, seed=1, steps=12)


# Settings of games of ten million plies in all; a few steps only begin an episode.
TEN_MILLION = {
    "from the start": {"obs": "bitplanes"},
    "against random": NEXT_STEP | {"opponent": "random"},
    "from published positions": {"opening_plies": (0, 40)},
    "from adversarial starts": DISABLED
    | {"start_fens": ADVERSARIAL, "opening_plies": (0, 6), "max_plies": 300, "obs": "bitplanes"},
}


@pytest.mark.slow
@pytest.mark.parametrize("policy", lockstep.POLICIES)
@pytest.mark.parametrize("games", TEN_MILLION)
def test_cpp_is_python_for_ten_million_plies(games, policy):
    settings = TEN_MILLION[games]
    if games == "from published positions":
        cases = read_epd(Path(__file__).parents[2] / "proof" / "data" / "random.epd")
        fens = [f"{case.fen} 0 1" for case in cases]
        starts = [fen for fen in fens if not chess.Board(fen).is_game_over()]
        settings = settings | {"start_fens": starts}
    batch, reference = pair(64, mask="bits", **settings)
    plies_per_step = 64 * (2 if "opponent" in settings else 1)
    steps = -(-10_500_000 // (len(TEN_MILLION) * len(lockstep.POLICIES) * plies_per_step))
    lockstep.play(batch, reference, seed=2024, steps=steps, policy=policy)
