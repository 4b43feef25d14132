"""Boards that are copied go on as their sources would, or on their own."""

import copy
import pickle

import chess
import gymnasium
import numpy as np
import pytest

import rungs
from rungs._src.chess.policy import random_actions
from rungs._src.core.memory import on_host
from rungs._src.machine import gpu
from rungs.errors import ConfigurationError, InvalidStateError, UnavailableError
from rungs_course.measure.verify import assert_same, verify
from tests.saved import refusal

MODES = ("SAME_STEP", "NEXT_STEP", "DISABLED")
GAMES = [
    {"mask": "bits", "max_plies": 30},
    {"opponent": "random", "obs": "bitplanes", "opening_plies": (0, 9), "max_plies": 24},
]
# Ends that are near, so that boards end at different times.
STARTS = [
    chess.STARTING_FEN,
    "8/8/8/4k3/8/8/3q4/K7 w - - 0 1",
    "8/5k2/8/8/8/2r5/8/K7 b - - 95 80",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
]
# Those that have boards in this process.
RUNGS = {
    "python": {},
    "cpp": {},
    "openmp": {"threads": 2},
    "mpi": {"gather": False, "threads": 1},
    "cuda": {"device": "cuda" if gpu.usable() else "cpu"},
}


def make(rung, num_envs=6, **settings):
    return rungs.make("chess", rung, num_envs, **RUNGS[rung], **settings)


@pytest.fixture(params=RUNGS)
def rung(request):
    return request.param


def on_arrays(outputs):
    """Copies of what `reset` or `step` returned."""
    *arrays, info = outputs
    info = {key: info[key] for key in ("action_mask", "player", "reason")}
    info = {key: on_host(value).copy() for key, value in info.items()}
    return *(on_host(array).copy() for array in arrays), info


class Player:
    """Plays an environment at random, and keeps its last outputs and actions."""

    def __init__(self, env, seed):
        self.env, self.rng = env, np.random.default_rng(seed)
        self.outputs = on_arrays(env.reset(seed=seed))

    def step(self):
        """With DISABLED, it resets what has ended before."""
        ended = on_host(self.env.boards.buffers.ended).copy()
        if self.env.autoreset_mode.name == "DISABLED" and ended.any():
            self.do("reset", options={"reset_mask": ended})
        self.actions = random_actions(self.outputs[-1]["action_mask"], self.rng)
        return self.do("step", self.actions)

    def do(self, method, *arguments, **options):
        self.outputs = on_arrays(getattr(self.env, method)(*arguments, **options))
        return self.outputs


# Whose numbers and episodes copies have, and that they go on as one, tests/proof/cpp has of C++.
@pytest.mark.parametrize("rung", [*RUNGS][1:])
@pytest.mark.parametrize("settings", GAMES)
@pytest.mark.parametrize("mode", MODES)
def test_every_rung_copies_alike(rung, mode, settings):
    """By way of `cpp`, which is compared with Python."""
    settings = settings | {"autoreset_mode": mode, "start_fens": STARTS}
    names = (rung, "python" if rung == "cpp" else "cpp")
    both = [Player(make(name, **settings), seed=4) for name in names]
    rng = np.random.default_rng(5)
    for step in range(42):
        verify(rung, *(played.step() for played in both), f"in step {step}")
        targets = rng.permutation(6)[: rng.integers(7)]
        sources = rng.integers(6, size=len(targets))
        randomness = str(rng.choice(["same", "own"]))
        if step % 7 == 0:
            snapshots = [played.env.snapshot(sources) for played in both]
        boards = rng.permutation(6)[: len(snapshots[0].indices)]
        for played, snapshot in zip(both, snapshots, strict=True):
            if step % 3 == 0:
                played.do("copy_boards", sources, targets, randomness=randomness)
            elif step % 3 == 1:
                played.do("restore", snapshot, boards, randomness=randomness)
        verify(rung, *(played.outputs for played in both), f"behind step {step}")
    assert both[0].env.fens() == both[1].env.fens()


def test_repetitions_are_remembered_by_snapshots_and_states(rung):
    env = make(rung, 2)
    env.reset()
    there_and_back = [("g1f3", "b1c3"), ("g8f6", "b8c6"), ("f3g1", "c3b1"), ("f6g8", "c6b8")]
    no_repetition_crosses = [("e2e4", "e2e4"), ("e7e5", "e7e5")]

    def play(*moves):
        for pair in moves:
            outcome = env.step([env.legal_moves(board)[move] for board, move in enumerate(pair)])
        return on_host(outcome[2]).tolist()

    play(*there_and_back)
    snapshot, state = env.snapshot([0]), env.get_state()
    play(*no_repetition_crosses)
    env.restore(snapshot, [1])
    assert play(*((move, move) for move, _ in there_and_back)) == [False, True]
    observation, _ = env.set_state(state)
    assert on_host(observation)[:, 70].tolist() == [1, 1]  # a repetition each
    assert play(*there_and_back) == [True, True]


