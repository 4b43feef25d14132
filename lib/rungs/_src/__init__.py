"""What the public modules of `rungs` are made of; it may change without notice."""
