def misses(rows, columns, item, line, sets, ways):
    """Returns the cache misses of going through an array row by row, and column by column."""
    by_rows = [(row, column) for row in range(rows) for column in range(columns)]
    by_columns = [(row, column) for column in range(columns) for row in range(rows)]
    return tuple(
        simulated(order, columns, item, line, sets, ways) for order in (by_rows, by_columns)
    )


def simulated(order, columns, item, line, sets, ways):
    """Returns the misses of accesses in an order: a set's least recently used line leaves."""
    held, count = [[] for _ in range(sets)], 0
    for row, column in order:
        number = (row * columns + column) * item // line
        lines = held[number % sets]
        if number in lines:
            lines.remove(number)
        else:
            count += 1
            if len(lines) == ways:
                lines.pop(0)
        lines.append(number)
    return count
