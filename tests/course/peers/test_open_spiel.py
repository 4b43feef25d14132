"""OpenSpiel behind our interface: our games, the one rule that differs, and what it refuses."""

import itertools
import random
import sys
from collections import Counter

import chess
import numpy as np
import pytest

import rungs
from rungs._src.chess.actions import NUM_ACTIONS, action_of, target_of
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.reason import Reason
from rungs.errors import ConfigurationError, IllegalActionError, UnavailableError
from rungs_course import peers
from rungs_course.measure.verify import verify
from rungs_course.peers.open_spiel import CASTLING_OF, TO_OURS, TO_THEIRS
from rungs_course.peers.open_spiel_boards import reason_of
from tests.proof import lockstep

pytestmark = pytest.mark.system
pyspiel = pytest.importorskip("pyspiel")

# num_envs, steps, policy, settings
GAMES = [
    (1, 1000, "uniform", {}),
    (7, 700, "shuffling", {"mask": "bits"}),
    (7, 400, "rare", {"max_plies": 37, "first_board": 5}),
    (16, 500, "uniform", {"opponent": "random"}),
    (16, 500, "shuffling", {"opponent": "random", "mask": "bits"}),
    (16, 300, "rare", {"opponent": "random", "mask": "bits", "max_plies": 200}),
    (16, 200, "uniform", {"opponent": "random", "mask": "list", "max_plies": 90}),
]


def pair(num_envs, **settings):
    env = rungs.make("chess", "cpp", num_envs, **settings)
    return env, peers.make("OpenSpiel", num_envs, **settings)


def test_open_spiel_is_cpp_in_games_that_end_in_every_way():
    reasons = Counter()
    for num_envs, steps, policy, settings in GAMES:
        envs = pair(num_envs, **settings)
        reasons += lockstep.play(*envs, seed=num_envs, steps=steps, policy=policy)
    assert set(reasons) == {int(reason) for reason in Reason} - {Reason.ONGOING}


def test_reset_begins_next_episodes_where_asked():
    envs = pair(6, opponent="random")
    mask = np.arange(6) % 3 == 0
    for arguments in ({"seed": 3}, {}, {"options": {"reset_mask": mask}}):
        expected, outcome = (env.reset(**arguments) for env in envs)
        verify("OpenSpiel", outcome, expected, f"after reset({arguments})")


class TestActionIds:
    # Where castling and every way to promote are near, for either side.
    STARTS = (
        chess.STARTING_FEN,
        "r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - 0 1",
        "r3k2r/p6p/8/8/8/8/P6P/R3K2R b KQkq - 0 1",
        "3qk3/8/8/8/8/8/8/R3Q1KR w - - 0 1",  # from e1 others than kings move two squares
        "1n1n1n1n/P1P1P1P1/8/8/8/2k5/4K3/8 w - - 0 1",
        "8/4k3/2K5/8/8/8/p1p1p1p1/1N1N1N1N b - - 0 1",
    )

    def test_on_the_board_they_are_a_bijection(self):
        on_board = np.array([a for a in range(NUM_ACTIONS) if target_of(a) is not None])
        np.testing.assert_array_equal(TO_OURS[TO_THEIRS[on_board]], on_board)
        ids_on_board = np.flatnonzero(TO_OURS[:NUM_ACTIONS] >= 0)
        np.testing.assert_array_equal(TO_THEIRS[TO_OURS[ids_on_board]], ids_on_board)
        assert (np.delete(TO_THEIRS, on_board) == -1).all()

    @pytest.mark.parametrize("fen", STARTS)
    def test_legal_ones_are_the_same_moves(self, fen):
        rng = random.Random(1)
        game = pyspiel.load_game("chess")
        for _ in range(10):
            state, board = game.new_initial_state(fen), chess.Board(fen)
            while not state.is_terminal() and board.ply() < 300:
                self.check(state, board)
                action = rng.choice(state.legal_actions())
                board.push_uci(uci_of(state, action))
                state.apply_action(action)

    def check(self, state, board):
        ids = state.legal_actions()
        actions = TO_OURS[ids].tolist()
        moves = {action_of(move, not board.turn): move.uci() for move in board.legal_moves}
        assert dict(zip(actions, (uci_of(state, a) for a in ids), strict=True)) == moves
        back = TO_THEIRS[actions].tolist()
        assert [b if b in ids else CASTLING_OF[b] for b in back] == ids


