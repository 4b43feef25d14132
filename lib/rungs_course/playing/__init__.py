"""A page to play on against an agent: the board, the game, and what the agent thinks."""

from rungs_course.playing.page import play

__all__ = ["play"]
