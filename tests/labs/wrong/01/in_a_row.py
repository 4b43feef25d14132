# says: game 0, position 12: has it been there twice before: expected True, but it is False
# The three times need not be four plies apart.
def third_times(keys):
    return [i >= 8 and keys[i] == keys[i - 4] == keys[i - 8] for i in range(len(keys))]
