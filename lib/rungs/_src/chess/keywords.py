"""The keywords of `rungs.make("chess", ...)` for editors and type checkers."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypedDict

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src.chess.engine import UciEngine
from rungs._src.chess.observation import DtypeName, ObsName

# The rungs whose outputs are NumPy's arrays; those of "cuda" are PyTorch's tensors.
HostChessRung: TypeAlias = Literal["python", "multiprocessing", "cpp", "openmp", "threads", "mpi"]
ChessRung: TypeAlias = HostChessRung | Literal["cuda"]

MaskFormat: TypeAlias = Literal["bool", "bits", "list"]
AutoresetName: TypeAlias = Literal[
    "SAME_STEP", "NEXT_STEP", "DISABLED", "SameStep", "NextStep", "Disabled"
]


class ChessKeywords(TypedDict, total=False):
    """The keywords of `rungs.make("chess", rung, num_envs, ...)`, each with its type.

    Each is documented in `rungs.chess.ChessVectorEnv` (`seed`, `first_board`), in
    `rungs.chess.ChessSettings` (`opponent` to `start`), or in the classes of the rungs, each of
    which accepts some of the others.
    """

    seed: int | Sequence[int] | np.ndarray
    first_board: int

    opponent: Literal["random"] | UciEngine | None
    obs: ObsName
    mask: MaskFormat
    autoreset_mode: AutoresetMode | AutoresetName
    max_plies: int | None
    start_fens: Sequence[str] | None
    opening_plies: Sequence[int]
    dtype: DtypeName | None
    start: Literal["chess960"] | None

    compiler: Literal["wheel", "g++", "cling"] | None
    threads: int | None
    schedule: Literal["static", "dynamic", "guided"]
    chunk: int | None
    workers: int | None
    transport: Literal["queue", "shared", "messages"] | None
    timeout: float | None
    gather: bool
    device: Literal["cuda", "cpu"]
    threads_per_block: int
    validate: bool
