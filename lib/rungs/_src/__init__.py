"""The implementation of the public modules of `rungs`; it may change without notice."""
