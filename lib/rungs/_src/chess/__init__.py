"""Chess: the environment's contract (`vector_env`) and one module per rung."""
