"""The spread that every measurement is reported with."""

import pandas as pd


def quartiles(values, middle: str = "median") -> pd.DataFrame | pd.Series:
    """Returns `low`, the median (called `middle`) and `high` of a series, or a column each for its
    groups.
    """
    names = ["low", middle, "high"]
    parts = values.quantile([0.25, 0.5, 0.75])
    if isinstance(values, pd.Series):
        return parts.set_axis(names)
    return parts.unstack().set_axis(names, axis=1)
