"""The replay buffer: what is added is found again, and what is broken is named."""

import hashlib
import io
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rungs._src.chess.actions import NUM_ACTIONS, target_of
from rungs._src.selfplay.buffer import ReplayBuffer
from rungs._src.selfplay.examples import DTYPES, Examples, joined
from rungs.errors import ConfigurationError, InvalidStateError, StorageError

ON_BOARD = np.array([a for a in range(NUM_ACTIONS) if target_of(a) is not None], np.int16)


def some(count, seed=0):
    """Positions that can be distinguished: each first action and policy says whose it is."""
    rng = np.random.default_rng(seed)
    legal = rng.integers(1, 6, count).astype(np.int16)
    first = legal.cumsum() - legal
    mark = 5 * (np.arange(count) + 20 * seed) - first
    action = ON_BOARD[mark.repeat(legal) + np.arange(legal.sum())]
    policy = np.concatenate([rng.dirichlet(np.ones(count)) for count in legal] or [[]])
    outcome = rng.integers(-1, 2, count).astype(np.int8)
    value = rng.uniform(-1, 1, count).astype(np.float16)
    observation = rng.integers(-6, 7, (count, 72)).astype(np.int8)
    observation[:, 64:] = observation[:, 64:] > 0
    return Examples(observation, legal, action, policy.astype(np.float16), outcome, value)


def filled(folder, window, updates):
    """A buffer to which updates were added, `some(10, 1)` and so on."""
    buffer = ReplayBuffer(folder, window)
    for seed in range(1, updates + 1):
        buffer.add(some(10, seed))
    return buffer


def assert_same(actual, expected):
    for name, array in expected.arrays().items():
        assert getattr(actual, name).dtype == DTYPES[name]
        np.testing.assert_array_equal(getattr(actual, name), array, name)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 19), max_size=40))
def test_rows_are_those_that_were_asked_for(index):
    index = np.array(index, np.int64)
    every = some(20)
    runs = np.split(np.arange(len(every.action)), every.count.cumsum()[:-1])
    entries = np.concatenate([runs[i] for i in index] or [[]]).astype(np.int64)
    rows = every.rows(index)
    np.testing.assert_array_equal(rows.action, every.action[entries])
    np.testing.assert_array_equal(rows.policy, every.policy[entries])
    np.testing.assert_array_equal(rows.observation, every.observation[index])


def test_updates_that_were_lost_are_forgotten(tmp_path):
    filled(tmp_path, 3, 3)
    again = ReplayBuffer(tmp_path, window=3, updates=2, run_files=set(tmp_path.iterdir()))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000001.npz", "000002.npz"]
    again.add(some(10, 4))
    assert_same(joined(again.shards.values()), joined([some(10, 1), some(10, 2), some(10, 4)]))


def test_the_window_grows_with_the_updates(tmp_path):
    """To a half of them, but for 20 at least and 30 at most; and a new process has the same."""
    buffer, after = ReplayBuffer(tmp_path, window=30, share=0.5), {}
    for number in range(1, 71):
        buffer.add(some(1))
        after[number] = [*buffer.shards]
    assert [len(after[n]) for n in (10, 20, 40, 41, 50, 60, 70)] == [10, 20, 20, 21, 25, 30, 30]
    assert all(shards == [*range(n - len(shards) + 1, n + 1)] for n, shards in after.items())
    buffer.remove_leftovers(50)
    assert min(int(path.stem) for path in tmp_path.iterdir()) == after[50][0] == 26
    again = ReplayBuffer(tmp_path, 30, updates=50, run_files=set(tmp_path.iterdir()), share=0.5)
    assert [*again.shards] == after[50]


def test_every_position_is_drawn(tmp_path):
    buffer = ReplayBuffer(tmp_path, window=2)
    buffer.add(some(10, 0))
    sample = buffer.sample(10_000, np.random.default_rng(0))
    first = sample.action[sample.count.cumsum() - sample.count]
    _, counts = np.unique(first, return_counts=True)
    assert len(counts) == 10
    assert counts.min() > 850


