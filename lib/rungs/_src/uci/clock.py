"""Time management: how long to think about a move, given a game's clock.

What remains, and the increments that are still to come, is shared equally by the moves up to the
next time control. A controller's clock also runs while a move travels and other programs have the
processor, so each move gives up an overhead: with small increments the clock then settles well
above 0, at about `MOVES` times what an overhead is larger than the delays are.
"""

from typing import Final

MOVES: Final = 40  # moves that are expected until the end of a game, or of its time control


def thinking_time(
    remaining: float, increment: float, moves_to_go: int | None, overhead: float
) -> float:
    """Returns the seconds to think about a move: at least 0, where one is due at once.

    Never more than half of what remains, less the overhead, so that a delay does not lose a game
    whose increments are larger than its clock, or whose time control ends with this move.

    Args:
        remaining: seconds on the clock; controllers may send less than 0.
        increment: seconds that each move adds.
        moves_to_go: moves up to the next time control; None where there is none.
        overhead: seconds that a move takes besides thinking.
    """
    moves = min(moves_to_go or MOVES, MOVES)
    share = (remaining + increment * (moves - 1)) / moves
    return max(0.0, min(share, remaining / 2) - overhead)
