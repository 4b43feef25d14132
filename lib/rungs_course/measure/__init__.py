"""Timing that can be believed: equality first, then interleaved repeats, medians and spread."""