def as_pipe(path):
    path.unlink()
    os.mkfifo(path)


def flip(path):
    """Changes the checksum: a changed array is found by the archive's own, too."""
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def shorten(path):
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [Path.unlink, as_pipe, flip, shorten])
def test_a_broken_shard_is_named_and_nothing_is_removed(tmp_path, damage):
    filled(tmp_path, 2, 3)
    damage(tmp_path / "000002.npz")
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


def test_what_is_not_ours_is_not_removed_and_refused_where_it_is_in_the_way(tmp_path):
    filled(tmp_path, 2, 3)
    run_files = set(tmp_path.iterdir())
    for name in ("mine.npz", "7.npz", "000000.npz", "0000001.npz"):
        (tmp_path / name).write_text("precious")
    there = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "999999.npz").write_text("precious")
    with pytest.raises(ConfigurationError, match=r"999999\.npz"):
        ReplayBuffer(tmp_path, window=2, updates=2, run_files=run_files)
    assert (tmp_path / "999999.npz").read_text() == "precious"
    (tmp_path / "999999.npz").unlink()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == there
    again = ReplayBuffer(tmp_path, window=2, updates=2, run_files=run_files)
    (tmp_path / "000003.npz").write_text("precious")
    with pytest.raises(ConfigurationError, match=r"000003\.npz"):
        again.add(some(10))
    assert (again.updates, (tmp_path / "000003.npz").read_text()) == (2, "precious")
    again.remove_leftovers(9)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        {*there} - {"000001.npz", "000002.npz"}
    )


def shard(**changed):
    """The bytes of a shard of two positions, of which some arrays are others."""
    arrays = {
        "observation": np.zeros((2, 72), np.int8),
        "count": np.array([2, 3], np.int16),
        "action": np.array([4, 68, 4, 68, 132], np.int16),
        "policy": np.array([0.5, 0.5, 1.0, 0.0, 0.0], np.float16),
        "outcome": np.array([1, -1], np.int8),
        "value": np.array([0.5, -1.0], np.float16),
    } | changed
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def archive(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


NONE = {
    "observation": [[[7] * 72] * 2, [[0] * 71] * 2],
    "count": [[-2, 3], 5, [219, 219]],
    "action": [
        [4, 68, 4, 68, 4672],
        [-1, 68, 4, 68, 132],
        [4, 68, 4, 68, 4671],
        [4, 4, 4, 68, 132],
    ],
    "policy": [[p, q, 1, 0, 0] for p, q in ((0.5, np.nan), (1.5, -0.5), (np.inf, 0.5), (0.5, 0))],
    "outcome": [[1, -2], [1, -128], [1]],
    "value": [[0.5, 1.001], [0.5, np.nan], [0.5]],
}
ARRAYS = [(name, np.array(each, DTYPES[name])) for name in NONE for each in NONE[name]]
ARRAYS += [("action", np.array([4, 68, 4, 68, 132])), ("value", np.array([0.5, 0.5]))]


@pytest.mark.parametrize(("name", "array"), ARRAYS)
def test_a_shard_of_what_no_position_has_is_refused_by_its_array(tmp_path, name, array):
    write(tmp_path, shard(**{name: array}))
    with pytest.raises(InvalidStateError, match=rf"000001\.npz.*{name}"):
        ReplayBuffer(tmp_path, window=1, updates=1)


def test_a_shard_of_other_contents_is_named(tmp_path):
    objects, more = shard(count=np.array([None, None])), shard(more=np.zeros(1))
    for data in (b"", b"hello" * 9, archive(np.zeros(3)), shard()[:-9], objects, more):
        write(tmp_path, data)
        with pytest.raises(InvalidStateError, match=r"000001\.npz"):
            ReplayBuffer(tmp_path, window=1, updates=1)
    write(tmp_path, shard())  # which others are made from
    assert len(ReplayBuffer(tmp_path, window=1, updates=1)) == 2


def write(folder, data):
    """Writes a shard whose checksum is right, whatever is in it."""
    (folder / "000001.npz").write_bytes(data + hashlib.sha256(data).digest())
