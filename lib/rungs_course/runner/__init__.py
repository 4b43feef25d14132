"""Running the course: notebooks one by one, as a chain, with a record of what was run."""
