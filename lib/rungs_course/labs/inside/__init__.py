"""The part of the labs that runs in an answer's process: it compiles the answer and calls it.

A sandbox contains this package and the library, but neither the judges nor the solutions.
"""
