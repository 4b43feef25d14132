"""The rungs of chess: a module each, with the class that steps the boards."""
