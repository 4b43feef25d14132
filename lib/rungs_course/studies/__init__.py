"""What the notebooks measure: a module per experiment."""
