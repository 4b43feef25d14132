"""Other projects' environments behind our interface, to be measured beside our rungs."""
