"""What a search refuses, by a typed error and without any change: games, evaluators, callers."""

from concurrent.futures import ThreadPoolExecutor

import chess
import gymnasium
import numpy as np
import pytest
import torch

import rungs
from rungs._src.chess.actions import from_uci
from rungs._src.search.search import Search, uniform
from rungs._src.search.settings import Gumbel, Puct
from rungs.errors import (
    BusyError,
    ConfigurationError,
    IllegalActionError,
    InvalidFenError,
)
from tests.library.search.made_up import evaluate
from tests.library.search.sameness import assert_same

MATE = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"
ENVIRONMENT = {"threads": "cpp", "python": "python"}  # by the search's rung


@pytest.fixture(params=ENVIRONMENT)
def rung(request):
    return request.param


@pytest.fixture
def search(rung):
    """Two games after a ply, with what was searched of them."""
    with Search(2, simulations=4, rung=rung) as search:
        search.advance(search.run(evaluate).chosen)
        yield search


@pytest.fixture
def env(rung):
    env = rungs.make("chess", ENVIRONMENT[rung], 2)
    yield env
    env.close()


def assert_refuses(search, error, games):
    """`begin` raises, and positions and trees are as they were."""
    fens, trees = search.fens(), [search.tree(game) for game in range(search.num_games)]
    with pytest.raises(error):
        search.begin(games)
    assert search.fens() == fens
    for game, tree in enumerate(trees):
        assert_same(search.tree(game), tree)


def test_an_environment_must_have_begun_and_be_open(search, env):
    assert_refuses(search, gymnasium.error.ResetNeeded, env)
    env.reset()
    search.begin(env)
    assert search.fens() == [chess.STARTING_FEN] * 2
    search.advance(search.run(evaluate).chosen)
    env.close()
    assert_refuses(search, gymnasium.error.ClosedEnvironmentError, env)


def test_an_environment_in_which_another_thread_is_is_busy(search, env, monkeypatch):
    env.reset()

    def step(actions):
        with ThreadPoolExecutor(1) as other_thread:
            other_thread.submit(assert_refuses, search, BusyError, env).result()
        return 0

    monkeypatch.setattr(env.boards, "step", step)
    env.step(env.sample_actions(0))
    search.begin(env)


OVER = "7k/5QK1/8/8/8/8/8/8 b - - 0 1"


def test_invalid_games_are_refused(search):
    wrong = [MATE, ""], [MATE, 7], [["a"], ["b"]], [MATE, None], [MATE, "nonsense"], [MATE, OVER]
    for games in ("", b"ab", *wrong):
        assert_refuses(search, InvalidFenError, games)
    for games in ([MATE], 7):
        assert_refuses(search, ConfigurationError, games)


def test_environments_that_do_not_fit_are_refused(rung, search):
    name = ENVIRONMENT[rung]
    (other,) = {*ENVIRONMENT.values()} - {name}
    with Search(2, rung=rung, obs="planes") as with_history:
        for refusing, env_rung, num_envs in (
            (search, name, 3),
            (search, other, 2),
            (with_history, name, 2),
        ):
            env = rungs.make("chess", env_rung, num_envs)
            env.reset()
            assert_refuses(refusing, ConfigurationError, env)


def test_positions_of_too_many_queens_are_refused():
    queens = "knQ1QQ2/nn5Q/1Q6/3QQ1Q1/Q7/Q6Q/4QQ2/1QQ4K w - - 0 1"
    env = rungs.make("chess", "cpp", 1, start_fens=[queens])
    env.reset()
    with Search(1) as search:
        for games in (env, queens):
            with pytest.raises(InvalidFenError, match="promotions"):
                search.begin(games)
        # By a state, in an environment whose masks have room for all of their moves.
        restored = rungs.make("chess", "cpp", 1)
        restored.reset()
        restored.boards.load(env.boards.dump(), 0)
        search.begin()
        with pytest.raises(ConfigurationError, match="board 0"):
            search.begin(restored)
        assert search.run(uniform).counts[0] == 20  # of the game that had begun


def test_an_illegal_action_changes_nothing(search):
    search.begin()
    search.run(evaluate)
    legal, before = from_uci("e2e4", chess.STARTING_FEN), search.tree(0)
    for illegal in (0, 4672, -2, legal - 64 * 64):
        with pytest.raises(IllegalActionError) as raised:
            search.advance([legal, illegal])
        assert (raised.value.board, raised.value.action) == (1, illegal)
    with pytest.raises(ConfigurationError, match="shape"):
        search.advance([legal])
    assert_same(search.tree(0), before)
    assert search.fens() == [chess.STARTING_FEN] * 2
    search.begin([MATE, chess.STARTING_FEN])
    search.advance([from_uci("d1d8", MATE), -1])
    with pytest.raises(IllegalActionError):
        search.advance([0, -1])


SETTINGS = {"simulations": 0, "policy": "alphabeta", "obs": "pixels", "batches": 3, "rung": "mpi"}
SETTINGS |= {"keep": 1, "threads": 0, "seed": -1}
WRONG_ARGUMENTS = [
    *(
        (name, lambda name=name, value=value: Search(1, **{name: value}))
        for name, value in SETTINGS.items()
    ),
    ("num_games", lambda: Search(0)),
    ("nodes", lambda: Search(1, nodes=4, simulations=4)),
    ("threads", lambda: Search(1, rung="python", threads=2)),
    ("considered", lambda: Gumbel(considered=0)),
    ("scale", lambda: Gumbel(scale=-1.0)),
    ("alpha", lambda: Puct(alpha=0.0)),
    ("fraction", lambda: Puct(fraction=1.5)),
    ("temperature", lambda: Puct(temperature=float("nan"))),
    ("evaluate", lambda: Search(1).run(None)),
    ("which", lambda: Search(1).begin(None, [True, True])),
    ("which", lambda: Search(2).run(uniform, [[True], [True, False]])),
    ("which", lambda: Search(2).run(uniform, np.ma.array([True, False], mask=True))),
    ("shape", lambda: Search(2).advance([-1])),
]


