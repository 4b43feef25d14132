"""The carts of an environment, a module for each rung."""
