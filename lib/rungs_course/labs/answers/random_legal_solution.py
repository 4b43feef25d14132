import numpy as np


def random_actions(mask, rng):
    """Returns a legal action for each board, (N,) int64, any of them equally likely."""
    boards, actions = mask.shape
    # Eight actions are a word. Few words aren't zero: how many actions are legal before each?
    words = mask.view(np.uint64).reshape(-1)
    some = np.flatnonzero(words != 0)
    before = np.concatenate([[0], np.bitwise_count(words[some]).cumsum(dtype=np.int64)])
    # Each board draws one of its own among all that are legal, and finds its word.
    ends = before[np.searchsorted(some, actions // 8 * np.arange(boards + 1))]
    picks = rng.integers(ends[:-1], ends[1:])
    which = np.searchsorted(before, picks, side="right") - 1
    up_to = mask.reshape(-1, 8)[some[which]].cumsum(axis=1)
    inside = (up_to <= (picks - before[which])[:, None]).sum(axis=1)
    return (8 * some[which] + inside) % actions
