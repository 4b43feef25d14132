"""Self-play: games by search, the replay buffer, learning, matches, ratings, and agents."""
