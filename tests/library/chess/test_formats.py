"""Masks as lists, and planes of other dtypes: the same on every rung, and what they stand for."""

import chess
import numpy as np
import pytest
import torch

import rungs
from rungs._src.chess.actions import action_of
from rungs._src.chess.policy import random_actions
from rungs._src.chess.unpack import unpack_list, unpack_mask, unpack_planes
from rungs.errors import InvalidFenError, InvalidStateError
from rungs_course.measure.verify import assert_same

# Petrovic 1964: no reachable position has more legal moves.
MOST = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
# 230 moves, of 15 queens.
TOO_MANY = "knQ1QQ2/nn5Q/1Q6/3QQ1Q1/Q7/Q6Q/4QQ2/1QQ4K w - - 0 1"
# Boards whose outputs are streamed past the caches (cpp/env/stream_store.hpp).
PLANES = {"obs": "planes", "mask": "bits"}
STREAMED = [
    ("cpp", 7200, {"mask": "bool"}),
    ("cpp", 1200, PLANES),
    ("cpp", 2300, PLANES | {"dtype": "bfloat16"}),
    ("cpp", 4500, PLANES | {"dtype": "uint8"}),
    ("openmp", 7200, {"mask": "bool", "threads": 2}),
    ("threads", 1200, PLANES | {"threads": 2}),
]


@pytest.mark.parametrize(("rung", "num_envs", "settings"), STREAMED)
def test_outputs_beyond_the_caches_are_the_same(rung, num_envs, settings):
    packed = {"mask": "bits"} | ({"obs": "bitplanes"} if "obs" in settings else {})
    batch = rungs.make("chess", rung, num_envs, **settings)
    reference = rungs.make("chess", "cpp", num_envs, **packed)
    batch.reset(seed=1)
    mask, rng = reference.reset(seed=1)[1]["action_mask"], np.random.default_rng(1)
    for _ in range(2):
        actions = random_actions(mask, rng)
        planes, *_, info = batch.step(actions)
        words, *_, expected = reference.step(actions)
        mask = expected["action_mask"]
        if "obs" in settings:
            assert_same("planes", unpack_planes(words, settings.get("dtype", "float32")), planes)
        else:
            assert_same("masks", unpack_mask(mask), info["action_mask"])


def legal(fen):
    """The ids of a position's legal moves, in order, as python-chess has them."""
    board = chess.Board(fen)
    return sorted(action_of(move, not board.turn) for move in board.legal_moves)


# Whether each fits a list, by what must have been promoted.
FIT = {
    **{MOST: True, chess.Board(MOST).mirror().fen(): True},
    **{TOO_MANY: False, chess.Board(TOO_MANY).mirror().fen(): False},
    "4k3/8/8/8/8/8/8/QQQQKQQQ w - - 0 1": True,  # six promoted
    "2b1k3/8/8/8/8/8/PPP5/RRRRKNNN w - - 0 1": True,  # three, and three pawns
    "4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNQ w - - 0 1": False,  # a second queen and all pawns
    "4k3/8/8/8/8/8/PPPPPPP1/BNBQKBNN w - - 0 1": False,  # two promoted, and one too many
}


@pytest.mark.parametrize("fen", FIT)
def test_many_moves_are_listed_and_more_than_promotions_bring_refused(make, fen):
    env = make(1, mask="bits", start_fens=[fen])
    env.reset()
    assert [*env.legal_moves(0).values()] == legal(fen)
    if FIT[fen]:
        _, info = make(1, mask="list", start_fens=[fen]).reset()
        assert info["action_mask"][0, : info["action_count"][0]].tolist() == legal(fen)
    else:
        with pytest.raises(InvalidFenError, match=r"start_fens.*promotions"):
            make(1, mask="list", start_fens=[chess.STARTING_FEN, fen])


@pytest.mark.parametrize(("rung", "team"), [("cpp", {}), ("cuda", {"device": "cpu"})])
def test_no_state_brings_more_than_is_listed(rung, team):
    env = rungs.make("chess", rung, 1, mask="list", **team)
    rich = rungs.make("chess", rung, 1, mask="bits", start_fens=[TOO_MANY], **team)
    env.reset()
    rich.reset()
    with pytest.raises(InvalidStateError, match="promotions"):
        env.boards.load(rich.boards.dump(), 0)
    assert env.fens() == [chess.STARTING_FEN]


def test_lists_unpack_to_masks():
    listed, plain = (rungs.make("chess", "cpp", 9, mask=mask) for mask in ("list", "bool"))
    (_, info), (_, expected) = listed.reset(seed=1), plain.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(60):
        lists, mask = info["action_mask"], expected["action_mask"]
        longest = int(info["action_count"].max())
        cut = lists[:, :longest].reshape(3, 3, longest)  # as many as any has, and more axes
        for part, allowed in ((lists, mask), (cut, mask.reshape(3, 3, -1))):
            assert_same("an array", unpack_list(part), allowed)
            assert unpack_list(torch.from_numpy(part)).dtype == torch.bool
            assert_same("a tensor", unpack_list(torch.from_numpy(part)), allowed)
        actions = random_actions(lists, rng)
        (*_, info), (*_, expected) = listed.step(actions), plain.step(actions)


def as_dtype(planes, dtype):
    """Planes of float32 as another dtype shows them, by PyTorch and NumPy."""
    if dtype == "float32":
        return planes
    if dtype == "uint8":
        return np.clip(planes, 0, 255).astype(np.uint8)
    return torch.from_numpy(planes).to(torch.bfloat16).view(torch.uint16).numpy()


@pytest.mark.parametrize("dtype", ["float32", "uint8", "bfloat16"])
def test_planes_of_a_dtype_are_those_of_float32(make, dtype):
    # Numbers of moves about 255, between two of bfloat16's, and as high as they can be.
    numbers = (1, 254, 255, 256, 257, 258, 259, 773, 59_000)
    starts = [f"r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - {n % 99} {n}" for n in numbers]
    games = {"start_fens": starts, "autoreset_mode": "NEXT_STEP", "max_plies": 3}
    env = make(6, obs="planes", dtype=dtype, **games)
    plain, packed = (make(6, obs=obs, **games) for obs in ("planes", "bitplanes"))
    numbers_observed = set()
    for seed in range(6):
        outcomes = [batch.reset(seed=seed) for batch in (env, plain, packed)]
        for step in range(4):
            observation, planes, words = (outcome[0] for outcome in outcomes)
            assert env.observation_space.contains(observation)
            assert_same("planes", observation, as_dtype(planes, dtype))
            assert_same("unpacked", unpack_planes(words, dtype), observation)
            tensor = unpack_planes(torch.from_numpy(words), dtype)
            assert tensor.dtype == getattr(torch, dtype)
            assert_same("an unpacked tensor", tensor, observation)
            numbers_observed |= set(planes[:, 113, 0, 0].tolist())
            if step < 3:
                actions = [min(env.legal_moves(board).values(), default=0) for board in range(6)]
                outcomes = [batch.step(actions) for batch in (env, plain, packed)]
    assert numbers_observed >= {1, 255, 257, 259, 59_000}
