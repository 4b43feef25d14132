"""What processes that are started often have in their environment, so that each starts sooner."""

# What g++ has compiled once, each of many processes only loads. Cling compiles it in each.
QUICK_START = {"RUNGS_COMPILER": "g++"}
