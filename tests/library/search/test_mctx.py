"""The Gumbel search finds what mctx's does, in trees that are small enough for it.

mctx computes in float32 and knows all 4672 actions at every node, of which those that are illegal
never are visited. So positions have more legal actions than any node is visited.
"""

import functools
import zlib

import chess
import numpy as np
import pytest

from rungs._src.chess.actions import NUM_ACTIONS, legal_actions
from rungs._src.search.numerics import Draws
from rungs._src.search.search import Search
from rungs._src.search.settings import Gumbel, halving

SIMULATIONS = 20
# Our default weight of 1 is for values from 0 to 1; mctx weights them as they are, from -1 to 1.
SIGMA = {"value_scale": 0.5, "rescale_values": False}
OPEN = (
    "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 1",  # mate in one
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 b - - 98 60",
)


def _seen(board):
    """What an observation shows of it: pieces, from the mover's side, and whether Black moves."""
    pieces, view = np.zeros(64, np.int8), 0 if board.turn else 56
    for square, piece in board.piece_map().items():
        mover = piece.color == board.turn
        pieces[square ^ view] = piece.piece_type if mover else -piece.piece_type
    return pieces.tobytes() + bytes([not board.turn])


def _invented(seen, count):
    """What the evaluator says of it: logits of its legal actions in order of id, and a value."""
    rng = np.random.default_rng(zlib.crc32(seen))
    return rng.normal(size=count), rng.uniform(-1, 1)


class Positions:
    """Positions by number, as mctx keeps them in its tree."""

    def __init__(self, fens):
        self.boards = [chess.Board(fen) for fen in fens]
        self._numbers = {}

    def describe(self, numbers):
        """Returns logits (B, 4672) and values (B,)."""
        logits = np.full((len(numbers), NUM_ACTIONS), np.finfo(np.float32).min, np.float32)
        values = np.zeros(len(numbers), np.float32)
        for row, number in enumerate(numbers.tolist()):
            board = self.boards[number]
            if self._over(board):
                logits[row] = 0
            else:
                legal = sorted(legal_actions(board))
                logits[row, legal], values[row] = _invented(_seen(board), len(legal))
        return logits, values

    def step(self, actions, numbers):
        """Returns logits, values, rewards and discounts where actions lead, and its numbers."""
        after, rewards = np.empty(len(numbers), np.int32), np.zeros(len(numbers), np.float32)
        discounts = np.zeros(len(numbers), np.float32)
        for row, (action, number) in enumerate(
            zip(actions.tolist(), numbers.tolist(), strict=True)
        ):
            after[row] = number
            if self._over(self.boards[number]):
                continue
            after[row] = self._after(number, action)
            over = self._over(self.boards[after[row]])
            rewards[row] = over and self.boards[after[row]].is_checkmate()
            discounts[row] = 0 if over else -1
        return *self.describe(after), rewards, discounts, after

    def _after(self, number, action):
        if (number, action) not in self._numbers:
            board = self.boards[number].copy()
            board.push(legal_actions(board)[action])
            self._numbers[number, action] = len(self.boards)
            self.boards.append(board)
        return self._numbers[number, action]

    def _over(self, board):
        return bool(board.outcome(claim_draw=False)) or board.halfmove_clock >= 100


def _mctx(fens, scale, seed):
    """Searches by mctx; returns its output, and the Gumbel noise (B, 4672) that it draws."""
    mctx, jax = pytest.importorskip("mctx"), pytest.importorskip("jax")
    sigma = functools.partial(mctx.qtransform_completed_by_mix_value, **SIGMA)
    jnp, positions, games = jax.numpy, Positions(fens), len(fens)
    numbers = np.arange(games, dtype=np.int32)
    logits, values = positions.describe(numbers)
    row, rows = (jax.ShapeDtypeStruct(s, np.float32) for s in ((games,), (games, NUM_ACTIONS)))
    shapes = (rows, row, row, row, jax.ShapeDtypeStruct((games,), np.int32))

    def step(params, key, action, number):
        stepped = jax.pure_callback(
            lambda *given: positions.step(*map(np.asarray, given)), shapes, action, number
        )
        prior_logits, value, reward, discount, after = stepped
        output = mctx.RecurrentFnOutput(
            reward=reward, discount=discount, prior_logits=prior_logits, value=value
        )
        return output, after

    key = jax.random.PRNGKey(seed)
    legal = logits > np.finfo(np.float32).min
    output = mctx.gumbel_muzero_policy(
        None,
        key,
        mctx.RootFnOutput(
            prior_logits=jnp.array(logits), value=jnp.array(values), embedding=jnp.array(numbers)
        ),
        step,
        SIMULATIONS,
        invalid_actions=jnp.array(~legal),
        qtransform=sigma,
        gumbel_scale=scale,
    )
    noise = jax.random.gumbel(jax.random.split(key)[1], logits.shape, logits.dtype)
    return output, np.asarray(noise)


def _evaluate(observation, actions, counts):
    values = np.zeros(len(counts), np.float32)
    logits = np.zeros((len(counts), counts.max()), np.float32)
    for row, (position, count) in enumerate(zip(observation, counts, strict=True)):
        seen = position[[*range(64), 71]].tobytes()
        logits[row, :count], values[row] = _invented(seen, count)
    return logits, values


@pytest.mark.system
@pytest.mark.parametrize(("scale", "rung"), [(0.0, "threads"), (0.0, "python"), (1.0, "python")])
def test_mctx_finds_the_same(scale, rung, monkeypatch):
    reference, noise = _mctx(OPEN, scale, seed=5)
    monkeypatch.setattr(Draws, "gumbel", lambda self, action: float(noise[self.game, action]))
    settings = {"simulations": SIMULATIONS, "policy": Gumbel(scale=scale), "keep": False}
    with Search(len(OPEN), rung=rung, **settings) as search:
        search.begin(OPEN)
        result = search.run(_evaluate)
    tree = reference.search_tree
    for game in range(len(OPEN)):
        legal = result.actions[game, : result.counts[game]]
        visits = np.asarray(tree.children_visits[game, 0])[legal]
        np.testing.assert_array_equal(result.visits[game, : len(legal)], visits)
        policy = np.asarray(reference.action_weights[game])[legal]
        np.testing.assert_allclose(result.policy[game, : len(legal)], policy, atol=1e-5)
        means = np.asarray(tree.qvalues(np.zeros(len(OPEN), np.int32)))[game][legal]
        visited = visits > 0
        np.testing.assert_allclose(
            result.action_values[game, : len(legal)][visited], means[visited], atol=1e-5
        )
    np.testing.assert_array_equal(result.chosen, np.asarray(reference.action))
    np.testing.assert_allclose(result.value, np.asarray(tree.node_values[:, 0]), atol=1e-5)


@pytest.mark.parametrize("simulations", [5, 32, 800])
def test_halving_is_mctxs(simulations):
    table = pytest.importorskip("mctx._src.seq_halving").get_table_of_considered_visits
    np.testing.assert_array_equal(halving(16, simulations), table(16, simulations))
