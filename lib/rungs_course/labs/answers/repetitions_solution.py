def third_times(keys):
    """Says of each position whether it is there for the third time or more."""
    once, twice, found = set(), set(), []
    for key in keys:
        if key in once:
            found.append(key in twice)
            twice.add(key)
        else:  # most are new: they are looked up once
            found.append(False)
            once.add(key)
    return found
