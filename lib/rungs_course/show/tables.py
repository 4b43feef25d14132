"""Tables for people, from saved data."""

import pandas as pd

from rungs._src.registry import rungs_of
from rungs_course.show.style import duration, ratio, speed


def ladder(frame: pd.DataFrame, floor: float | None = None) -> pd.DataFrame:
    """Writes the ladder as a reader sees it, from the numbers of `studies.ladder.ladder_table`.

    Args:
        frame: that table.
        floor: seconds that merely writing a step's outputs takes; with it, how much of this bound
            each rung reaches is another column.
    """
    implementations = {rung.name: rung.implementation for rung in rungs_of("chess")}
    table = pd.DataFrame(
        {
            "Version": range(1, len(frame) + 1),
            "Rung": frame["rung"],
            "Implementation": frame["rung"].map(implementations),
            "Time of a step": frame["seconds"].map(duration),
            "Plies": frame["plies_per_second"].map(speed),
            "Absolute speed-up": frame["absolute_speedup"].map(ratio),
            "Interval": [
                f"{low:.4g} to {high:.4g}"
                for low, high in zip(frame["speedup_low"], frame["speedup_high"], strict=True)
            ],
            "Relative speed-up": frame["relative_speedup"].map(ratio),
            "Training, estimated": frame["training_speedup"].map(ratio),
        }
    )
    if floor:
        table["Of all cores' bound"] = (floor / frame["seconds"]).map("{:.2%}".format)
    return table


def markdown(table: pd.DataFrame) -> str:
    """Writes a table as GitHub's Markdown."""
    rows = [table.columns, ["---"] * len(table.columns), *table.itertuples(index=False)]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def aligned(table: pd.DataFrame) -> str:
    """Writes a table as plain text: the first column to the left, the others to the right."""
    rows = [tuple(table.columns), *table.itertuples(index=False)]
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(table.columns))]
    return "\n".join(
        "  ".join(
            str(cell).rjust(width) if i else str(cell).ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
