import math


def misses(rows, columns, item, line, sets, ways):
    """Returns the cache misses of going through an array row by row, and column by column."""
    row_lines = columns * item // line
    # How many lines apart a column's items are, and how many of the sets they use, in turns.
    used = sets // math.gcd(row_lines, sets)
    per_set, more = divmod(rows, used)
    # Sets with `per_set` lines of a column, and others with one more. A set that can't hold its
    # lines loses each of them before it is needed again.
    reused = (used - more) * per_set * (per_set <= ways) + more * (per_set + 1) * (per_set < ways)
    lost = rows - reused
    return rows * row_lines, reused * row_lines + lost * columns
