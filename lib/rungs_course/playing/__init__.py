"""The page to play on, served with agents in native code: `python -m rungs_course play`."""
