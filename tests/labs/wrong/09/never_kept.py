# says: misses column by column: 8 rows of 16 items of 4 bytes
# By columns, each access is taken for a miss.
def misses(rows, columns, item, line, sets, ways):
    return rows * columns * item // line, rows * columns
