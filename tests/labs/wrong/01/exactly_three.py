# says: has it been there twice before: expected True, but it is False
# The fourth time counts as well.
def third_times(keys):
    return [keys[: i + 1].count(key) == 3 for i, key in enumerate(keys)]
