"""An agent as a UCI engine, for chess programs: the protocol, the search, and the clock."""
