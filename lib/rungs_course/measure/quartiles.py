"""The spread that every measurement is reported with."""

import pandas as pd


def quartiles(values, middle: str = "median") -> pd.DataFrame | pd.Series:
    """Returns the quartiles of a series, or of each of its groups.

    Args:
        values: a series, or one grouped by something.
        middle: what the median is called.

    Returns:
        `low`, the median and `high`: of a series by name, of groups a column each.
    """
    names = ["low", middle, "high"]
    parts = values.quantile([0.25, 0.5, 0.75])
    if isinstance(values, pd.Series):
        return parts.set_axis(names)
    return parts.unstack().set_axis(names, axis=1)
