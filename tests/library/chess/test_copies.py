"""Boards that are copied go on as their sources would, or on their own."""

import copy
import pickle

import chess
import gymnasium
import numpy as np
import pytest

import rungs
from rungs._src.chess.actions import action_of, move_of
from rungs._src.chess.policy import random_actions
from rungs._src.core.memory import on_host
from rungs._src.core.philox import Purpose, below, philox
from rungs._src.machine import gpu
from rungs.errors import ConfigurationError, InvalidStateError, UnavailableError
from rungs_course.measure.verify import assert_same, verify

MODES = ("SAME_STEP", "NEXT_STEP", "DISABLED")
GAMES = [
    {"mask": "bits", "max_plies": 30},
    {"opponent": "random", "obs": "bitplanes", "opening_plies": (0, 9), "max_plies": 24},
]


# Ends that are near, so that boards end at different times.
STARTS = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
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
    """What `reset` or `step` returned, as arrays that stay."""
    *arrays, info = outputs
    info = {key: info[key] for key in ("action_mask", "player", "reason")}
    info = {key: on_host(value).copy() for key, value in info.items()}
    return *(on_host(each).copy() for each in arrays), info


def row(outputs, board):
    """One board's part of them."""
    *arrays, info = outputs
    part = {key: value[board : board + 1] for key, value in info.items()}
    return *(each[board : board + 1] for each in arrays), part


class Recorded:
    """Plays an environment, and keeps what was done to it."""

    def __init__(self, env, seed):
        self.env, self.done, self.rng = env, [], np.random.default_rng(seed)
        self.seen = on_arrays(env.reset(seed=seed))
        self.seed = seed

    def step(self):
        """Plays random actions; with DISABLED, resets what has ended before."""
        ended = on_host(self.env.boards.buffers.ended).copy()
        if self.env.autoreset_mode.name == "DISABLED" and ended.any():
            self.do("reset", options={"reset_mask": ended})
        actions = random_actions(self.seen[-1]["action_mask"], self.rng)
        return self.do("step", actions)

    def do(self, method, *arguments, **options):
        self.done.append((method, arguments, options))
        self.seen = on_arrays(getattr(self.env, method)(*arguments, **options))
        return self.seen

    def board(self, number):
        """An environment of that board alone, on the rung cpp, at which all the same was done."""
        settings = self.env.settings.given()
        alone = rungs.make("chess", "cpp", 1, first_board=number, **settings)
        alone.reset(seed=self.seed)
        for method, arguments, options in self.done:
            if method == "step":
                alone.step(arguments[0][number : number + 1])
            elif options["options"]["reset_mask"][number]:
                alone.reset()
        return alone


@pytest.mark.parametrize("settings", GAMES)
@pytest.mark.parametrize("mode", MODES)
def test_copies_go_on_as_their_sources_would(rung, mode, settings):
    how = settings | {"autoreset_mode": mode, "start_fens": STARTS}
    played = Recorded(make(rung, **how), seed=3)
    env, ended = played.env, np.zeros(6, np.bool_)
    while not ended.any() or ended.sum() > 2 or len(played.done) < 12:
        _, _, terminated, truncated, _ = played.step()
        ended = terminated | truncated
    over, on = int(np.flatnonzero(ended)[0]), int(np.flatnonzero(~ended)[0])
    third, itself = (board for board in np.flatnonzero(~ended)[:3].tolist() if board != on)
    source, target = [over, on, on, itself], [on, over, third, itself]
    of = np.arange(6)
    of[target] = source
    before, info = played.seen[0], played.seen[-1]
    out = env.boards.buffers
    zeroed = (out.reward, out.terminated, out.truncated, out.reason)
    for each in zeroed:
        each[...] = 1

    observation, after = on_arrays(env.copy_boards(source, target))
    assert_same("observation", observation, before[of])
    assert_same("mask", after["action_mask"], info["action_mask"][of])
    assert_same("player", after["player"], info["player"][of])
    for each in zeroed:
        assert np.flatnonzero(on_host(each) == 0).tolist() == sorted(target)
    # With SAME_STEP they have begun again.
    assert (on_host(out.ended)[target] == (ended[source] & (mode != "SAME_STEP"))).all()
    if mode == "DISABLED":
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(np.zeros(6, np.int64))
        stopped = np.flatnonzero(on_host(out.ended))
        of[stopped] = on
        _, after = on_arrays(env.copy_boards([third] * len(stopped), stopped))

    others = [played.board(int(number)) for number in of]
    assert env.fens() == [other.fens()[0] for other in others]
    for _ in range(25):
        actions = random_actions(after["action_mask"], played.rng)
        outputs = on_arrays(env.step(actions))
        for board, other in enumerate(others):
            theirs = on_arrays(other.step(actions[board : board + 1]))
            verify(f"board {board}", row(outputs, board), theirs, "after it was copied")
        after = outputs[-1]
        if mode == "DISABLED" and on_host(out.ended).any():
            break