def test_wrong_arguments_are_named():
    for named, make in WRONG_ARGUMENTS:
        with pytest.raises(ConfigurationError, match=named):
            make()


WRONG = {
    "nothing": lambda logits, values: None,
    "three": lambda logits, values: (logits, values, values),
    "a text": lambda logits, values: "01",
    "texts": lambda logits, values: (logits.astype(str), values),
    "dates": lambda logits, values: (logits, values.astype("M8[s]")),
    "objects": lambda logits, values: (logits, values.astype(object)),
    "none in a list": lambda logits, values: (logits, [None] * len(values)),
    "ragged": lambda logits, values: ([[0.0], [0.0, 1.0]], values),
    "complex": lambda logits, values: (logits + 1j, values),
    "bool": lambda logits, values: (logits > 0, values),
    "masked": lambda logits, values: (np.ma.masked_less(logits, 0), values),
    "too narrow": lambda logits, values: (logits[:, :1], values),
    "too few": lambda logits, values: (logits[1:], values[1:]),
    "a column": lambda logits, values: (logits, values[:, None]),
    "value above 1": lambda logits, values: (logits, values * 0 + 1.001),
    "value below -1": lambda logits, values: (logits, values * 0 - 1.001),
    "huge": lambda logits, values: (logits, values.astype(np.float64) * 0 + 1e300),
    "NaN": lambda logits, values: (logits, values * np.nan),
    "infinite logits": lambda logits, values: (logits + np.inf, values),
    "infinite in float32": lambda logits, values: (logits.astype(np.float64) + 1e300, values),
    "no action": lambda logits, values: (logits - np.inf, values),
    "a gradient": lambda logits, values: (torch.from_numpy(logits).requires_grad_(), values),
}


@pytest.mark.parametrize("answer", WRONG)
def test_wrong_answers_are_refused(rung, answer, recwarn):
    with Search(4, simulations=8, batches=2, rung=rung) as search:
        search.run(evaluate, simulations=3)
        before = [search.tree(game) for game in range(4)]
        with pytest.raises(ConfigurationError, match="evaluator"):
            search.run(lambda *leaves: WRONG[answer](*evaluate(*leaves)))
        for game, tree in enumerate(before):
            assert_same(search.tree(game), tree)
        search.run(evaluate)
        assert search.tree(0).visits[0] == 12
    assert not [warning for warning in recwarn if warning.category is RuntimeWarning]


def as_kind(kind):
    """Makes an evaluator whose numbers, sixteenths, are of a type that has them exactly."""
    return lambda *leaves: [array.astype(kind) for array in evaluate(*leaves)]


def in_lists(*leaves):
    return [array.tolist() for array in evaluate(*leaves)]


MEMORY = np.empty((8, 218), np.float32), np.empty(8, np.float32)


def in_the_same_memory(observation, actions, counts):
    for array in MEMORY:
        array.fill(np.nan)
    logits, values = (array[: len(counts)] for array in MEMORY)
    answer = evaluate(observation, actions, counts)
    logits[:, : answer[0].shape[1]], values[:] = answer
    return logits, values


OTHERS = [*map(as_kind, (np.float16, np.float64, np.longdouble)), in_lists, in_the_same_memory]


@pytest.mark.parametrize("evaluator", OTHERS)
def test_answers_of_other_types_and_in_reused_memory_are_taken(rung, evaluator):
    with Search(8, simulations=12, batches=2, rung=rung) as search:
        result = search.run(evaluator)
    with Search(8, simulations=12, rung=rung) as search:
        assert_same(search.run(evaluate), result)


@pytest.mark.parametrize("batches", [1, 2])
def test_a_closed_search_can_be_looked_at_and_nothing_else(rung, batches):
    search = Search(2, simulations=4, batches=batches, rung=rung)
    search.run(evaluate)
    before = search.tree(1)
    search.close()
    search.close()
    for call in (search.begin, lambda: search.run(evaluate), lambda: search.advance([-1, -1])):
        with pytest.raises(gymnasium.error.ClosedEnvironmentError):
            call()
    assert_same(search.tree(1), before)
    assert search.fens() == [chess.STARTING_FEN] * 2


READS = [Search.fens, lambda search: search.tree(0), lambda search: search.reasons]
CHANGES = [Search.begin, Search.close]
CHANGES += [lambda search: search.run(evaluate), lambda search: search.advance([-1])]


def test_trees_that_grow_are_read_by_the_evaluator_alone_and_changed_by_nobody(rung):
    refused = []

    def assert_busy(calls):
        for call in calls:
            with pytest.raises(BusyError):
                call(search)
            refused.append(call)

    def curious(*leaves):
        for read in READS[:2]:
            read(search)
        assert_busy(CHANGES)
        with ThreadPoolExecutor(1) as other_thread:
            other_thread.submit(assert_busy, READS + CHANGES).result()
        return evaluate(*leaves)

    with Search(1, simulations=2, rung=rung) as search:
        search.run(curious)
        assert refused == 3 * [*CHANGES, *READS, *CHANGES]
        search.begin()
