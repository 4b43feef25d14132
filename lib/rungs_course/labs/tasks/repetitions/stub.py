def third_times(keys):
    """Says of each position whether it is there for the third time or more."""
    return [False for key in keys]
