"""The rungs of chess: a small class each, which says how boards are stepped."""
