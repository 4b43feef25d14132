"""Pictures of ideas, one to a file, drawn and not measured."""