@pytest.mark.parametrize("rung", [*RUNGS][1:])
@pytest.mark.parametrize("settings", GAMES)
@pytest.mark.parametrize("mode", MODES)
def test_every_rung_copies_alike(rung, mode, settings):
    how = settings | {"autoreset_mode": mode, "start_fens": STARTS}
    both = [Recorded(make(name, **how), seed=4) for name in (rung, "python")]
    rng = np.random.default_rng(5)
    for step in range(60):
        verify(rung, *(each.step() for each in both), f"in step {step}")
        targets = rng.permutation(6)[: rng.integers(1, 7)]
        sources = rng.integers(6, size=len(targets))
        how = {"randomness": str(rng.choice(["same", "own"]))}
        if step % 7 == 0:
            kept = [each.env.snapshot(sources) for each in both]
        places = rng.permutation(6)[: len(kept[0].indices)]
        for each, snapshot in zip(both, kept, strict=True):
            if step % 3 == 0:
                each.do("copy_boards", sources, targets, **how)
            elif step % 3 == 1:
                each.do("restore", snapshot, places, **how)
        verify(rung, *(each.seen for each in both), f"behind step {step}")
    assert both[0].env.fens() == both[1].env.fens()


def test_repetitions_are_remembered(rung):
    env, shuffle = make(rung, 2), ("g1f3", "g8f6", "f3g1", "f6g8")
    env.reset()
    for ours, theirs in zip(shuffle, ("b1c3", "b8c6", "c3b1", "c6b8"), strict=True):
        env.step([env.legal_moves(0)[ours], env.legal_moves(1)[theirs]])
    snapshot = env.snapshot([0])
    for move in ("e2e4", "e7e5"):  # which no repetition crosses
        env.step([env.legal_moves(0)[move]] * 2)
    env.restore(snapshot, [1])
    for move in shuffle:
        _, _, terminated, *_ = env.step([env.legal_moves(board)[move] for board in (0, 1)])
    assert on_host(terminated).tolist() == [False, True]


@pytest.mark.parametrize("randomness", ["same", "own"])
def test_whose_replies_a_copy_gets(rung, randomness):
    env = make(rung, 2, opponent="random", mask="bits")
    Recorded(env, seed=6).step()
    env.copy_boards([0], [1], randomness=randomness)
    action, expected = min(env.legal_moves(0).values()), []
    for number in (0, 0 if randomness == "same" else 1):
        position = chess.Board(env.fens()[0])
        position.push(move_of(action, position))
        legal = sorted(action_of(move, not position.turn) for move in position.legal_moves)
        reply = legal[below(philox(6, number, 0, 3, Purpose.OPPONENT), len(legal))]
        position.push(move_of(reply, position))
        expected.append(position.fen())
    env.step(np.array([action, action]))
    assert env.fens() == expected
    assert (expected[0] == expected[1]) == (randomness == "same")


@pytest.mark.parametrize(
    ("randomness", "episode", "colour"),
    [("same", 0, 0), ("same", 1, 0), ("own", 0, 1), ("own", 1, 0)],
)
def test_whose_next_episode_a_copy_begins(rung, randomness, episode, colour):
    env = make(rung, 2, first_board=5, opponent="random", max_plies=6)
    played = Recorded(env, seed=2)
    played.step()
    for _ in range(episode):
        played.do("reset", options={"reset_mask": np.array([False, True])})
    played.do("copy_boards", [0], [1], randomness=randomness)
    played.step()
    _, _, _, truncated, info = played.step()
    assert truncated.all()
    # White's number and episode make an even sum.
    assert info["player"].tolist() == [(5 + 1) % 2, colour]