def uci_of(state, action):
    return pyspiel.chess.action_to_move(action, state.board()).to_lan()


class TestRulesThatDiffer:
    # Black's last pawn passes one that may not capture it, as the queen pins it.
    PINNED = ("e2e4", "e7e5", "d2d4", "e5d4", "e4e5", "d8e7", "a2a3", "d7d5")
    ROUND = ("g1h3", "g8h6", "h3g1", "h6g8")

    def test_a_capture_that_is_not_legal_delays_threefold_repetition(self):
        envs = pair(1)
        for env in envs:
            env.reset()

        def play(uci):
            return [env.step([env.legal_moves(0)[uci]]) for env in envs]

        for uci in self.PINNED + self.ROUND[:3]:
            outputs, peer_outputs = play(uci)
            verify("OpenSpiel", peer_outputs, outputs, f"after {uci}")
        # The position is there again, but for OpenSpiel it could be captured en passant before.
        assert [outcome[0][0, 70] for outcome in play(self.ROUND[3])] == [1, 0]
        for uci in self.ROUND:
            outputs, peer_outputs = play(uci)
        assert (outputs[2], outputs[4]["reason"]) == (True, Reason.THREEFOLD_REPETITION)
        assert not peer_outputs[2]
        # The position after the knight's move, which both know, is there a third time.
        _, peer_outputs = play(self.ROUND[0])
        assert (peer_outputs[2], peer_outputs[4]["reason"]) == (True, Reason.THREEFOLD_REPETITION)

    def test_a_stalemate_without_material_to_mate_is_a_stalemate(self):
        fen = "k7/8/K7/4B3/8/8/8/8 b - - 0 1"
        state = pyspiel.load_game("chess").new_initial_state(fen)
        assert state.is_terminal()
        assert reason_of(state) == Reason.STALEMATE
        assert chess.Board(fen).is_insufficient_material()


def test_material_that_can_not_mate_is_the_same():
    # Knights, and bishops on light squares (a4, a6) and on dark ones (a3, a5), of either side.
    pieces = ("Na8", "Nc8", "na7", "nb8", "Ba4", "ba6", "Ba3", "ba5")
    game = pyspiel.load_game("chess")
    for some in itertools.chain.from_iterable(itertools.combinations(pieces, n) for n in range(5)):
        board = chess.Board("7k/8/8/8/8/8/8/K7 w - - 0 1")
        for piece in some:
            square = chess.parse_square(piece[1:])
            board.set_piece_at(square, chess.Piece.from_symbol(piece[0]))
        state = game.new_initial_state(board.fen())
        assert state.is_terminal() == board.is_insufficient_material(), some


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("obs", "planes"),
        ("obs", "bitplanes"),
        ("autoreset_mode", "NEXT_STEP"),
        ("autoreset_mode", "DISABLED"),
        ("start", "chess960"),
        ("start_fens", ["4k3/8/8/8/8/8/8/4K2R w K - 0 1"]),
        ("opening_plies", (0, 2)),
        ("opponent", UciEngine(sys.executable)),
    ],
)
def test_settings_it_does_not_support_are_refused(name, value):
    with pytest.raises(ConfigurationError, match=f"{name}.*OpenSpiel"):
        peers.make("OpenSpiel", 2, **{name: value})


def test_states_can_not_be_saved():
    env = peers.make("OpenSpiel", 2)
    env.reset()
    for call in (env.get_state, lambda: env.set_state(b"")):
        with pytest.raises(UnavailableError, match="get_state"):
            call()


@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, 0, 64 * 10 + chess.E1])
def test_an_illegal_action_changes_nothing(action):
    env = peers.make("OpenSpiel", 2)
    observation, _ = env.reset()
    before = observation.copy()
    with pytest.raises(IllegalActionError, match="board 1"):
        env.step([64 * 8 + chess.E2, action])
    np.testing.assert_array_equal(observation, before)
    assert env.fens() == [chess.STARTING_FEN] * 2
