"""The MPI rung: the boards shared out among ranks, on one machine or on many."""

import ctypes
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from rungs._src.chess.boards.boards import Boards, illegal_action
from rungs._src.chess.boards.engine import EngineBoards
from rungs._src.chess.boards.native import check_size
from rungs._src.chess.boards.openmp import OpenmpBoards
from rungs._src.chess.buffers import OUTPUTS, POSITION
from rungs._src.chess.settings import ChessSettings, share_ends
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import Seed, boolean, choice, seeds_of
from rungs._src.core.buffers import Buffers
from rungs._src.core.state import seed_number
from rungs._src.machine.cpu import usable_cores
from rungs._src.native import loader
from rungs._src.native.abi import described
from rungs.errors import ConfigurationError, InvalidStateError, UnavailableError


def make_mpi_boards(
    num_envs: int,
    first_board: int,
    settings: ChessSettings,
    *,
    gather: bool = True,
    transport: str | None = None,  # "shared" memory, by default on one machine, or "messages"
    threads: int | None = None,  # per rank: by default the machine's, shared among its ranks
    schedule: str = "static",
    chunk: int | None = None,
) -> Boards:
    """Makes boards shared out among ranks; every rank makes them, with the same arguments.

    With `gather`, rank 0 has the environment and the others work for it::

        env = rungs.make("chess", "mpi", num_envs=512)
        if env.serve():
            sys.exit()  # a rank other than 0, when rank 0 is done
        observation, info = env.reset()

    Without it, each rank has its share as an environment of its own, and all call `reset` and
    `step` at the same time. An error of one rank is raised on all of them.
    """
    gather = boolean("gather", gather)
    loop_settings = {"threads": threads, "schedule": schedule, "chunk": chunk}
    batch = {"num_envs": num_envs, "first_board": first_board}
    across = {"gather": gather, "transport": transport}
    ranks = Ranks(num_envs, batch | settings.given() | across | loop_settings)
    shared = ("shared",) if ranks.neighbours == ranks.size else ()
    transport = choice("transport", transport, (None, "messages", *shared))
    rank_boards, refused = None, None
    try:
        rank_boards = RankBoards(ranks, first_board, settings, **loop_settings)
    except UnavailableError as error:
        refused = f"rank {ranks.rank}: {error}"
    for message in filter(None, ranks.comm.allgather(refused)):
        raise UnavailableError(message)
    assert rank_boards is not None  # else this rank was refused
    if not gather:
        return rank_boards
    return GatheredBoards(ranks, rank_boards, shared=bool(shared) and transport != "messages")


class MpiChessEnv(ChessVectorEnv[np.ndarray]):
    boards: "RankBoards | GatheredBoards"

    def __init__(self, num_envs: int, boards: Callable[..., Boards], /, **settings: Any):
        super().__init__(num_envs, boards, **settings)
        check_agreement(self.boards.ranks.comm, {"seed": seed_number(self._seed)})
        if not isinstance(self.boards, GatheredBoards):  # each rank resets its own
            first = self.boards.ranks.first
            self._seed = seeds_of(self._seed, slice(first, first + self.num_envs))

    def serve(self) -> bool:
        self._check_open()
        if not isinstance(self.boards, GatheredBoards) or self.boards.ranks.rank == 0:
            return False
        self.boards.run_worker_loop()
        self.close()
        return True


class Ranks:
    """This rank among all, and the boards of each."""

    def __init__(self, num_envs: int, arguments: dict):
        self.api = loader.load_mpi()
        from mpi4py import MPI

        self.comm = MPI.COMM_WORLD.Dup()
        self.rank, self.size = self.comm.rank, self.comm.size
        check_agreement(self.comm, arguments)
        if num_envs < self.size:
            raise ConfigurationError(
                f"num_envs={num_envs} is less than one board for each of {self.size} ranks"
            )
        machine = self.comm.Split_type(MPI.COMM_TYPE_SHARED)
        self.neighbours = machine.size
        machine.Free()
        ends = share_ends(num_envs, self.size)
        self.starts = np.array([0, *ends[:-1]], np.int32)
        self.counts = np.array(ends, np.int32) - self.starts
        self.first, self.count = int(self.starts[self.rank]), int(self.counts[self.rank])
        self.struct = described(self.api).structures["Ranks"](
            communicator=self.comm.py2f(), boards=self.counts, first=self.starts
        )


def check_agreement(comm: Any, arguments: dict) -> None:
    """Raises ConfigurationError on all ranks where they were given different values by name."""
    gathered = comm.allgather(arguments)
    different = []
    for name, value in gathered[0].items():
        rank = next((i for i, values in enumerate(gathered) if values[name] != value), None)
        if rank is not None:
            other = gathered[rank][name]
            different.append(f"{name}={value!r} on rank 0 and {other!r} on rank {rank}")
    if different:
        raise ConfigurationError(f"ranks were given different settings: {'; '.join(different)}")


