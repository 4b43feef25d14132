def third_times(keys):
    """Says of each position whether it is there for the third time or more."""
    once, twice, repeated = set(), set(), []
    for key in keys:
        if key in once:
            repeated.append(key in twice)
            twice.add(key)
        else:  # most are new: they are looked up once
            repeated.append(False)
            once.add(key)
    return repeated
