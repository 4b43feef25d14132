"""Whether an environment plays chess: a versioned suite of positions and games, and its results."""
