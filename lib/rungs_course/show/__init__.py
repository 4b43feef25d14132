"""Figures of notebooks."""
