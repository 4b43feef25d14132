"""What AlphaZero's training of chess would take, at speeds that were measured here."""

import pandas as pd

_HOUR, _YEAR = 3600, 365.25 * 24 * 3600


def bill(
    simulations_per_second: dict[str, float],
    learnt_per_second: float,
    *,
    games: float,
    plies: float,
    simulations: int,
    batches: int,
    batch: int,
) -> pd.DataFrame:
    """Returns what self-play and learning take, each by itself.

    Args:
        simulations_per_second: of this machine, by what evaluates the leaves.
        learnt_per_second: positions that a learner here goes through.
        games: of self-play.
        plies: of a game.
        simulations: of a ply.
        batches: that were learnt from.
        batch: positions in each.

    Returns:
        A row per part: `part`, `what` it does and how often (`work`), `per_second` here, `hours`
        and `years` of this machine.
    """
    searched = games * plies * simulations
    rows = [
        ("self-play", f"simulations, {name}", searched, rate)
        for name, rate in simulations_per_second.items()
    ]
    rows.append(("learning", "positions", float(batches) * batch, learnt_per_second))
    table = pd.DataFrame(rows, columns=["part", "what", "work", "per_second"])
    seconds = table["work"] / table["per_second"]
    return table.assign(hours=seconds / _HOUR, years=seconds / _YEAR)