def test_a_reset_gives_a_board_its_own_number_back(rung):
    how = {"opponent": "random", "opening_plies": (2, 9), "mask": "bits"}
    env, other = make(rung, **how), make(rung, **how)
    for each in (env, other):
        each.reset(seed=8)
    marks = np.arange(6) == 4
    env.copy_boards([1], [4])
    assert env.fens()[4] == env.fens()[1] != other.fens()[4]
    for each in (env, other):
        each.reset(options={"reset_mask": marks})
    assert env.fens()[4] == other.fens()[4]


def test_copies_of_their_own_draw_by_a_restored_seed(rung):
    how = {"opponent": "random", "opening_plies": (2, 9), "max_plies": 6, "mask": "bits"}
    env, other = make(rung, **how), make(rung, **how)
    env.reset(seed=8)
    other.reset(seed=9)
    other.set_state(env.get_state())
    for each in (env, other):
        each.copy_boards([1], [4], randomness="own")
        for _ in range(8):
            each.step([min(each.legal_moves(i).values()) for i in range(6)])
    assert env.fens() == other.fens()


class TestSnapshots:
    def test_they_are_put_back_as_often_as_wanted(self, rung):
        env = make(rung, mask="bits", obs="planes", opponent="random", max_plies=20)
        played = Recorded(env, seed=1)
        for _ in range(7):
            played.step()
        snapshot = env.snapshot()
        games = []
        for _ in range(3):
            played.seen = on_arrays(env.restore(snapshot))
            played.rng = np.random.default_rng(0)
            games.append([played.step() for _ in range(9)])
            played.do("reset")
        for again in games[1:]:
            for ours, theirs in zip(again, games[0], strict=True):
                verify(rung, ours, theirs, "of a game played again")

    def test_other_environments_go_on_from_them(self, rung):
        how = {"mask": "bits", "obs": "bitplanes", "opponent": "random"}
        env, other = make(rung, 6, **how), make(rung, 3, first_board=70, **how)
        played = Recorded(env, seed=1)
        for _ in range(5):
            played.step()
        beside = Recorded(other, seed=1)
        beside.seen = on_arrays(other.restore(env.snapshot([4, 2]), [2, 0]))
        assert [other.fens()[board] for board in (2, 0)] == [env.fens()[board] for board in (4, 2)]
        for _ in range(5):
            theirs = played.step()
            ours = random_actions(beside.seen[-1]["action_mask"], beside.rng)
            ours[[2, 0]] = played.done[-1][1][0][[4, 2]]
            outputs = beside.do("step", ours)
            for here, there in ((2, 4), (0, 2)):
                verify("a copy", row(outputs, here), row(theirs, there), "elsewhere")

    @pytest.mark.parametrize(
        "other",
        [
            {"opponent": "random"},
            {"obs": "planes"},
            {"max_plies": 9},
            {"autoreset_mode": "DISABLED"},
        ],
    )
    def test_those_of_other_settings_are_refused(self, rung, other):
        env, another = make(rung), make(rung, **other)
        for each in (env, another):
            each.reset()
        before = another.get_state()
        with pytest.raises(InvalidStateError, match=next(iter(other))):
            another.restore(env.snapshot())
        assert another.get_state() == before


@pytest.mark.parametrize("mode", MODES)
def test_a_state_of_copies_goes_on(rung, mode):
    how = {"opponent": "random", "opening_plies": (0, 5), "obs": "bitplanes", "mask": "bits"}
    how |= {"autoreset_mode": mode, "max_plies": 12}
    env = make(rung, **how)
    played = Recorded(env, seed=9)
    for _ in range(5):
        played.step()
    env.copy_boards([0, 0, 4], [3, 1, 5])
    env.copy_boards([2], [4], randomness="own")
    other = make(rung, **how)
    again = Recorded(other, seed=0)
    again.seen = on_arrays(other.set_state(env.get_state()))
    assert other.get_state() == env.get_state()
    played.seen, again.rng = again.seen, copy.deepcopy(played.rng)
    for step in range(20):
        verify(rung, again.step(), played.step(), f"in step {step} from a state")


