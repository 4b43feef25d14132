"""Positions of self-play: each has its game's outcome and its search's value."""

import zlib
from types import SimpleNamespace

import chess
import numpy as np
import pytest
import torch

import rungs
from rungs._src.chess.actions import move_of
from rungs._src.chess.policy import random_actions
from rungs._src.selfplay import learning
from rungs._src.selfplay.examples import examples_flaw
from rungs._src.selfplay.games import RankGames, SelfPlay
from rungs._src.selfplay.learning import LossWeights
from rungs._src.selfplay.matches import MASK
from rungs.errors import InvalidStateError
from tests.library.selfplay.test_buffer import assert_same

MATE_IN_ONE = "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1"


class RandomSearch:
    """Chooses at random what the environment allows; `policy` says which it was.

    The value of the chosen action is one of the position's own.
    """

    def __init__(self, env, seed):
        self.env, self.seed = env, seed

    def begin(self, env):
        assert env is self.env

    def run(self, evaluate):
        rng = np.random.default_rng(zlib.crc32(f"{self.seed} {self.env.fens()}".encode()))
        info = self.env._info()
        actions = info["action_mask"].copy()
        chosen = random_actions(actions, rng)
        policy = (actions == chosen[:, None]).astype(np.float32)
        value = np.array([worth(position) for position in self.env._buffers.observation])
        return SimpleNamespace(
            actions=actions,
            counts=info["action_count"].copy(),
            policy=policy,
            visits=(policy > 0).astype(np.int32),
            action_values=policy * value[:, None],
            value=-value,
            chosen=chosen,
        )


def worth(position):
    """A value that only this observation has, from -1 to 1 in half precision."""
    return np.float32(zlib.crc32(position.tobytes()) % 2049 / 1024 - 1)


def new_games(seed=0):
    settings = {"mask": MASK, "max_plies": 30, "opening_plies": (0, 4)}
    env = rungs.make("chess", "cpp", 6, seed=seed, **settings)
    return SelfPlay(env, RandomSearch(env, seed))


def test_every_position_has_the_outcome_of_its_game():
    """Played again by python-chess, from each game's first position to its end."""
    fens = [MATE_IN_ONE, "8/8/8/8/8/6k1/5q2/7K b - - 0 1"]
    settings = {"mask": MASK, "start_fens": fens, "max_plies": 20, "opening_plies": (0, 0)}
    env, again = (rungs.make("chess", "cpp", 4, seed=3, **settings) for _ in range(2))
    finished, _ = SelfPlay(env, RandomSearch(env, 3)).play(None, 100)
    search, expected = RandomSearch(again, 3), {}
    observation, _ = again.reset()
    open_games = [[] for _ in range(4)]
    for _ in range(100):
        result, boards = search.run(None), [chess.Board(fen) for fen in again.fens()]
        for game, position in zip(open_games, observation.copy(), strict=True):
            game.append(position)
        observation, reward, terminated, truncated, _ = again.step(result.chosen)
        for b in np.flatnonzero(terminated | truncated):
            boards[b].push(move_of(int(result.chosen[b]), boards[b]))
            assert boards[b].is_checkmate() == (reward[b] == 1)
            for back, position in enumerate(reversed(open_games[b])):
                won = 1 - 2 * (back % 2) if boards[b].is_checkmate() else 0
                expected.setdefault(position.tobytes(), []).append(won)
            open_games[b] = []
    outcomes = {}
    for position, outcome in zip(finished.observation, finished.outcome, strict=True):
        outcomes.setdefault(position.tobytes(), []).append(int(outcome))
    assert {key: sorted(values) for key, values in outcomes.items()} == {
        key: sorted(values) for key, values in expected.items()
    }
    assert {-1, 0, 1} == set(finished.outcome.tolist())
    assert finished.value.tolist() == [worth(position) for position in finished.observation]
    assert examples_flaw(finished.arrays()) == ""


SPOILING = {
    "plies": [lambda plies: 10**19, lambda plies: -1],
    "board": [lambda board: board + 6, lambda board: board.int(), lambda board: board[:-1]],
    "ply": [lambda ply: ply - 20, lambda ply: ply + 2**62],
    "action": [lambda action: action + 20_000],
    "observation": [lambda observation: observation * 20],
    "policy": [lambda policy: policy * float("nan")],
    "env": [lambda env: env[:-1]],
}


def test_games_that_cannot_be_gone_on_with_are_refused_and_others_go_on():
    games, same = new_games(seed=5), new_games(seed=5)
    games.play(None, 10)
    same.play(None, 10)
    saved = games.state_dict()
    for name, spoils in SPOILING.items():
        for spoil in spoils:
            with pytest.raises(InvalidStateError, match=None if name == "env" else name):
                games.load_state_dict(saved | {name: spoil(saved[name])})
    assert_same(games.play(None, 30)[0], same.play(None, 30)[0])


def test_a_rank_plays_with_the_weights_that_have_learnt():
    learnt, network = (learning.make("cpp", seed, LossWeights()).network for seed in (1, 2))
    leaf = (np.zeros((1, 72), np.int8), np.zeros((1, 218), np.int16), np.ones(1, np.int16))
    evaluations = []

    def play(evaluate, plies):
        assert plies == 3
        evaluations.append(evaluate(*leaf))
        return None, {}

    games = SimpleNamespace(env=SimpleNamespace(num_envs=4), play=play)
    said = iter(["play", learnt.state_dict(), "over"])
    ranks = SimpleNamespace(
        rank=1, size=2, agree=lambda decide: next(said), gather=lambda value: []
    )
    RankGames(ranks, network, "cpp", games, plies=3).serve()
    ((logits, values),) = evaluations
    wanted = learning.evaluator("cpp", learnt)(*leaf)
    assert np.array_equal(logits, wanted[0])
    assert np.array_equal(values, wanted[1])
    for name, weights in learnt.state_dict().items():
        assert torch.equal(weights, network.state_dict()[name]), name


@pytest.mark.parametrize(
    ("visits", "policy", "action_values", "expected"),
    [
        ((3, 1, 0), (0.75, 0.25, 0), (0.5, -0.5, 0), 0.25),
        ((1, 1, 0), (0.375, 0.125, 0.5), (0.5, -0.5, 0), 0.25),  # without the unvisited action
        ((1, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0), -0.125),  # the mean of all visits
    ],
)
def test_a_value_is_the_visited_actions_mean_under_the_policy(
    visits, policy, action_values, expected
):
    class ThreeActions(RandomSearch):
        def run(self, evaluate):
            result = super().run(evaluate)
            result.value[:] = -0.125
            for name in ("visits", "policy", "action_values"):
                array = getattr(result, name)
                array[:] = 0
                array[:, :3] = arrays[name]
            return result

    arrays = {"visits": visits, "policy": policy, "action_values": action_values}
    env = rungs.make("chess", "cpp", 2, mask=MASK, max_plies=1, opening_plies=(0, 0))
    finished, _ = SelfPlay(env, ThreeActions(env, 0)).play(None, 1)
    assert finished.value.tolist() == [expected] * 2
