"""Chess on a GPU: the same games as elsewhere, and what bounds them."""

import rungs
from rungs.measure.verify import verify_games


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
    verify_games({"cpp": theirs, f"cuda on {where}": ours}, seed=seed, steps=steps)


def ply_bytes() -> dict[str, int]:
    """Returns what a random ply has to move of a board on a GPU (`board`, `bits`): bytes by name.

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
