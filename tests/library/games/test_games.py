"""The game of the page on environments, on all rungs of a CPU: equal, and refused alike."""

import operator
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from rungs.base import Game, GameRandom, GameVectorEnv
from rungs.errors import (
    CompilerError,
    ConfigurationError,
    GameError,
    InvalidActionError,
    UnavailableError,
)
from rungs_course.measure.verify import verify
from tests.project.test_docs import DOCS, blocks, write_files
from tests.tiers import system_tier

PAGE = DOCS / "howto" / "write_an_environment.md"
BOARDS = 260  # two threads have 128 each, which pays off
CPP = {"cpp": {}, "openmp": {"threads": 2}, "threads": {"threads": 2}}


@pytest.fixture(scope="module")
def connect_four(tmp_path_factory):
    folder = tmp_path_factory.mktemp("game")
    write_files(PAGE, folder)
    (code,) = {block.split("\n\nenv = ")[0] for block in blocks(PAGE) if "ConnectFour" in block}
    names = {"__name__": "connect_four"}
    exec(compile(code, "<the page>", "exec"), names)
    game = names["ConnectFour"]
    game.SOURCE = folder / "connect_four.cpp"
    return game


def chosen(info, rng):
    """Random ones among the actions that the mask allows."""
    mask = info["action_mask"]
    return np.where(mask, rng.random(mask.shape), -1).argmax(axis=1)


@pytest.mark.parametrize("mode", ["SAME_STEP", *system_tier("NEXT_STEP", "DISABLED")])
def test_all_rungs_are_the_reference_bit_for_bit(connect_four, mode):
    settings = {"seed": 5, "autoreset_mode": mode}
    reference = GameVectorEnv(BOARDS, connect_four, "python", **settings)
    envs = {
        rung: GameVectorEnv(BOARDS, connect_four, rung, **settings, **CPP[rung]) for rung in CPP
    }

    def verify_all(call, when):
        expected = call(reference)
        for rung, env in envs.items():
            verify(rung, call(env), expected, when)
        return expected

    for rung, env in envs.items():
        assert getattr(env.boards, "threads", 1) == CPP[rung].get("threads", 1)
    rng = np.random.default_rng(0)
    expected = verify_all(operator.methodcaller("reset"), "after the reset")
    ends = np.zeros(3, int)
    for step in range(20):
        actions = chosen(expected[-1], rng)
        expected = verify_all(operator.methodcaller("step", actions), f"in step {step}")
        _, reward, terminated, truncated, _ = expected
        ended = terminated | truncated
        ends += [(reward[ended] == result).sum() for result in (-1, 0, 1)]
        some = ended if mode == "DISABLED" else rng.random(BOARDS) < 0.02
        if some.any():
            reset = operator.methodcaller("reset", options={"reset_mask": some})
            expected = verify_all(reset, f"after step {step}")
    assert ends[0] > 100
    assert ends[2] > 100
    by_seeds = operator.methodcaller("reset", seed=range(BOARDS))
    expected = verify_all(by_seeds, "after the reset by seeds")
    verify_all(operator.methodcaller("step", chosen(expected[-1], rng)), "by seeds")


@pytest.mark.parametrize("rung", ["python", *CPP])
def test_an_illegal_action_is_refused_and_changes_nothing(connect_four, rung):
    env = GameVectorEnv(BOARDS, connect_four, rung)
    with pytest.raises(ResetNeeded):
        env.step(np.zeros(BOARDS, np.int64))
    _, info = env.reset(seed=1)
    for _ in range(8):  # fills columns from the left
        *_, info = env.step(info["action_mask"].argmax(axis=1))
    before = env.boards.buffers.observation.copy()
    assert (info["action_mask"] == (before[:, 5] == 0)).all()
    full = np.argwhere(~info["action_mask"])[0].tolist()
    for board, action in ((250, -1), (250, 7), full):
        actions = chosen(info, np.random.default_rng(0))
        actions[[board, 255]] = action
        with pytest.raises(InvalidActionError, match=f"action {action}") as raised:
            env.step(actions)
        assert (raised.value.env, raised.value.action) == (board, action)
        assert (env.boards.buffers.observation == before).all()
    with pytest.raises(ConfigurationError, match="seed"):
        env.reset(seed=[1, 2])


def test_the_seed_decides_and_a_boards_own_is_that_of_board_0(connect_four):
    def games(seed, boards):
        env = GameVectorEnv(boards, connect_four, "threads")
        _, info = env.reset(seed=seed)
        observations = []
        for _ in range(20):
            observation, *_, info = env.step(info["action_mask"].argmax(axis=1))
            observations.append(observation.copy())
        return np.array(observations)

    assert (games(3, 8) != games(4, 8)).any()
    assert (games([9, 3], 2)[:, 1] == games(3, 8)[:, 0]).all()


def test_both_languages_say_the_same(connect_four):
    class Wider(connect_four):
        NUM_ACTIONS = 8

    class Unwritten(connect_four):
        SOURCE = None

    with pytest.raises(CompilerError, match="num_actions"):
        GameVectorEnv(1, Wider, "cpp")
    with pytest.raises(ConfigurationError, match="SOURCE"):
        GameVectorEnv(1, Unwritten, "cpp")
    assert GameVectorEnv(1, Unwritten, "python").autoreset_mode == AutoresetMode.SAME_STEP
    assert GameRandom(7, 0, 0).below(10) in range(10)


# By action, the function that throws: the step, a read of the board after it, or the next reset.
METHODS = {1: "step", 2: "observe", 3: "legal", 4: "reset"}


