"""Figures and tables drawn from saved data, and widgets that call the same functions."""
