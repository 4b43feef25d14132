def third_times(keys):
    """Says of each position whether it is there for the third time or more."""
    return [keys[: i + 1].count(key) >= 3 for i, key in enumerate(keys)]
