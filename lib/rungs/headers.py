"""The C++ headers: where they are and which version of them this is."""

import hashlib
from pathlib import Path

CPP = (Path(__file__).parent / "cpp").resolve()
API = "rungs/api.hpp"
MPI_API = "rungs/mpi_api.hpp"
MACHINE_API = "machine/api.hpp"
CARTPOLE_API = "rungs/cartpole_api.hpp"


def fingerprint() -> str:
    """A hash of every header, which changes when any of them does."""
    digest = hashlib.sha256()
    for header in sorted([*CPP.rglob("*.hpp"), *(CPP / "cuda").iterdir()]):
        digest.update(str(header.relative_to(CPP)).encode() + b"\0" + header.read_bytes())
    return digest.hexdigest()[:16]
