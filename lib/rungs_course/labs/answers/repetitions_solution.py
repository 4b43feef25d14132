def third_times(keys):
    """Says of each position whether it is there for the third time or more."""
    counts = dict.fromkeys(keys, 0)
    found = []
    for key in keys:
        counts[key] += 1
        found.append(counts[key] >= 3)
    return found