@pytest.mark.parametrize(
    ("rung", "like", "how"),
    [("multiprocessing", "python", {"workers": 1}), ("mpi", "cpp", {"threads": 1})],
)
def test_boards_in_other_processes_are_not_copied(rung, like, how):
    env, other = rungs.make("chess", rung, 2, **how), make(like, 2)
    for each in (env, other):
        each.reset()
    snapshot = other.snapshot()
    calls = (lambda: env.copy_boards([0], [1]), env.snapshot, lambda: env.restore(snapshot))
    for call in calls:
        with pytest.raises(UnavailableError):
            call()
    env.close()


def test_no_boards_are_no_copies(rung):
    env = make(rung, obs="bitplanes")
    env.reset()
    before, none = env.get_state(), np.zeros(0, np.int64)
    env.copy_boards(none, none)
    env.restore(env.snapshot(none))
    assert env.get_state() == before


def test_a_reset_comes_first(rung):
    env, other = make(rung, 2), make(rung, 2)
    other.reset()
    snapshot = other.snapshot()
    calls = {
        "copy_boards": lambda: env.copy_boards([0], [1]),
        "snapshot": env.snapshot,
        "restore": lambda: env.restore(snapshot),
    }
    for name, call in calls.items():
        with pytest.raises(gymnasium.error.ResetNeeded, match=name):
            call()
    other.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        other.snapshot()


def test_snapshots_of_another_rung_or_seed_and_what_is_none_are_refused():
    env, other = make("cpp", 2), make("python", 2)
    for each in (env, other):
        each.reset(seed=1)
    snapshot = env.snapshot()
    for wrong in (other.snapshot(), None, b"", np.zeros(3)):
        with pytest.raises(InvalidStateError, match=r"layout|Snapshot"):
            env.restore(wrong)
    env.reset(seed=2)
    with pytest.raises(InvalidStateError, match="seed"):
        env.restore(snapshot)
    env.restore(snapshot, randomness="own")


def test_a_snapshot_stays_in_its_process():
    env = make("cpp", 2)
    env.reset()
    for leave in (pickle.dumps, copy.deepcopy):
        with pytest.raises(InvalidStateError, match="process"):
            leave(env.snapshot())


@pytest.mark.parametrize(
    "wrong",
    [[6], [0, -1], [[0], [1]], [0.0], [True], np.ma.array([1], mask=[True]), [[0], [1, 2]], "1"],
)
@pytest.mark.parametrize("name", ["source", "target", "snapshot", "restore"])
def test_wrong_indices_are_named_and_change_nothing(name, wrong):
    env = make("cpp")
    Recorded(env, seed=0).step()
    before, snapshot = env.get_state(), env.snapshot([3])
    call = {
        "source": lambda: env.copy_boards(wrong, [1]),
        "target": lambda: env.copy_boards([1], wrong),
        "snapshot": lambda: env.snapshot(wrong),
        "restore": lambda: env.restore(snapshot, wrong),
    }[name]
    with pytest.raises(
        ConfigurationError, match=name if name in ("source", "target") else "indices"
    ):
        call()
    assert env.get_state() == before


@pytest.mark.parametrize("target", [[0, 1], [0, 5, 0]])
def test_copies_go_to_as_many_boards_each_once(target):
    env = make("cpp")
    Recorded(env, seed=0).step()
    before, snapshot = env.get_state(), env.snapshot([3, 3, 4])
    with pytest.raises(ConfigurationError, match="target"):
        env.copy_boards([3, 3, 4], target)
    with pytest.raises(ConfigurationError, match="indices"):
        env.restore(snapshot, target)
    with pytest.raises(ConfigurationError, match="indices"):
        env.restore(snapshot)  # to board 3 twice
    with pytest.raises(ConfigurationError, match="randomness='new'"):
        env.copy_boards([0], [1], randomness="new")
    assert env.get_state() == before
