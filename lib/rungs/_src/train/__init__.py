"""Learning from what the environments generate."""
