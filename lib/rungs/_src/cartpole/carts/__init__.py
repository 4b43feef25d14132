"""What a CartPole environment owns, a module for each rung."""
