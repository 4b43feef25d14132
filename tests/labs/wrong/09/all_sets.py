# says: misses column by column: 32 rows of 128 items of 8 bytes
# A column's lines are taken to be spread over all sets.
def misses(rows, columns, item, line, sets, ways):
    lines = columns * item // line
    return rows * lines, rows * (lines if -(-rows // sets) <= ways else columns)
