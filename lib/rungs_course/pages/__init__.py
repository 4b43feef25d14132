"""Parts of README and docs that are generated, each from what was recorded or from notebooks."""
