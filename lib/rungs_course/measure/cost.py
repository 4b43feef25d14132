"""What an update costs, part by part.

The time of training is updates * (generate + transfer + infer + backward): a rung changes the first
part alone, so that its effect on training can be derived from its speed.
"""

import pandas as pd

from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.train.network import LegalActionNetwork
from rungs._src.train.ppo import PARTS, Learner
from rungs._src.train.settings import PpoSettings
from rungs_course.learners import LADDER

ONE_STEP = PpoSettings(num_steps=1, update_epochs=1, num_minibatches=1)


def time_updates(
    env: ChessVectorEnv,
    *,
    seed: int,
    repeats: int,
    warmup: int = 2,
    settings: PpoSettings = ONE_STEP,
    device: str = "cpu",
    learner: str = LADDER[0],
    network: LegalActionNetwork | None = None,
) -> pd.DataFrame:
    """Plays and learns, timing each part.

    Args:
        env: a chess environment with the learner's `mask`.
        seed: of the games, the network's weights and the actions sampled.
        repeats: updates timed, after `warmup` that are not.
        settings: how to learn; by default from one step of all boards, gone through once.
        device, learner, network: as of `rungs.train.Learner`.

    Returns:
        A row per update and part: `update`, `part` (of `PARTS`), `seconds`.
    """
    how = {"settings": settings, "device": device, "learner": learner, "network": network}
    made = Learner(env, seed=seed, **how)  # type: ignore[arg-type]  # each its own
    timed = [made.learn() for _ in range(warmup + repeats)][warmup:]
    rows = [(i, part, times[part]) for i, times in enumerate(timed) for part in PARTS]
    return pd.DataFrame(rows, columns=["update", "part", "seconds"])
