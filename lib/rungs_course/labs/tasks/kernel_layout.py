"""Lab 06: how boards lie in a GPU's memory, by the lines that a warp fetches."""

import numpy as np

from rungs_course.labs.inside.guards import guarded_empty
from rungs_course.labs.lab import Difference, Lab, require

_WORDS = 184  # of a board: the 1472 bytes that the CUDA rung keeps
_WARP, _LINE_WORDS = 32, 16  # threads; words of 8 bytes in a line of 128
_SPARE = 31  # boards' worth of memory that may stay unused
_COUNTS = (1, 31, 32, 33, 500, 1001)
_COUNTED = 1001


def _places(functions, boards: int) -> np.ndarray:
    places = guarded_empty((boards, _WORDS), np.int64)
    functions.run(boards, places)
    return places


def _judge(submission, _):
    for boards in _COUNTS:
        yield from _differences(submission, _places(submission, boards))


def _differences(submission, places: np.ndarray):
    """Yields what is wrong with the places of all words of some boards."""
    boards = len(places)
    size = submission.memory_words(boards)
    most = _WORDS * (boards + _SPARE)
    if size > most:
        yield Difference(f"words of memory for {boards} boards", f"at most {most}", str(size))
    for board, word in np.argwhere((places < 0) | (places >= size)):
        output = f"the place of board {board}, word {word} of {boards} boards"
        yield Difference(output, f"from 0 to {size - 1}", str(places[board, word]))
    yield _duplicate_place(places)


def _duplicate_place(places: np.ndarray) -> Difference | None:
    """Returns the first word whose place belongs to another already, if any."""
    flat = places.reshape(-1)
    _, first = np.unique(flat, return_index=True)
    if len(first) == len(flat):
        return None
    again = int(np.setdiff1d(np.arange(len(flat)), first)[0])
    owner = int(np.flatnonzero(flat == flat[again])[0])
    (board, word), (other, its) = divmod(again, _WORDS), divmod(owner, _WORDS)
    return Difference(
        f"the place of board {board}, word {word} of {len(places)} boards",
        "one of its own",
        f"{flat[again]}, where board {other}'s word {its} lies",
    )


def _count(functions, seed: int) -> float:
    counted = _COUNTED + seed % 500
    places = _places(functions, counted)
    require(_differences(functions, places))
    lines = places // _LINE_WORDS
    warps = [lines[first : first + _WARP] for first in range(0, counted, _WARP)]
    reads = [len(np.unique(warp[:, word])) for warp in warps for word in range(_WORDS)]
    return float(np.mean(reads))


LAB = Lab(
    "06",
    ("place", "memory_words"),
    _judge,
    target=0.95,
    cause="exercise",
    harness=f"""
void run(std::int64_t boards, std::int64_t* out) {{
  for (std::int64_t board = 0; board < boards; ++board)
    for (std::int64_t word = 0; word < {_WORDS}; ++word)
      out[{_WORDS} * board + word] = place(board, word, boards);
}}
""",
    unit="lines per read of a warp",
    count=_count,
)
