import numpy as np


def random_actions(mask, rng):
    """Returns a legal action for each board, (N,) int64, any of them equally likely."""
    boards, actions = mask.shape
    # All legal actions, in the order of boards: those in words that aren't zero.
    words = np.flatnonzero(mask.view(np.uint64))
    rows, columns = np.nonzero(mask.reshape(-1, 8)[words])
    legal = 8 * words[rows] + columns
    ends = np.searchsorted(legal, actions * np.arange(boards + 1))
    return legal[rng.integers(ends[:-1], ends[1:])] % actions
