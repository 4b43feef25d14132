"""Chess on a GPU: the same games as elsewhere, and what bounds them."""

import numpy as np

import rungs
from rungs.chess.policy import random_actions
from rungs.core.memory import on_host
from rungs.errors import SamenessError


def check_same(where: str, num_envs: int, steps: int, seed: int) -> None:
    """Plays the rungs cuda and cpp side by side, and compares all that they return, bit for bit.

    Args:
        where: "cuda", or "cpu", where the kernels' code is run by the host.
        num_envs: boards.
        steps: random plies of each.
        seed: of games and actions.

    Raises:
        SamenessError: they differ; the message names step and output.
    """
    ours = rungs.make("chess", "cuda", num_envs, device=where, mask="bits")
    theirs = rungs.make("chess", "cpp", num_envs, mask="bits")
    ours.reset(seed=seed)
    _, info = theirs.reset(seed=seed)
    rng = np.random.default_rng(seed)
    names = ("observation", "reward", "terminated", "truncated")
    for step in range(steps):
        actions = random_actions(info["action_mask"], rng)
        *mine, my_info = ours.step(actions)
        *expected, info = theirs.step(actions)
        pairs = dict(zip(names, zip(mine, expected, strict=True), strict=True))
        pairs |= {key: (my_info[key], info[key]) for key in ("action_mask", "player", "reason")}
        for name, (output, other) in pairs.items():
            if not np.array_equal(on_host(output), other):
                raise SamenessError(f"cuda on {where}: {name} differs in step {step}")


def ply_bytes() -> dict[str, int]:
    """What a random ply has to move of a board on a GPU, with `board` and `bits`: bytes by name.

    A board plays on from memory and is written back after every ply; keys of past positions are
    read too, eight bytes each, as many as there are.
    """
    return {
        "position, key and counts, read and written": 2 * 88,
        "legal actions, read to choose one": 584,
        "legal actions, written": 584,
        "key of the position left, written": 8,
        "mask": 584,
        "observation": 72,
        "reward, flags and codes": 9,
    }
