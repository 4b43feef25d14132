def misses(rows, columns, item, line, sets, ways):
    """Returns the cache misses of going through an array row by row, and column by column."""
    lines = rows * columns * item // line
    # If all of a column's lines fit in the cache, the next column finds them. But do they?
    fits = rows <= sets * ways
    return lines, lines if fits else rows * columns
