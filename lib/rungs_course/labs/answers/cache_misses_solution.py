import math


def misses(rows, columns, item, line, sets, ways):
    """Returns the cache misses of going through an array row by row, and column by column."""
    row_lines = columns * item // line
    # How many lines apart a column's items are, and how many of the sets they use, in turns.
    used = sets // math.gcd(row_lines, sets)
    each, more = divmod(rows, used)
    # Sets with `each` lines of a column, and those with one more. A set that can't hold its lines
    # loses each of them before it is needed again.
    kept = (used - more) * each * (each <= ways) + more * (each + 1) * (each < ways)
    lost = rows - kept
    return rows * row_lines, kept * row_lines + lost * columns
