"""Two environments side by side: same seed, same actions, and every output equal, bit for bit."""

from collections import Counter

import numpy as np

from rungs.chess.actions import NUM_ACTIONS
from rungs.chess.policy import random_actions


def uniform(mask, observation, rng):
    """Any legal action."""
    return random_actions(mask, rng)


def shuffling(mask, observation, rng):
    """Mostly moves back and forth: repetitions, and games that reach 50 moves."""
    words = _words(mask)
    pawns = np.zeros(len(words), np.uint64)
    for square in range(64):
        own_pawn = (observation[:, square] == 1).astype(np.uint64)
        pawns |= own_pawn << np.uint64(square)
    quiet = words & ~pawns[:, None]
    keep = quiet.any(axis=1) & (rng.random(len(words)) < 0.97)
    return random_actions(np.where(keep[:, None], quiet, words), rng)


def rare(mask, observation, rng):
    """Prefers what random games seldom show: promotions to less than a queen, castling."""
    words = _words(mask)
    wanted = words.copy()
    wanted[:, :64] = 0
    king = np.uint64(1 << 4)
    on_e1 = observation[:, 4] == 6
    for two_squares in (8 + 2, 8 + 6):  # the king's two squares east or west
        wanted[:, two_squares] = np.where(on_e1, words[:, two_squares] & king, 0)
    return random_actions(np.where(wanted.any(axis=1)[:, None], wanted, words), rng)


POLICIES = {"uniform": uniform, "shuffling": shuffling, "rare": rare}


def _words(mask):
    if mask.dtype == np.bool_:
        assert mask.shape[1] == NUM_ACTIONS
        return np.packbits(mask, axis=1, bitorder="little").view(np.uint64)
    return mask


def assert_same(name, ours, theirs):
    """Equal in dtype, shape and every bit."""
    assert ours.dtype == theirs.dtype, name
    assert ours.shape == theirs.shape, name
    assert ours.tobytes() == theirs.tobytes(), f"{name} differs"


def assert_same_info(ours, theirs):
    """All of two info dictionaries; rows of final observations count where an episode ended."""
    assert ours.keys() == theirs.keys()
    for name in ("action_mask", "player", "reason"):
        assert_same(name, ours[name], theirs[name])
    if "final_obs" in ours:
        ended = ours["_final_obs"]
        for mask in ("_final_obs", "_final_info"):
            assert_same(mask, ours[mask], theirs[mask])
        assert_same("final_obs", ours["final_obs"][ended], theirs["final_obs"][ended])
        assert ours["final_info"].keys() == theirs["final_info"].keys()
        for name, values in ours["final_info"].items():
            assert_same(f"final_info[{name}]", values[ended], theirs["final_info"][name][ended])


def play(ours, theirs, *, seed, steps, policy="uniform", fens=True):
    """Plays two environments in lockstep.

    Args:
        ours, theirs: environments with equal settings.
        seed: of the games and of the actions.
        steps: steps of all boards.
        policy: how actions are chosen, a name of `POLICIES`.
        fens: compare positions as FENs too, at every step.

    Returns:
        How often each reason ended an episode.
    """
    rng = np.random.default_rng(seed)
    observation, info = ours.reset(seed=seed)
    other, other_info = theirs.reset(seed=seed)
    assert_same("observation", observation, other)
    assert_same_info(info, other_info)
    reasons = Counter()
    for _ in range(steps):
        actions = POLICIES[policy](info["action_mask"], observation, rng)
        observation, *flags, info = ours.step(actions)
        other, *other_flags, other_info = theirs.step(actions)
        assert_same("observation", observation, other)
        names = ("reward", "terminated", "truncated")
        for name, mine, others in zip(names, flags, other_flags, strict=True):
            assert_same(name, mine, others)
        assert_same_info(info, other_info)
        if fens:
            assert ours.fens() == theirs.fens()
        reasons.update(info["reason"][flags[1] | flags[2]].tolist())
    return reasons
