"""Lab 06: how boards lie in a GPU's memory, by the lines that a warp fetches."""

from pathlib import Path

import numpy as np

from rungs_course.labs import guarded
from rungs_course.labs.lab import Difference, Lab

_WORDS = 184  # of a board: the 1472 bytes that the CUDA rung keeps
_WARP, _LINE_WORDS = 32, 16  # threads; words of 8 bytes in a line of 128
_SPARE = 31  # boards' worth of memory that may stay unused
_COUNTS = (1, 31, 32, 33, 500, 1001)
_COUNTED = 1001


def _places(functions, boards: int) -> np.ndarray:
    places = guarded.empty((boards, _WORDS), np.int64)
    functions.run(boards, places)
    return places


def _judge(functions):
    for boards in _COUNTS:
        size = functions.memory_words(boards)
        most = _WORDS * (boards + _SPARE)
        if size > most:
            return Difference(f"words of memory for {boards} boards", f"at most {most}", str(size))
        places = _places(functions, boards)
        outside = np.argwhere((places < 0) | (places >= size))
        if outside.size:
            board, word = (int(i) for i in outside[0])
            what = f"the place of board {board}, word {word} of {boards} boards"
            return Difference(what, f"from 0 to {size - 1}", str(places[board, word]))
        difference = _twice(places)
        if difference:
            return difference
    return None


def _twice(places: np.ndarray) -> Difference | None:
    """Returns the first place that is given away a second time."""
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


def _work(functions):
    def lines_per_read() -> float:
        lines = _places(functions, _COUNTED) // _LINE_WORDS
        warps = [lines[first : first + _WARP] for first in range(0, _COUNTED, _WARP)]
        reads = [len(np.unique(warp[:, word])) for warp in warps for word in range(_WORDS)]
        return float(np.mean(reads))

    return lines_per_read


LAB = Lab(
    name="06",
    title="what neighbours read lies side by side",
    notebook="06_cuda",
    minutes=15,
    goal="""A kernel steps a board a thread, and 32 threads, a warp, go together: thread 0 to 31 of
warp `w` have boards `32 w` to `32 w + 31`. When they read, all read the same word of their boards
at once, and memory answers in lines of 128 bytes, 16 words: as many lines are fetched as these 32
words lie in. Write `place(board, word, boards)`, the place in memory (0, 1, ...) of a board's word,
of 184, where there are `boards` boards, and `memory_words(boards)`, how many words of memory that
takes. Line 0 begins at place 0. The number of boards need not be a multiple of 32, so you may pad:
up to 31 boards' words of memory may stay unused. The cost is counted: lines per read of a warp,
with 1001 boards.""",
    defines=("place", "memory_words"),
    hints=(
        "In the baseline a board's words lie together: that is right for a processor. Here the "
        "same word of neighbouring boards should lie together.",
        "`word * boards + board` is nearly it. But with 1001 boards a row of words begins in the "
        "middle of a line, and a warp's 32 words lie in three lines, not two. Let each row be as "
        "long as the next multiple of 32.",
    ),
    judge=_judge,
    work=_work,
    target=0.95,
    folder=Path(__file__).parent,
    harness=f"""
void run(std::int64_t boards, std::int64_t* out) {{
  for (std::int64_t board = 0; board < boards; ++board)
    for (std::int64_t word = 0; word < {_WORDS}; ++word)
      out[{_WORDS} * board + word] = place(board, word, boards);
}}
""",
    unit="lines per read of a warp",
)
