# says: misses column by column: 66 rows of 8 items of 8 bytes
# If one set can't hold its lines, none is taken to.
import math


def misses(rows, columns, item, line, sets, ways):
    lines = columns * item // line
    used = sets // math.gcd(lines, sets)
    return rows * lines, rows * (lines if -(-rows // used) <= ways else columns)
