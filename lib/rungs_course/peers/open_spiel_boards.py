"""OpenSpiel's chess (Lanctot et al. 2019) behind our interface, used with care for its speed.

Legal moves, endings and returns are OpenSpiel's own, computed in C++ for one board at a time.
Everything around them is done in NumPy for all boards at once: from OpenSpiel's tensors to our
observations, from its action ids to our masks and back.

Its rules are ours but for one. Threefold repetition requires the same position with the same moves.
OpenSpiel also distinguishes positions of which one has an en-passant capture that is not legal, as
where the pawn that would capture is pinned: then it counts one repetition less than ours.

And one thing differs: a stalemate in which neither side has the material to mate is reported as
`STALEMATE`, where our rungs say `INSUFFICIENT_MATERIAL`. It is a draw either way.
"""

from itertools import chain

import chess
import numpy as np

from rungs.base import Purpose, philox
from rungs.chess import NUM_ACTIONS, NUM_PLANES, ChessSettings, Reason, action_of
from rungs.devel import Seed, below
from rungs.devel.envs import Boards, illegal_action
from rungs.errors import ConfigurationError, UnavailableError
from rungs_course.peers import imported
from rungs_course.peers.open_spiel import CASTLING_OF, TO_OURS, TO_THEIRS, load_chess

_TO_OURS = TO_OURS.tolist()  # a list is faster for single look-ups

# OpenSpiel's tensor, from `ObservationTensor` in its games/chess/chess.cc: a plane for each colour
# of each of these kinds, White first; a plane of empty squares; then planes of one number each.
_KINDS = (chess.KING, chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT, chess.PAWN)
_PLANES = 20
_PIECE_OF_PLANE = np.zeros(_PLANES, np.float32)
_PIECE_OF_PLANE[: 2 * len(_KINDS)] = [sign * kind for kind in _KINDS for sign in (1, -1)]
_REPETITIONS, _SIDE, _CLOCK = 13, 14, 15
_MAX_REPETITIONS, _MAX_CLOCK = 2, 101  # what 1.0 stands for
# Rights to castle are in its order White's long, short, Black's long, short; ours begins with the
# mover's short, long.
_RIGHTS_OF_WHITE, _RIGHTS_OF_BLACK = (17, 16, 19, 18), (19, 18, 17, 16)

# A pawn's two squares from its second rank, in OpenSpiel's ids, and on which file.
_DOUBLE_STEPS = {
    int(TO_THEIRS[action_of(chess.Move(square, square + 16), black=False)]): square % 8
    for square in range(chess.A2, chess.H2 + 1)
}
# By file, the captures that may answer it en passant: from which square, and OpenSpiel's id.
_CAPTURES = [
    [
        (square, int(TO_THEIRS[action_of(chess.Move(square, chess.A6 + file), black=False)]))
        for square in range(chess.A5, chess.H5 + 1)
        if abs(square % 8 - file) == 1
    ]
    for file in range(8)
]


