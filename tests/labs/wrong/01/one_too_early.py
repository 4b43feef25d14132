# says: has it been there twice before: expected False, but it is True
# The count before this one is added to.
def third_times(keys):
    return [keys[: i + 1].count(key) >= 2 for i, key in enumerate(keys)]
