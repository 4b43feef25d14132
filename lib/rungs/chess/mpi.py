"""The MPI rung: the boards shared out among ranks, on one machine or on many."""

import ctypes
import weakref

import numpy as np

from rungs import jit
from rungs.arguments import choice, integer
from rungs.chess.buffers import Buffers
from rungs.chess.native import Boards
from rungs.chess.openmp import OpenmpChessEnv
from rungs.chess.settings import share_ends
from rungs.chess.vector_env import ChessVectorEnv
from rungs.errors import ConfigurationError, IllegalActionError
from rungs.machine.cpu import usable_cores

# In the order of `rungs::mpi::Task`.
_RESET, _STEP, _CALL = range(3)


class _Ranks(ctypes.Structure):
    """`rungs::mpi::Ranks`."""

    _fields_ = (
        ("communicator", ctypes.c_int64),
        ("boards", ctypes.c_void_p),
        ("first", ctypes.c_void_p),
        ("gather", ctypes.c_int64),
        ("actions", ctypes.c_void_p),
        ("replies", ctypes.c_void_p),
        ("which", ctypes.c_void_p),
    )


class _Order(ctypes.Structure):
    """`rungs::mpi::Order`."""

    _fields_ = (
        ("task", ctypes.c_int64),
        ("episode", ctypes.c_int64),
        ("seed", ctypes.c_uint64),
        ("partial", ctypes.c_int64),
    )


