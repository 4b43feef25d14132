"""Self-play: games by search, what is kept of them, learning, matches, ratings, and agents."""
