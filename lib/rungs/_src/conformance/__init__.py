"""The conformance suite: positions and games that test an environment's chess."""
