"""How often each side attacks each square, by tables: `cpp/learn/attacks.hpp` in PyTorch."""

import functools

import torch

STATES = 9  # of a square: attacked 0, 1 or more times by each side
_STEPS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
_JUMPS = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]
_PAWNS = [(1, -1), (1, 1)]  # own; theirs go the other way


def attack_states(observation: torch.Tensor) -> torch.Tensor:
    """Returns 3 times own attacks plus theirs, at most 2 each, of squares, (N, 64) int64."""
    leaps, source, between, target = _tables(observation.device)
    own_pawns, their_pawns, knights, kings = leaps
    squares = observation[:, :64]
    free = (squares != 0).float() @ between == 0  # the lines on which nothing stands in between
    counts = []
    for side, pawns in ((squares, own_pawns), (-squares, their_pawns)):
        pawn, knight, bishop, rook, queen, king = (side == kind for kind in range(1, 7))
        sliders = torch.cat([rook | queen, bishop | queen], 1)
        along = (sliders[:, source] & free).float() @ target
        attacks = along + pawn.float() @ pawns + knight.float() @ knights + king.float() @ kings
        counts.append(attacks.clamp(max=2).long())
    return 3 * counts[0] + counts[1]


@functools.cache
def _tables(device: torch.device) -> tuple[torch.Tensor, ...]:
    """Returns tables of leaps, and of L lines between squares of a rank, file or diagonal.

    (4, 64, 64) float32: whether pawns of the side to move, the opponent's pawns, knights and kings
    attack one square from another. (L,) int64: the first square of each line, plus 64 on diagonals.
    (64, L) float32: whether a square lies between the ends. (L, 64) float32: whether it is the
    second end.
    """
    steps = (_PAWNS, [(-rank, file) for rank, file in _PAWNS], _JUMPS, _STEPS)
    leaps = torch.zeros(4, 64, 64)
    for table, directions in zip(leaps, steps, strict=True):
        for square in range(64):
            for direction in directions:
                for leapt_to in _line(square, direction)[:1]:
                    table[square, leapt_to] = 1
    lines = [
        (square + 64 * (direction[0] * direction[1] != 0), line[:length], line[length])
        for square in range(64)
        for direction in _STEPS
        for line in [_line(square, direction)]
        for length in range(len(line))
    ]
    between, target = torch.zeros(64, len(lines)), torch.zeros(len(lines), 64)
    for number, (_, inside, last) in enumerate(lines):
        between[inside, number] = 1
        target[number, last] = 1
    source = torch.tensor([source for source, *_ in lines])
    return tuple(table.to(device) for table in (leaps, source, between, target))


def _line(square: int, direction: tuple[int, int]) -> list[int]:
    """Returns the squares from `square` in a direction to the edge of the board, without itself."""
    (rank, file), line = divmod(square, 8), []
    while 0 <= (rank := rank + direction[0]) < 8 and 0 <= (file := file + direction[1]) < 8:
        line.append(8 * rank + file)
    return line
