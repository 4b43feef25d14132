"""The replay buffer: what is added is found again, and what is broken is named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rungs.errors import InvalidStateError, StorageError
from rungs.selfplay.buffer import ReplayBuffer
from rungs.selfplay.positions import DTYPES, Positions, joined


def some(count, seed=0):
    """Positions that can be told apart: each action and policy says whose it is."""
    rng = np.random.default_rng(seed)
    legal = rng.integers(1, 6, count).astype(np.int16)
    mark = (np.arange(count) + 100 * seed).repeat(legal)
    outcome = rng.integers(-1, 2, count).astype(np.int8)
    observation = rng.integers(-6, 7, (count, 72)).astype(np.int8)
    return Positions(observation, legal, mark.astype(np.int16), mark.astype(np.float16), outcome)


def whole(buffer):
    return joined(buffer.shards.values())


def assert_same(ours, theirs):
    for name, array in theirs.arrays().items():
        assert getattr(ours, name).dtype == DTYPES[name]
        np.testing.assert_array_equal(getattr(ours, name), array, name)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 19), max_size=40))
def test_rows_are_those_that_were_asked_for(index):
    index = np.array(index, np.int64)
    rows = some(20).rows(index)
    np.testing.assert_array_equal(rows.action, index.repeat(rows.count))
    np.testing.assert_array_equal(rows.policy, rows.action)
    np.testing.assert_array_equal(rows.observation, some(20).observation[index])


def test_the_last_updates_are_kept(tmp_path):
    buffer = ReplayBuffer(tmp_path, window=2)
    for seed in (1, 2, 3):
        buffer.add(some(10, seed))
    assert_same(whole(buffer), joined([some(10, 2), some(10, 3)]))
    assert buffer.updates == 3


def test_a_new_process_finds_what_was_added(tmp_path):
    buffer = ReplayBuffer(tmp_path, window=3)
    for seed in (1, 2):
        buffer.add(some(10, seed))
    again = ReplayBuffer(tmp_path, window=3, updates=2)
    assert_same(whole(again), whole(buffer))
    rng = np.random.default_rng
    assert_same(again.sample(7, rng(0)), buffer.sample(7, rng(0)))


def test_updates_that_were_lost_are_forgotten(tmp_path):
    buffer = ReplayBuffer(tmp_path, window=3)
    for seed in (1, 2, 3):
        buffer.add(some(10, seed))
    again = ReplayBuffer(tmp_path, window=3, updates=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000001.npz", "000002.npz"]
    again.add(some(10, 4))
    assert_same(whole(again), joined([some(10, 1), some(10, 2), some(10, 4)]))


def test_what_a_checkpoint_may_need_stays(tmp_path):
    buffer = ReplayBuffer(tmp_path, window=2)
    for seed in (1, 2, 3, 4):
        buffer.add(some(3, seed))
    buffer.tidy(3)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"00000{n}.npz" for n in (2, 3, 4)]
    assert_same(whole(ReplayBuffer(tmp_path, 2, 3)), joined([some(3, 2), some(3, 3)]))


def test_every_position_is_drawn(tmp_path):
    buffer = ReplayBuffer(tmp_path, window=2)
    buffer.add(some(10, 0))
    drawn = buffer.sample(10_000, np.random.default_rng(0))
    first = drawn.action[drawn.count.cumsum() - drawn.count]
    _, counts = np.unique(first, return_counts=True)
    assert len(counts) == 10
    assert counts.min() > 850


@pytest.mark.parametrize("mishap", ["missing", "cut", "changed", "of another kind"])
def test_a_broken_shard_is_named_and_nothing_is_removed(tmp_path, mishap):
    buffer = ReplayBuffer(tmp_path, window=2)
    for seed in (1, 2, 3):
        buffer.add(some(5, seed))
    path = tmp_path / "000002.npz"
    whole = path.read_bytes()
    if mishap == "missing":
        path.unlink()
    elif mishap == "cut":
        path.write_bytes(whole[:-1])
    elif mishap == "changed":
        path.write_bytes(whole[:300] + bytes([whole[300] ^ 1]) + whole[301:])
    else:
        path.write_bytes(b"")
    names = sorted(tmp_path.iterdir())
    with pytest.raises(InvalidStateError, match=r"000002\.npz"):
        ReplayBuffer(tmp_path, window=2, updates=2)
    assert sorted(tmp_path.iterdir()) == names


def test_what_cannot_be_written_changes_nothing(tmp_path):
    buffer = ReplayBuffer(tmp_path / "there", window=2)
    (tmp_path / "there").write_text("a file")
    with pytest.raises(StorageError, match="000001"):
        buffer.add(some(5))
    assert (buffer.updates, len(buffer)) == (0, 0)
