"""Parts of the command line, for programs with commands of their own: see `rungs.devel`."""

from rungs._src.cli import (
    add_conformance,
    add_parameters,
    add_quiet,
    add_run_options,
    parameters,
    play_suite,
    run_command,
    to_path,
)
