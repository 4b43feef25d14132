"""The labs, a folder each."""
