"""Planes and packed bits, against constructions of their own."""

from itertools import pairwise

import chess
import numpy as np
import pytest
import torch

import rungs
from rungs._src.chess.actions import legal_actions
from rungs._src.chess.observation import BOARD_FIELDS, PLANE_NAMES
from rungs._src.chess.unpack import unpack_list, unpack_mask, unpack_planes
from rungs.errors import ConfigurationError
from tests.proof import lockstep


def planes_of(board):
    """AlphaZero's planes square by square, from the board and what it can take back."""
    planes = np.zeros((119, 8, 8), np.float32)
    us = board.turn

    def row_and_column(square):
        square = square if us == chess.WHITE else chess.square_mirror(square)
        return chess.square_rank(square), chess.square_file(square)

    then = board.copy()
    for plies in range(8):
        for square, piece in then.piece_map().items():
            plane = 14 * plies + (0 if piece.color == us else 6) + piece.piece_type - 1
            planes[plane, *row_and_column(square)] = 1
        planes[14 * plies + 12] = then.is_repetition(2)
        planes[14 * plies + 13] = then.is_repetition(3)
        if not then.move_stack:
            break
        then.pop()
    planes[112] = us == chess.BLACK
    planes[113] = board.fullmove_number
    for plane, side in ((114, us), (116, not us)):
        planes[plane] = board.has_kingside_castling_rights(side)
        planes[plane + 1] = board.has_queenside_castling_rights(side)
    planes[118] = board.halfmove_clock
    return planes


# The lockstep of the others with this one is proven elsewhere.
@pytest.mark.parametrize(
    ("start", "policy"), [(None, "uniform"), (None, "shuffling"), ("chess960", "rare")]
)
def test_planes_are_alphazeros(policy, start):
    settings = {"obs": "planes", "autoreset_mode": "DISABLED", "start": start}
    env = rungs.make("chess", "cpp", 4, **settings)
    observation, info = env.reset(seed=5)
    boards = [chess.Board(fen, chess960=bool(start)) for fen in env.fens()]
    rng = np.random.default_rng(5)
    repeated, rights = 0, set()
    for _ in range(130):
        np.testing.assert_array_equal(observation, [planes_of(board) for board in boards])
        repeated += int(observation[:, 12, 0, 0].sum())
        rights |= {tuple(row) for row in observation[:, 114:118, 0, 0].tolist()}
        actions = lockstep.POLICIES[policy](info["action_mask"], observation, rng)
        for board, action in zip(boards, actions.tolist(), strict=True):
            board.push(legal_actions(board)[action])
        observation, _, terminated, _, info = env.step(actions)
        if terminated.any():
            last = [planes_of(boards[i]) for i in np.flatnonzero(terminated)]
            np.testing.assert_array_equal(observation[terminated], last)
            observation, info = env.reset(options={"reset_mask": terminated})
            for i in np.flatnonzero(terminated):
                boards[i] = chess.Board(env.fens()[i], chess960=bool(start))
    assert repeated or policy != "shuffling"
    assert len(rights) > (6 if start else 1)


def test_planes_show_the_opening_before_an_episode(rung):
    env = rungs.make("chess", rung, 3, obs="planes", opening_plies=(5, 5), seed=2)
    observation, _ = env.reset()
    # Six positions are known, from the start on; each younger one differs from the one before.
    for known, planes in ((range(6), True), (range(6, 8), False)):
        assert all(observation[:, 14 * t : 14 * t + 12].any() == planes for t in known)
    own_view = observation[:, 14 * 1 : 14 * 1 + 12]
    assert (observation[:, :12] != own_view).any()


def test_masks_unpack():
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**64, (3, 2, 73), np.uint64)
    mask = unpack_mask(words)
    assert (mask.shape, mask.dtype) == ((3, 2, 4672), np.bool_)
    for action in (0, 1, 63, 64, 1000, 4671):
        expected = words[..., action // 64] >> np.uint64(action % 64) & np.uint64(1)
        np.testing.assert_array_equal(mask[..., action], expected.astype(bool))
    np.testing.assert_array_equal(unpack_mask(words[:, 1]), mask[:, 1])  # it is not contiguous
    for tensor in (torch.from_numpy(words), torch.from_numpy(words.view(np.int64))):
        assert unpack_mask(tensor).dtype == torch.bool
        np.testing.assert_array_equal(unpack_mask(tensor).numpy(), mask)
        np.testing.assert_array_equal(unpack_mask(tensor[:, 1]).numpy(), mask[:, 1])


WORDS = [np.zeros((2, 72), np.uint64), np.zeros((), np.uint64), np.zeros((2, 73), np.int64)]
WORDS += [torch.zeros(2, 119)]
LISTS = [np.zeros((2, 218), np.int64), torch.zeros(2, 218), [1, 2], np.zeros((), np.int16)]
LISTS += [np.full((1, 3), 4672, np.int16), torch.full((1, 3), -2, dtype=torch.int16)]


@pytest.mark.parametrize("unpack", [unpack_mask, unpack_planes, unpack_list])
def test_only_outputs_are_unpacked(unpack):
    for useless in LISTS if unpack is unpack_list else WORDS:
        with pytest.raises(ConfigurationError):
            unpack(useless)


def test_fields_and_planes_are_named_in_order_and_once():
    ranges = list(BOARD_FIELDS)
    assert (ranges[0][0], ranges[-1][1]) == (0, 71)
    assert all(before[1] + 1 == after[0] for before, after in pairwise(ranges))
    assert len(set(PLANE_NAMES)) == len(PLANE_NAMES) == 119
