"""What every environment shares: arguments, memory, random numbers, state."""