def test_other_environments_go_on_from_a_snapshot(rung):
    played = Player(make(rung, 6, opponent="random"), seed=1)
    other = Player(make(rung, 3, opponent="random", first_board=70), seed=1)
    for _ in range(5):
        played.step()
    other.do("restore", played.env.snapshot([4, 2]), [2, 0])
    for step in range(6):
        assert [other.env.fens()[i] for i in (2, 0)] == [played.env.fens()[i] for i in (4, 2)], step
        played.step()
        actions = random_actions(other.outputs[-1]["action_mask"], other.rng)
        actions[[2, 0]] = played.actions[[4, 2]]
        other.do("step", actions)


@pytest.mark.parametrize("mode", MODES)
def test_a_state_of_copies_goes_on(rung, mode):
    settings = {"opponent": "random", "opening_plies": (2, 9), "max_plies": 12}
    settings |= {"mask": "bits", "obs": "bitplanes", "autoreset_mode": mode}
    env, other = make(rung, **settings), make(rung, **settings)
    played, again = Player(env, seed=9), Player(other, seed=0)
    for _ in range(5):
        played.step()
    env.copy_boards([0, 0, 4], [3, 1, 5])
    played.do("copy_boards", [2], [4], randomness="own")
    again.do("set_state", env.get_state())
    assert_same("observation", again.outputs[0], played.outputs[0])
    assert other.get_state() == env.get_state()
    again.rng = copy.deepcopy(played.rng)
    for both in (played, again):  # which now draw by the seed of the state
        both.do("copy_boards", [1], [4], randomness="own")
    for step in range(20):
        verify(rung, again.step(), played.step(), f"in step {step} from a state")


@pytest.mark.parametrize(("rung", "like"), [("multiprocessing", "python"), ("mpi", "cpp")])
def test_boards_in_other_processes_are_not_copied(rung, like):
    env, other = rungs.make("chess", rung, 2), make(like, 2)
    for batch in (env, other):
        batch.reset()
    snapshot = other.snapshot()
    for call in (lambda: env.copy_boards([0], [1]), env.snapshot, lambda: env.restore(snapshot)):
        with pytest.raises(UnavailableError):
            call()
    env.close()


OTHERS = {"opponent": "random", "obs": "planes", "max_plies": 9, "autoreset_mode": "DISABLED"}


def test_a_snapshot_of_other_settings_rung_seed_or_process_is_refused():
    env, python = make("cpp", 2), make("python", 2)
    others = {name: make("cpp", 2, **{name: value}) for name, value in OTHERS.items()}
    for batch in (env, python, *others.values()):
        batch.reset(seed=1)
    snapshot = env.snapshot()
    for name, other in others.items():
        with refusal(other, InvalidStateError, name):
            other.restore(snapshot)
    for useless in (python.snapshot(), None, b"", np.zeros(3)):
        with pytest.raises(InvalidStateError, match=r"layout|Snapshot"):
            env.restore(useless)
    env.reset(seed=2)
    with pytest.raises(InvalidStateError, match="seed"):
        env.restore(snapshot)
    env.restore(snapshot, randomness="own")
    for leave in (pickle.dumps, copy.deepcopy):
        with pytest.raises(InvalidStateError, match="process"):
            leave(snapshot)


INDICES = [[6], [0, -1], [[0], [1]], [0.0], [True], np.ma.array([1], mask=[True]), [[0], [1, 2]]]


def test_what_can_not_be_copied_is_named_and_changes_nothing():
    env, fresh = make("cpp"), make("cpp")
    env.reset()
    snapshot, three = env.snapshot([3]), env.snapshot([3, 3, 4])
    for early, arguments in (("snapshot", ()), ("restore", (snapshot,)), ("copy_boards", ([], []))):
        with pytest.raises(gymnasium.error.ResetNeeded):
            getattr(fresh, early)(*arguments)
    for named, method, *arguments in (
        *(("indices", "snapshot", indices) for indices in (*INDICES, "1")),
        ("indices", "restore", snapshot, [6]),
        ("source", "copy_boards", [6], [1]),
        ("target", "copy_boards", [1], [6]),
        # To as many boards, each once.
        *(("target", "copy_boards", [3, 3, 4], target) for target in ([0, 1], [0, 5, 0])),
        *(("indices", "restore", three, target) for target in ([0, 1], [0, 5, 0])),
        ("indices", "restore", three),  # to board 3 twice
    ):
        with refusal(env, ConfigurationError, named):
            getattr(env, method)(*arguments)
    with refusal(env, ConfigurationError, "randomness='new'"):
        env.copy_boards([0], [1], randomness="new")