class OpenSpielBoards(Boards):
    """OpenSpiel's games as boards of ours.

    `opponent` is None or "random", `obs` "board", `autoreset_mode` SAME_STEP, and episodes begin
    with the initial position. `get_state` and `set_state` raise `UnavailableError`.
    """

    def __init__(self, num_envs: int, first_board: int, settings: ChessSettings):
        _check_supported(settings)
        super().__init__(num_envs, first_board, settings)
        game = load_chess()
        observing = imported("OpenSpiel", "open_spiel.python.observation")
        self._observation = observing.make_observation(game)
        self._initial, self._seed = game.new_initial_state(), 0
        self._boards = np.arange(num_envs)
        self._numbers = np.arange(num_envs, dtype=np.uint64) + np.uint64(first_board)
        self._episodes = np.zeros(num_envs, np.uint64)
        self._plies = np.zeros(num_envs, np.uint64)
        self._tensors = np.empty((num_envs, _PLANES, 64), np.float32)
        self._states = [self._initial] * num_envs
        # In OpenSpiel's ids: what is legal, nothing where a game is over; and what was played last.
        self._legal: list[list[int]] = [[]] * num_envs
        self._last: list[int | None] = [None] * num_envs

    def reset(self, which: np.ndarray | None, seed: Seed, episode: int | None) -> None:
        if isinstance(seed, np.ndarray):
            raise ConfigurationError("seed: OpenSpiel's boards take one for all")
        self._seed = seed
        self._begin(self._boards if which is None else np.flatnonzero(which), episode)
        self._write()

    def step(self, actions: np.ndarray) -> int:
        ids = self._peer_ids(actions)
        agents = _players(self._plies)
        self._play(self._boards, ids)
        if self.settings.opponent == "random":
            self._reply(np.flatnonzero([bool(legal) for legal in self._legal]))
        ended = self._judge(agents)
        if len(ended):
            self._observe(ended, self.buffers.final_observation)
            self._begin(ended, None)
        self._write()
        return len(ended)

    def fen(self, board: int) -> str:
        fields = self._states[board].board().to_fen().split()
        if self.buffers.observation[board, 68] < 0:
            fields[3] = "-"  # where OpenSpiel names a square that no legal capture leads to
        return " ".join(fields)

    def layout(self) -> str:
        raise UnavailableError("get_state and set_state are not available with OpenSpiel")

    def dump(self) -> bytes:
        return self.layout().encode()

    def load(self, payload: bytes, seed: Seed) -> None:
        self.layout()

    def _begin(self, boards: np.ndarray, episode: int | None) -> None:
        """Begins `episode`, or the next one where it is None, on (n,) boards."""
        self._episodes[boards] = self._episodes[boards] + 1 if episode is None else episode
        self._plies[boards] = 0
        legal = self._initial.legal_actions()  # kept by the state, and by its clones
        for i in boards.tolist():
            self._states[i] = self._initial.clone()
            self._legal[i], self._last[i] = legal, None
        if self.settings.opponent == "random":
            opponent_is_white = (self._numbers[boards] + self._episodes[boards]) % 2 == 1
            self._reply(boards[opponent_is_white])

    def _play(self, boards: np.ndarray, ids: list[int]) -> None:
        """Plays a legal action, in OpenSpiel's id, on each of (n,) boards."""
        self._plies[boards] += 1
        for i, action in zip(boards.tolist(), ids, strict=True):
            state = self._states[i]
            state.apply_action(action)
            self._legal[i], self._last[i] = state.legal_actions(), action

    def _reply(self, boards: np.ndarray) -> None:
        """Plays the random opponent's ply, chosen as every rung does, on (n,) boards."""
        # `philox` and `below` accept arrays of uint64 as well as numbers.
        counter = (self._numbers[boards], self._episodes[boards], self._plies[boards])
        bits = philox(self._seed, *counter, Purpose.OPPONENT)
        counts = np.array([len(self._legal[i]) for i in boards], np.uint64)
        ranks = below(bits, counts).tolist()  # type: ignore[arg-type,attr-defined]
        legal = (sorted(self._legal[i], key=_TO_OURS.__getitem__) for i in boards)
        self._play(boards, [actions[rank] for actions, rank in zip(legal, ranks, strict=True)])

    def _peer_ids(self, actions: np.ndarray) -> list[int]:
        """Returns OpenSpiel's ids of (N,) actions, all of which must be legal."""
        inside = (actions >= 0) & (actions < NUM_ACTIONS)
        ids = np.where(inside, TO_THEIRS[actions * inside], -1).tolist()
        for i, legal in enumerate(self._legal):
            if ids[i] not in legal:
                ids[i] = CASTLING_OF.get(ids[i])
                if ids[i] not in legal:
                    raise illegal_action(self, i, int(actions[i]))
        return ids

    def _judge(self, agents: list[int]) -> np.ndarray:
        """Writes the step's result for `agents`, (N,) players; returns boards that ended, (n,)."""
        out = self.buffers
        out.reward.fill(0)
        out.reason.fill(Reason.ONGOING)
        out.truncated.fill(False)
        out.terminated[:] = [not legal for legal in self._legal]
        for i in np.flatnonzero(out.terminated).tolist():
            out.reward[i] = self._states[i].returns()[agents[i]]
            out.reason[i] = reason_of(self._states[i])
        if self.settings.max_plies is not None:
            out.truncated[:] = (self._plies >= self.settings.max_plies) & ~out.terminated
            out.reason[out.truncated] = Reason.MAX_PLIES
        np.logical_or(out.terminated, out.truncated, out=out.ended)
        return np.flatnonzero(out.ended)

    def _write(self) -> None:
        """Writes observations, masks and players of all boards."""
        out = self.buffers
        self._observe(self._boards, out.observation)
        out.player[:] = out.observation[:, 71]
        counts = [len(legal) for legal in self._legal]
        rows = np.repeat(self._boards, counts)
        actions = TO_OURS[np.fromiter(chain.from_iterable(self._legal), np.int64, len(rows))]
        if self.settings.mask == "list":
            self._list(rows, actions, counts)
            return
        out.mask.fill(0)
        if self.settings.mask == "bool":
            out.mask[rows, actions] = True
        else:
            bits = np.left_shift(np.uint64(1), (actions % 64).astype(np.uint64))
            # No action is listed twice, so adding a bit sets it.
            np.add.at(out.mask.reshape(-1), NUM_PLANES * rows + actions // 64, bits)

    def _list(self, rows: np.ndarray, actions: np.ndarray, counts: list[int]) -> None:
        """Lists the (n,) legal actions of all boards, `counts` of them on each, in `rows`."""
        order = np.lexsort((actions, rows))
        places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.buffers.mask.fill(-1)
        self.buffers.mask[rows, places] = actions[order]
        self.buffers.action_count[:] = counts

    def _observe(self, boards: np.ndarray, out: np.ndarray) -> None:
        """Writes movers' observations of (n,) boards to those rows of `out`."""
        listed = boards.tolist()
        tensors = self._tensors[: len(listed)]
        for tensor, i in zip(tensors.reshape(len(listed), -1), listed, strict=True):
            self._observation.set_from(self._states[i], 0)  # the same for both players
            tensor[:] = self._observation.tensor
        rows = _observations(tensors)
        for k, i in enumerate(listed):
            if self._last[i] in _DOUBLE_STEPS:
                rows[k, 68] = self._en_passant_file(i, rows[k])
        out[boards] = rows

    def _en_passant_file(self, board: int, observation: np.ndarray) -> int:
        """Returns the file of a legal en-passant capture after a double step, -1 for none."""
        file = _DOUBLE_STEPS[self._last[board]]  # type: ignore[index]  # it was one
        if observation[chess.A5 + file] != -chess.PAWN:
            return -1
        legal = self._legal[board]
        captures = _CAPTURES[file]
        can = any(
            observation[square] == chess.PAWN and capture in legal for square, capture in captures
        )
        return file if can else -1


def _check_supported(settings: ChessSettings) -> None:
    only = ChessSettings()
    for name in ("obs", "autoreset_mode", "start", "start_fens", "opening_plies"):
        value, default = getattr(settings, name), getattr(only, name)
        if value != default:
            raise ConfigurationError(f"{name}={value!r}: with OpenSpiel it is {default!r}")
    if settings.opponent not in (None, "random"):
        raise ConfigurationError("opponent: with OpenSpiel it is None or 'random', not an engine")


def _players(plies: np.ndarray) -> list[int]:
    """Returns OpenSpiel's players to move after `plies`: 0 is Black, 1 White, who begins."""
    return (plies % 2 == 0).astype(int).tolist()


def reason_of(state) -> Reason:
    """Returns why a game is over, as far as OpenSpiel reports it."""
    if any(state.returns()):
        return Reason.CHECKMATE
    board = state.board()
    if not board.has_legal_moves():
        return Reason.STALEMATE
    if int(board.to_fen().split()[4]) >= 100:
        return Reason.FIFTY_MOVES
    if state.is_repetition_draw():
        return Reason.THREEFOLD_REPETITION
    return Reason.INSUFFICIENT_MATERIAL


def _observations(tensors: np.ndarray) -> np.ndarray:
    """Returns (n, 20, 64) float32 of OpenSpiel's as (n, 72) int8 of ours, without en passant."""
    rows = np.empty((len(tensors), 72), np.int8)
    numbers = tensors[:, :, 0]
    black = numbers[:, [_SIDE]] == 0
    squares = _PIECE_OF_PLANE @ tensors  # White's positive, from White's side
    flipped = squares.reshape(-1, 8, 8)[:, ::-1].reshape(-1, 64)
    rows[:, :64] = np.where(black, -flipped, squares)
    rows[:, 64:68] = np.where(black, numbers[:, _RIGHTS_OF_BLACK], numbers[:, _RIGHTS_OF_WHITE])
    rows[:, 68] = -1
    rows[:, 69] = np.rint(numbers[:, _CLOCK] * _MAX_CLOCK)
    rows[:, 70] = np.rint(numbers[:, _REPETITIONS] * _MAX_REPETITIONS)
    rows[:, 71] = black[:, 0]
    return rows
