"""What tools and courses around Rungs may import of its implementation, beside the public names.

Names may change or go with any release. Here are files, processes, compilers and this machine;
`devel.envs` has boards, conformance and search, `devel.train` and `devel.selfplay`, which import
PyTorch, the learners and players, and `devel.cli` commands.
"""

from rungs._src import paths
from rungs._src.cartpole.physics import FORCE, SECONDS, Physics, physics
from rungs._src.core import philox
from rungs._src.core.arguments import Seed, choice, integer, seed_and_number, shown
from rungs._src.core.atomic import (
    UNFINISHED,
    atomic_write,
    remove_leftovers,
    reraise_as_storage_error,
)
from rungs._src.core.folder import Folder, locked_output_dir, resolved, temporary_dir, user_dir
from rungs._src.core.memory import CACHE_LINE, whole_lines
from rungs._src.core.philox import Purpose, below
from rungs._src.core.progress import Say, is_shown, line, silent, watched
from rungs._src.core.schema import check_is_file, schema_error
from rungs._src.machine import gpu, known
from rungs._src.machine.cpu import cpu_features, cpu_quota
from rungs._src.native import cache, cling, gpp, headers, loader, mpi, wheel
from rungs._src.native.abi import Api, described, load_library
from rungs._src.processes.parent_death import signalled_at_parents_death
from rungs._src.processes.ranks import launch
from rungs._src.processes.workers import CONTEXT, Workers, preload
from rungs._src.programs import COMPILING, run_program, start_program
from rungs._src.provenance import commit, commit_of, now, provenance
from rungs._src.registry import DEFAULT_RUNG
from rungs._src.threads import openmp