class MpiChessEnv(OpenmpChessEnv):
    """See `ChessVectorEnv` for arguments and outputs. Every rank makes it, with the same arguments.

    With `gather`, rank 0 has the environment and the others work for it::

        env = rungs.make("chess", "mpi", num_envs=512)
        if env.serve():
            sys.exit()  # a rank other than 0, when rank 0 is done
        observation, info = env.reset()

    Ranks on one machine write to its memory; from others, outputs are sent to it. That memory lasts
    as long as MPI does.

    Without, each rank has its own share as an environment of its own, and all call `reset` and
    `step` at the same time. An illegal action on any rank is raised on all of them.

    Args:
        num_envs: number of boards on all ranks together, at least one each.
        gather: whether rank 0 has all boards, or each rank its own.
        transport: how boards are gathered: "shared" memory, or "messages"; by default shared where
            all ranks are on one machine.
        threads: per rank; by default this machine's usable cores shared among its ranks.

    Raises:
        UnavailableError: there is no MPI here.
        ConfigurationError: as all do, or there are fewer boards than ranks.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        gather: bool = True,
        transport: str | None = None,
        threads: int | None = None,
        **settings,
    ):
        num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        api = jit.load_mpi()
        from mpi4py import MPI

        # A communicator of its own, so that two environments can't hear each other.
        self._comm = MPI.COMM_WORLD.Dup()
        self.rank, self.ranks = self._comm.rank, self._comm.size
        self.gather = bool(gather)
        if num_envs < self.ranks:
            raise ConfigurationError(
                f"num_envs={num_envs} is less than one board for each of {self.ranks} ranks"
            )
        ends = share_ends(num_envs, self.ranks)
        self._first = np.array([0, *ends[:-1]], np.int32)
        self._counts = np.array(ends, np.int32) - self._first
        neighbours = self._comm.Split_type(MPI.COMM_TYPE_SHARED)
        together = neighbours.size == self.ranks
        choice("transport", transport, (None, "messages", *(["shared"] if together else [])))
        self._shared = self.gather and together and transport != "messages"
        if threads is None:
            threads = max(1, usable_cores() // neighbours.size)
        neighbours.Free()
        whole = self.gather and self.rank == 0
        first_board = settings.pop("first_board", 0) + int(self._first[self.rank])
        boards = num_envs if whole else int(self._counts[self.rank])
        super().__init__(boards, threads=threads, first_board=first_board, api=api, **settings)
        self._actions = self._dealt_out(np.int64)
        self._replies = self._dealt_out(np.int64)
        self._which = self._dealt_out(np.bool_)
        self._ranks = _Ranks(
            self._comm.py2f(),
            self._counts.ctypes.data,
            self._first.ctypes.data,
            self.gather + self._shared,
            self._actions.ctypes.data,
            self._replies.ctypes.data,
            self._which.ctypes.data,
        )
        self._order = _Order()
        self._addresses = (
            ctypes.addressof(self._ranks),
            self._boards.address,
            self._team_address,
        )
        self._lead = self._api.rungs_chess_mpi_lead
        # However rank 0 ends, the others hear of it.
        self._dismiss = (
            weakref.finalize(self, _dismiss, self._comm, self._lead, self._addresses)
            if whole
            else lambda: None
        )

    def serve(self) -> bool:
        """On a rank that works for rank 0, does so until rank 0 closes the environment.

        Returns:
            Whether this is such a rank.
        """
        if not self.gather or self.rank == 0:
            return False
        self._check_open()
        while True:
            self._api.rungs_chess_mpi_follow(*self._addresses)
            call = self._comm.bcast(None)
            if call is None:
                self.close()
                return True
            method, *arguments = call
            self._comm.gather(getattr(self, method)(*arguments))

    def fens(self) -> list[str]:
        """The position of every board as a FEN, from all ranks at once."""
        self._check_begun("fens")
        return [fen for part in self._everywhere("_own_fens") for fen in part]

    def close_extras(self, **kwargs) -> None:
        """Lets the other ranks go (called by `close`)."""
        super().close_extras(**kwargs)
        self._dismiss()

    def _allocate(self, obs: str, mask: str) -> Buffers:
        """Rank 0's memory, where all ranks see it: then nothing need be sent."""
        if not self._shared:
            return super()._allocate(obs, mask)
        like = Buffers.like((int(self._counts.sum()),), obs, mask)
        self._seen = like.within(self._rank_0_memory(like.memory_bytes())).rows(self._share())
        return self._seen

    def _write_to(self, buffers: Buffers) -> None:
        # What all ranks see stays where it is, and is copied from there.
        if self._shared:
            ChessVectorEnv._write_to(self, buffers)
        else:
            super()._write_to(buffers)

    def _copy_seen(self, *names: str) -> None:
        """Brings outputs from where all ranks see them to where the caller wants them."""
        if self._shared and self._buffers is not self._seen:
            self._buffers.restore({name: getattr(self._seen, name) for name in names})

    def _dealt_out(self, dtype) -> np.ndarray:
        """An entry per board, from rank 0 to all others."""
        if not self._shared:
            return np.zeros(self.num_envs, dtype)
        boards, itemsize = int(self._counts.sum()), np.dtype(dtype).itemsize
        memory = self._rank_0_memory(boards * itemsize)
        return np.frombuffer(memory, dtype, boards)[self._share()]

    def _rank_0_memory(self, size: int) -> memoryview:
        from mpi4py import MPI

        own = size if self.rank == 0 else 0
        window = MPI.Win.Allocate_shared(own, 1, comm=self._comm)
        memory, _ = window.Shared_query(0)
        return memory

    def _share(self) -> slice:
        """The boards of the batch that this rank sees: rank 0 all, any other its own."""
        first = int(self._first[self.rank])
        return slice(None) if self.rank == 0 else slice(first, first + self._counts[self.rank])

    def _own_boards(self) -> Boards:
        own = slice(0, int(self._counts[self.rank]))
        return Boards(self._api, self._buffers.rows(own), self.settings, self.first_board)

    def _reset(self, which: np.ndarray | None, episode: int | None) -> None:
        if which is not None:
            self._which[:] = which
        number = -1 if episode is None else episode
        self._command(_RESET, episode=number, seed=self._seed, partial=which is not None)
        self._copy_seen("observation", "mask", "player")

    def _step(self, actions: np.ndarray, replies: np.ndarray | None) -> int:
        self._actions[:] = actions
        if replies is not None:
            self._replies[:] = replies
        ended = self._command(_STEP, partial=replies is not None)
        if ended < 0:
            raise self._illegal_anywhere(-1 - ended)
        self._copy_seen(*vars(self._buffers))
        return ended

    def _begin_with(self, replies: np.ndarray) -> None:
        self._everywhere("_begin_own", replies)
        self._take_outputs()

    def _fen(self, board: int) -> str:
        return next(filter(None, self._everywhere("_own_fen", self._first[self.rank] + board)))

    def _episode(self, board: int) -> int:
        episodes = self._everywhere("_own_episode", self._first[self.rank] + board)
        return next(episode for episode in episodes if episode is not None)

    def _layout(self) -> str:
        # However they are shared out, boards follow one another; but a rank's history follows its.
        layout, parts = self._boards.layout(), self.ranks if self.gather else 1
        return layout if self.settings.obs == "board" or parts == 1 else f"{layout}, {parts} parts"

    def _dump(self) -> bytes:
        return b"".join(self._everywhere("_own_dump"))

    def _load(self, payload: bytes) -> None:
        self._everywhere("_load_own", payload, self._seed)
        self._take_outputs()

    def _command(self, task: int, *, episode=0, seed=0, partial=False) -> int:
        order = self._order
        order.task, order.episode, order.seed, order.partial = task, episode, seed, partial
        return self._lead(*self._addresses, ctypes.addressof(order))

    def _everywhere(self, method: str, *arguments) -> list:
        """What a method returns on every rank, or here alone where ranks keep to themselves."""
        if not self.gather:
            return [getattr(self, method)(*arguments)]
        self._command(_CALL)
        self._comm.bcast((method, *arguments))
        return self._comm.gather(getattr(self, method)(*arguments))

    def _take_outputs(self) -> None:
        """Gathers observations, masks and players as the boards stand."""
        parts = self._everywhere("_own_outputs")
        for first, count, part in zip(self._first, self._counts, parts, strict=True):
            if self.gather:
                self._buffers.rows(slice(first, first + count)).restore(part)

    def _own(self, board: int) -> int | None:
        """The index here of a board of all ranks', if it is ours."""
        index = int(board) - int(self._first[self.rank])
        return index if 0 <= index < self._counts[self.rank] else None

    def _own_fen(self, board: int) -> str | None:
        index = self._own(board)
        return None if index is None else super()._fen(index)

    def _own_fens(self) -> list[str]:
        return [OpenmpChessEnv._fen(self, index) for index in range(self._counts[self.rank])]

    def _own_episode(self, board: int) -> int | None:
        index = self._own(board)
        return None if index is None else super()._episode(index)

    def _begin_own(self, replies: np.ndarray) -> None:
        first = self._first[self.rank] if self.gather else 0
        super()._begin_with(np.ascontiguousarray(replies[first:]))

    def _own_dump(self) -> bytes:
        return self._boards.dump()

    def _load_own(self, payload: bytes, seed: int) -> None:
        self._seed = seed
        own = len(self._boards.dump())
        at = own // int(self._counts[self.rank]) * int(self._first[self.rank])
        super()._load(payload[at : at + own] if self.gather else payload)

    def _own_outputs(self) -> dict[str, np.ndarray]:
        written = self._seen if self._shared else self._buffers
        out = written.rows(slice(0, int(self._counts[self.rank])))
        return {"observation": out.observation, "mask": out.mask, "player": out.player}

    def _illegal_anywhere(self, board: int) -> IllegalActionError:
        """The error for a board of all ranks'; where ranks keep to themselves, its owner tells."""
        index = self._own(board)
        if self.gather:
            fen, action = self._fen(board), int(self._actions[board])
        else:
            mine = None if index is None else (self._own_fen(board), int(self._actions[index]))
            fen, action = next(filter(None, self._comm.allgather(mine)))
        return self._illegal(board - int(self._first[self.rank]), action, fen)


def _dismiss(comm, lead, addresses: tuple) -> None:
    order = _Order(_CALL)
    lead(*addresses, ctypes.addressof(order))
    comm.bcast(None)