class Throwing(Game):
    """Raises where the last action says, see `METHODS`."""

    NUM_ACTIONS = 8
    OBSERVATION = gymnasium.spaces.Box(0, 9, (1,), np.int8)

    last = 0

    def throw(self, method):
        if METHODS.get(self.last) == method:
            self.last = 0
            raise ValueError("mine")

    def reset(self, random):
        self.throw("reset")
        self.last = 0

    def legal(self, action):
        self.throw("legal")
        return True

    def step(self, action, random):
        self.last = action
        self.throw("step")
        return 1, False, action == 4

    def observe(self):
        self.throw("observe")
        return np.full(1, self.last, np.int8)


SOURCE = """// \xfc: not UTF-8
#include <stdexcept>
#include <string>
#include "rungs/game.hpp"
struct Throwing {
  static constexpr int kActions = 8, kCells = 1;
  using Cell = std::int8_t;
  int last;
  void fail(int method) const { if (last == method) throw std::runtime_error("mine"); }
  void reset(rungs::GameRandom&) {
    const bool fails = last == 4;
    last = 0;
    if (fails) throw std::runtime_error("mine");
  }
  bool legal(int) const { fail(3); return true; }
  rungs::GameStep step(int action, rungs::GameRandom&) {
    last = action;
    fail(1);
    if (action == 5) throw 42;
    if (action == 6) throw std::runtime_error("");
    if (action == 7) throw std::runtime_error(std::string(9999, 'x'));
    return {1, false, action == 4};
  }
  void observe(Cell* cells) const { fail(2); *cells = static_cast<Cell>(last); }
};
#define RUNGS_GAME Throwing
#include "bindings/game.hpp"
"""


@pytest.fixture(scope="module")
def throwing(tmp_path_factory):
    source = tmp_path_factory.mktemp("game") / "throwing.cpp"
    source.write_bytes(SOURCE.encode("latin-1"))
    return throwing_with(SOURCE=source)


@pytest.mark.parametrize("rung", ["python", *CPP])
def test_what_a_game_throws_is_raised_on_every_rung(throwing, rung):
    env = GameVectorEnv(BOARDS, throwing, rung, **CPP.get(rung, {}))
    thrown = dict.fromkeys(METHODS, r"Throwing.*mine")
    if rung != "python":  # which throws errors alone
        thrown |= dict.fromkeys((5, 6, 7), "Throwing")
    for action in (*thrown, *thrown):  # it is reset, and throws again
        actions = np.zeros(BOARDS, np.int64)
        env.reset()
        env.step(actions)
        actions[[7, 250]] = action
        with pytest.raises(GameError, match=thrown[action]):
            env.step(actions)
        with pytest.raises(ResetNeeded):
            env.step(actions)


def throwing_with(**members):
    """A game in Python with some members of its own."""
    return type("Throwing", (Throwing,), members)


BOX = gymnasium.spaces.Box


class UnshowableError(Exception):
    def __str__(self):
        raise RuntimeError


def raise_unshowable(*_):
    raise UnshowableError


CELLS = (np.zeros(3), 3, [300], [0.5], [np.nan], [1j], ["1"], np.ma.masked_array([1], True))
STEPS = [None, (1, 2), (1.0, None, False), (1.0, False, 0.5)]
STEPS += [(reward, False, False) for reward in ("1", 1j, 1e39, np.ma.masked)]


OTHERS = [
    *({"observe": lambda self, cells=cells: cells} for cells in CELLS),
    *({"step": lambda *_, step=step: step} for step in STEPS),
    *({"reset": lambda self, random, n=n: random.below(n)} for n in (0, -1, 2**31, 1.5)),
    {"reset": lambda self, random: next(iter(()))},
    {"OBSERVATION": BOX(0, 1, (1,)), "observe": lambda self: [1e39]},
    {"observe": raise_unshowable},
    {"__init__": lambda self, needed: None},
]


@pytest.mark.parametrize("methods", OTHERS)
def test_a_game_in_python_that_returns_something_else_is_named(methods):
    def play():
        env = GameVectorEnv(2, throwing_with(**methods), "python")
        env.reset()
        env.step([0, 0])

    with pytest.raises(GameError, match="Throwing"):
        play()


def test_after_an_interruption_between_two_boards_it_has_to_be_reset():
    def step(self, action, random):
        self.last += 1
        if action:
            raise KeyboardInterrupt
        return 0.0, False, False

    env = GameVectorEnv(2, throwing_with(step=step), "python")
    env.reset()
    with pytest.raises(KeyboardInterrupt):
        env.step([0, 1])
    with pytest.raises(ResetNeeded):
        env.step([0, 0])
    env.reset()
    assert env.step([0, 0])[0].tolist() == [[1], [1]]


CONSTANTS = {
    "NUM_ACTIONS": (0, -1, 2**31, 2.0, "2", None),
    "OBSERVATION": (None, gymnasium.spaces.Discrete(3), BOX(0, 1, (0,), np.int8)),
    "SOURCE": (Path("/missing.cpp"), Path("/"), 3),
}


@pytest.mark.parametrize("rung", ["python", "cpp"])
@pytest.mark.parametrize("name", CONSTANTS)
def test_wrong_constants_of_a_game_are_named(name, rung):
    for value in CONSTANTS[name]:
        with pytest.raises(ConfigurationError, match=name):
            GameVectorEnv(2, throwing_with(**{name: value}), rung)


def test_what_is_no_game_or_too_large_is_refused():
    for game in (None, Throwing(), int, "Throwing"):
        with pytest.raises(ConfigurationError, match="game="):
            GameVectorEnv(2, game, "python")
    with pytest.raises(UnavailableError, match="num_envs"):
        GameVectorEnv(2**31 - 1, throwing_with(NUM_ACTIONS=2**31 - 1), "python")
