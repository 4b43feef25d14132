"""Parts that all environments share: arguments, memory, random numbers, state."""
