"""What runs where an answer runs: it is compiled and called here, and sees nothing else of labs.

A sandbox has this package and the library, and neither the judges nor the solutions.
"""
