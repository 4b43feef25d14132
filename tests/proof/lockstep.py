"""Two environments side by side: same seed, same actions, and every output equal, bit for bit."""

from collections import Counter

import chess
import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src.chess.actions import NUM_ACTIONS
from rungs._src.chess.policy import random_actions
from rungs._src.chess.unpack import unpack_list
from rungs_course.measure.verify import verify


def uniform(mask, observation, rng):
    """Any action that the mask allows."""
    return random_actions(mask, rng)


def shuffling(mask, observation, rng):
    """Mostly moves back and forth: repetitions, and games that reach 50 moves."""
    words = _words(mask)
    quiet = words & ~_own(observation, chess.PAWN)[:, None]
    keep = quiet.any(axis=1) & (rng.random(len(words)) < 0.97)
    return random_actions(np.where(keep[:, None], quiet, words), rng)


def rare(mask, observation, rng):
    """Prefers what random games seldom show: promotions to less than a queen, castling."""
    words = _words(mask)
    wanted = words.copy()
    wanted[:, :64] = 0
    king, rooks = (_own(observation, kind) for kind in (chess.KING, chess.ROOK))
    for two_squares in (8 + 2, 8 + 6):  # the king's two squares east or west
        wanted[:, two_squares] = words[:, two_squares] & king & np.uint64(chess.BB_E1)
    for distance in range(1, 8):  # in Chess960, the king onto its rook
        east, west = 8 * (distance - 1) + 2, 8 * (distance - 1) + 6
        wanted[:, east] |= words[:, east] & king & rooks >> np.uint64(distance)
        wanted[:, west] |= words[:, west] & king & rooks << np.uint64(distance)
    return random_actions(np.where(wanted.any(axis=1)[:, None], wanted, words), rng)


POLICIES = {"uniform": uniform, "shuffling": shuffling, "rare": rare}


def _words(mask):
    if mask.dtype == np.bool_:
        assert mask.shape[1] == NUM_ACTIONS
        return np.packbits(mask, axis=1, bitorder="little").view(np.uint64)
    if mask.dtype == np.int16:
        return _words(unpack_list(mask))
    return mask


def _own(observation, kind):
    """(N,) uint64, the squares of the mover's pieces of a kind."""
    if observation.dtype == np.uint64:
        return observation[:, kind - 1]
    if observation.ndim == 2:
        squares = observation[:, :64] == kind
    else:
        squares = observation[:, kind - 1].reshape(-1, 64) != 0
    return np.packbits(squares, axis=1, bitorder="little").view(np.uint64)[:, 0]


def play(ours, theirs, *, seed, steps, policy="uniform", fens=True, rollout=0):
    """Plays two environments in lockstep.

    Args:
        ours, theirs: environments with equal settings.
        seed: of the games and of the actions.
        steps: steps of all boards.
        policy: how actions are chosen, a name of `POLICIES`.
        fens: compare positions as FENs too, at every step.
        rollout: have ours write the outputs of every step to the next of n slots, in turns.

    Returns:
        How often each reason ended an episode.
    """
    rng = np.random.default_rng(seed)
    (observation, info), expected = ours.reset(seed=seed), theirs.reset(seed=seed)
    verify("ours", (observation, info), expected, "after the reset")
    reasons = Counter()
    slots = ours.rollout(rollout)[1] if rollout else [None]
    for step in range(steps):
        actions = POLICIES[policy](info["action_mask"], observation, rng)
        outcome = ours.step(actions, slots[step % len(slots)])
        verify("ours", outcome, theirs.step(actions), f"in step {step}")
        observation, *flags, info = outcome
        if fens:
            assert ours.fens() == theirs.fens()
        ended = flags[1] | flags[2]
        reasons.update(info["reason"][ended].tolist())
        if ours.metadata["autoreset_mode"] == AutoresetMode.DISABLED and ended.any():
            observation, info = ours.reset(options={"reset_mask": ended})
            expected = theirs.reset(options={"reset_mask": ended})
            verify("ours", (observation, info), expected, f"after the reset behind step {step}")
    return reasons
