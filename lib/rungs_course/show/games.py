"""Games as a reader sees them: diagrams of one, and how random ones go and end."""

import pandas as pd

from rungs_course import boards


def side_by_side(lines: pd.DataFrame, columns: int = 4):
    """Draws how several players go on from one position, a row of diagrams for each.

    Args:
        lines: of `rungs_course.studies.ages.same_opening`.
        columns: how many plies of each are drawn.
    """
    shown = lines[lines.groupby("who")["ply"].rank() <= columns]
    titles = [
        f"{row.who}\n{(row.ply + 1) // 2}.{'' if row.ply % 2 else '..'} {row.san}"
        for row in shown.itertuples()
    ]
    return boards.rows_of(shown.assign(title=titles).itertuples(), columns)
