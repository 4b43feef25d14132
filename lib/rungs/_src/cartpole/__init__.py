"""CartPole-v1: one contract, a module for each rung."""
