"""The recorded games as files, for programs that play them without Python."""

import numpy as np

import rungs
from tests.proof.anywhere.games import ENVS, SEED, SETTINGS, STEPS, steps


def write_games(folder):
    """Writes what `games.c` reads, a file for each of `SETTINGS`; returns their paths."""
    files = []
    for number, (env_id, settings) in enumerate(SETTINGS):
        env = rungs.make(env_id, "cpp", ENVS, **settings)
        starts = env.settings.starts if "start" in settings else ()
        if env_id == "chess":
            shown = ("board", "planes").index(env.settings.obs)
            mask = ("bool", "bits", "list").index(env.settings.mask)
            head = [1, shown, mask, int(env.settings.opponent == "random")]
        else:
            head = [0, np.dtype(settings.get("dtype", "float64")).itemsize, 0, 0]
        numbers = np.array([*head, len(starts), ENVS, STEPS, SEED], np.int64)
        fens = b"".join(fen.encode().ljust(128, b"\0") for fen in starts)
        played = b"".join(actions.tobytes() for actions, *_ in steps(env))
        files.append(folder / str(number))
        files[-1].write_bytes(numbers.tobytes() + fens + played)
    return files