class RankBoards(OpenmpBoards):
    """A rank's own boards: an illegal action on any rank is raised on all of them."""

    def __init__(
        self, ranks: Ranks, first_board: int, settings: ChessSettings, **loop_settings: Any
    ):
        self.ranks = ranks
        first = first_board + ranks.first
        super().__init__(ranks.count, first, settings, api=ranks.api, **loop_settings)
        self._mpi_step = ranks.api.rungs_chess_mpi_step
        self._addresses = ctypes.addressof(ranks.struct), self.address, self._loop

    def _cores(self) -> int:
        return max(1, usable_cores() // self.ranks.neighbours)

    def step(self, actions: np.ndarray) -> int:
        self.actions[...] = actions
        ended = self._mpi_step(*self._addresses, self.actions)
        if ended < 0:
            number = -1 - ended
            illegal = self.if_local(lambda _, board: (self.fen(board), int(actions[board])), number)
            fen, action = next(filter(None, self.ranks.comm.allgather(illegal)))
            raise illegal_action(self, number - self.ranks.first, action, fen)
        return ended

    # Remote calls: rank 0 runs these on every rank. Board numbers are global.

    def if_local(self, function: Callable, number: int) -> Any:
        """Returns `function(self, board)` for a board of this rank, None for any other's."""
        board = number - self.ranks.first
        return function(self, board) if 0 <= board < self.num_envs else None

    def open_with(self, replies: np.ndarray) -> None:
        """Plays an engine's first plies, given (N,) int64 replies for all ranks' boards."""
        assert self.replies is not None  # an engine plays
        self.replies[:] = replies[self.ranks.first : self.ranks.first + self.num_envs]
        self.open()

    def validate_part(self, payload: bytes) -> str | None:
        """Returns what is wrong with this rank's part; else keeps it for `commit_part`."""
        size = self.state_bytes() // self.num_envs  # of a board
        at = size * self.ranks.first
        try:
            check_size(payload, size * int(self.ranks.counts.sum()))
            self._checked = self.checked(payload[at : at + size * self.num_envs])
        except InvalidStateError as error:
            return str(error)
        return None

    def commit_part(self, seed: Seed) -> None:
        """Restores the part that `validate_part` kept; `seed` is that of all ranks."""
        self.take(self._checked, self._seed_of_rank(seed))
        del self._checked

    def set_seed_of_rank(self, seed: Seed) -> None:
        self.set_seed(self._seed_of_rank(seed))

    def _seed_of_rank(self, seed: Seed) -> Seed:
        return seeds_of(seed, slice(self.ranks.first, self.ranks.first + self.num_envs))

    def outputs(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        return {name: getattr(self.buffers, name) for name in names}


class GatheredBoards(EngineBoards):
    """On rank 0 all boards, whose outputs the others write or send; on those, their own boards."""

    def __init__(self, ranks: Ranks, rank_boards: RankBoards, shared: bool):
        self.ranks, self._rank_boards, self.shared = ranks, rank_boards, shared
        all_boards, settings = int(ranks.counts.sum()), rank_boards.settings
        # The boards that this rank handles: rank 0 all, any other its own.
        num_envs = all_boards if ranks.rank == 0 else ranks.count
        self._own_rows = slice(ranks.first, ranks.first + num_envs)
        shared_outputs = None
        if shared:
            like = Buffers.like(settings.output_kinds(), all_boards)
            memory = self._rank_0_memory(like.memory_bytes())
            shared_outputs = like.within(memory).rows(self._own_rows)
        super().__init__(num_envs, rank_boards.first_board, settings, shared_outputs)
        self._gathered_outputs = self.buffers
        rank_boards.write_to(self._gathered_outputs.rows(slice(0, ranks.count)))
        self._actions = self._array_per_board(np.int64)
        self._which = self._array_per_board(np.bool_)
        if self.replies is not None:
            self.replies = self._array_per_board(np.int64)
            rank_boards.read_replies(self.replies[: ranks.count])
        structures = described(ranks.api).structures
        self._gathering = structures["Gathering"](
            ranks=ranks.struct,
            shared=shared,
            actions=self._actions,
            replies=self.replies,
            which=self._which,
        )
        self._order: Any = structures["Order"](task="CALL", episode=0, partial=False)
        self._seed: Seed | None = None  # the seed that all ranks draw by
        self._tasks = {name: self._order.number("task", name) for name in ("RESET", "STEP", "CALL")}
        self._lead = ranks.api.rungs_chess_mpi_lead
        self._addresses = (
            ctypes.addressof(self._gathering),
            rank_boards.address,
            ctypes.addressof(rank_boards.loop_settings),
        )
        # However rank 0 ends, it dismisses the others.
        if ranks.rank == 0:
            order = type(self._order).from_buffer_copy(self._order)
            alive = rank_boards, self._gathering
            arguments = (ranks.comm, self._lead, self._addresses, order, *alive)
            self._dismiss = weakref.finalize(self, _dismiss, *arguments)

    def run_worker_loop(self) -> None:
        """Works for rank 0, on any other rank, until rank 0 is done."""
        while True:
            self.ranks.api.rungs_chess_mpi_follow(*self._addresses)
            call = self.ranks.comm.bcast(None)
            if call is None:
                return
            function, *arguments = call
            self.ranks.comm.gather(function(self._rank_boards, *arguments))

    def close(self) -> None:
        if self.ranks.rank == 0:
            self._dismiss()

    def write_to(self, buffers: Buffers) -> None:
        self.buffers = buffers
        # Shared outputs stay where they are, and are copied from there.
        if not self.shared:
            self._rank_boards.write_to(buffers.rows(slice(0, self.ranks.count)))

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        if which is not None:
            self._which[:] = which
        if self._seed is None or not np.array_equal(seed, self._seed):
            self._on_all_ranks(RankBoards.set_seed_of_rank, seed)
            self._seed = seed
        number = -1 if episode is None else episode
        self._command("RESET", episode=number, partial=which is not None)
        self._copy_outputs(POSITION)

    def step(self, actions: np.ndarray) -> int:
        self._actions[:] = actions
        ended = self._command("STEP")
        if ended < 0:
            board = -1 - ended
            raise illegal_action(self, board, int(actions[board]))
        self._copy_outputs(OUTPUTS)
        return ended

    def open(self) -> None:
        self._on_all_ranks(RankBoards.open_with, self.replies)
        self._gather_outputs(POSITION)

    def fen(self, board: int) -> str:
        return next(filter(None, self._on_all_ranks(RankBoards.if_local, RankBoards.fen, board)))

    def fens(self) -> list[str]:
        return [fen for part in self._on_all_ranks(RankBoards.fens) for fen in part]

    def agent_is_black(self, board: int) -> bool:
        is_black = RankBoards.agent_is_black
        return any(self._on_all_ranks(RankBoards.if_local, is_black, board))

    def layout(self) -> str:
        # Without history the bytes do not depend on the number of ranks; with it each rank writes
        # boards, then histories.
        layout, parts = self._rank_boards.layout(), self.ranks.size
        return layout if self.settings.obs == "board" or parts == 1 else f"{layout}, {parts} parts"

    def dump(self) -> bytes:
        return b"".join(self._on_all_ranks(RankBoards.dump))

    def load(self, payload: bytes, seed: Seed) -> None:
        for flaw in filter(None, self._on_all_ranks(RankBoards.validate_part, payload)):
            raise InvalidStateError(flaw)
        self._on_all_ranks(RankBoards.commit_part, seed)
        self._seed = seed
        self._gather_outputs((*POSITION, "ended"))

    def _array_per_board(self, dtype: type[np.generic]) -> np.ndarray:
        """Makes an array with an entry per board, for rank 0 to pass to all others."""
        if not self.shared:
            return np.zeros(self.num_envs, dtype)
        boards = int(self.ranks.counts.sum())
        memory = self._rank_0_memory(boards * np.dtype(dtype).itemsize)
        return np.frombuffer(memory, dtype, boards)[self._own_rows]

    def _rank_0_memory(self, size: int) -> Any:
        from mpi4py import MPI

        window = MPI.Win.Allocate_shared(
            size if self.ranks.rank == 0 else 0, 1, comm=self.ranks.comm
        )
        memory, _ = window.Shared_query(0)
        return memory

    def _copy_outputs(self, names: Iterable[str]) -> None:
        """Copies outputs from the shared memory to the caller's buffers, where these are others."""
        if self.shared and self.buffers is not self._gathered_outputs:
            self.buffers.restore({name: getattr(self._gathered_outputs, name) for name in names})

    def _command(self, task: str, *, episode: int = 0, partial: bool = False) -> int:
        order = self._order
        order.task, order.episode, order.partial = self._tasks[task], episode, partial
        return self._lead(*self._addresses, ctypes.addressof(order))

    def _on_all_ranks(self, function: Callable[..., Any], *arguments: Any) -> list:
        """Calls a method of every rank's own boards; returns what each returned."""
        self._command("CALL")
        self.ranks.comm.bcast((function, *arguments))
        answers = self.ranks.comm.gather(function(self._rank_boards, *arguments))
        return answers  # type: ignore[return-value]  # rank 0, which asks, has them

    def _gather_outputs(self, names: Sequence[str]) -> None:
        parts = self._on_all_ranks(RankBoards.outputs, names)
        for first, count, part in zip(self.ranks.starts, self.ranks.counts, parts, strict=True):
            self.buffers.rows(slice(first, first + count)).restore(part)


def _dismiss(comm: Any, lead: Callable, addresses: tuple, order: Any, *alive: object) -> None:
    lead(*addresses, ctypes.addressof(order))
    comm.bcast(None)
