"""Agents that play one game at a time, as on the page to play on, in native code."""
