"""The recorded games as files, for programs that play them without Python."""

import numpy as np

import rungs
from tests.proof.anywhere.games import SETTINGS


def write_games(folder):
    """Writes what `games.c` reads, a file for each of `SETTINGS`; returns their paths."""
    files = []
    for number, (env_id, settings) in enumerate(SETTINGS):
        env = rungs.make(env_id, "cpp", 300, **settings)
        observation, _ = env.reset(seed=1)
        played, starts = [], ()
        for step in range(30):
            chosen = env.sample_actions(step) if env_id == "chess" else observation[:, 2] > 0
            played.append(chosen.astype(np.int64).tobytes())
            observation, *_ = env.step(chosen.astype(np.int64))
        if env_id == "chess":
            starts = env.settings.starts if "start" in settings else ()
            shown = ("board", "planes").index(env.settings.obs)
            mask = ("bool", "bits", "list").index(env.settings.mask)
            head = [1, shown, mask, int(env.settings.opponent == "random")]
        else:
            head = [0, np.dtype(settings.get("dtype", "float64")).itemsize, 0, 0]
        numbers = np.array([*head, len(starts), 300, 30, 1], np.int64)
        fens = b"".join(fen.encode().ljust(128, b"\0") for fen in starts)
        files.append(folder / str(number))
        files[-1].write_bytes(numbers.tobytes() + fens + b"".join(played))
    return files
