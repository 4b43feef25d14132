"""The labs, a module each."""
