"""Notebook 14: the cost model, whose numbers are found again in times made from them."""

import numpy as np
import pandas as pd
import pytest

from rungs.errors import WorkerDiedError
from rungs_course import nb14_cost_model as nb14
from rungs_course import nb14_ranks
from rungs_course.nb14_cost_model import Line, Link, Update, all_reduce_seconds

LINK = Link(latency=5e-5, bandwidth=2e9)
UPDATE = Update(
    {"generate": Line(0.001, 1e-6), "infer": Line(0.0, 2e-5), "backward": Line(0.02, 6e-5)},
    messages=16,
    num_bytes=16 * 2_000_000,
)
TINY = {"alone": [8], "sizes": [8, 4096], "repeats": 2, "warmup": 1, "seed": 0}


@pytest.fixture
def messages():
    rows = [
        (p, size, repeat, all_reduce_seconds(p, size, LINK))
        for p in (2, 3, 4)
        for size in (8, 2**12, 2**20, 2**25)
        for repeat in range(3)
    ]
    return pd.DataFrame(rows, columns=["processes", "bytes", "repeat", "seconds"])


SLOWDOWN = {1: 1.0, 2: 1.25, 4: 2.5}


def made(waiting=0.0):
    """Updates that take what the model says, and `waiting` seconds more where there are several."""
    rows = []
    for processes, boards in ((1, 16), (1, 64), (2, 64), (4, 64)):
        positions, share = 32 * boards, SLOWDOWN[processes]
        parts = {part: line(positions) * share for part, line in UPDATE.parts.items()}
        apart = (processes, boards, positions, 0, 0, "none")
        rows += [(*apart, repeat, *part) for repeat in range(2) for part in parts.items()]
        if processes == 1:
            continue
        parts["wait"] = waiting
        parts["all-reduce"] = all_reduce_seconds(processes, UPDATE.num_bytes, LINK, messages=16)
        what = (processes, boards, positions, 16, UPDATE.num_bytes)
        rows += [(*what, "in turn", repeat, *part) for repeat in range(2) for part in parts.items()]
        rows.append((*what, "overlapped", 0, "backward", sum(parts.values()) / 2))
    # A process alone never waits.
    rows += [(1, 64, 2048, 0, 0, "none", repeat, "wait", 0.0) for repeat in range(2)]
    rows += [(1, 64, 2048, 0, 0, "none", repeat, "all-reduce", 0.0) for repeat in range(2)]
    names = ["processes", "num_envs", "positions", "messages", "bytes", "exchange", "repeat"]
    return pd.DataFrame(rows, columns=[*names, "part", "seconds"])


class TestAllReduce:
    def test_a_ring_takes_its_rounds_and_sends_what_it_must(self):
        assert all_reduce_seconds(1, 1000, LINK) == 0
        assert all_reduce_seconds(4, 0, LINK) == pytest.approx(6 * LINK.latency)
        free = Link(0.0, 1.0)
        assert all_reduce_seconds(4, 1000, free) == all_reduce_seconds(
            4, 1000, free, algorithm="halving"
        )
        assert all_reduce_seconds(4, 1000, free) == pytest.approx(1500)

    @pytest.mark.parametrize(("processes", "rounds"), [(1, 0), (2, 2), (3, 4), (4, 4), (4096, 24)])
    def test_halving_takes_two_rounds_for_each_power_of_two(self, processes, rounds):
        seconds = all_reduce_seconds(processes, 0, LINK, messages=3, algorithm="halving")
        assert seconds == pytest.approx(3 * rounds * LINK.latency)

    def test_the_link_is_found_again(self, messages):
        for processes in (2, 4):
            found = nb14.fit_link(messages, processes)
            np.testing.assert_allclose((found.latency, found.bandwidth), (5e-5, 2e9), rtol=1e-9)
        errors = nb14.message_errors(messages, LINK)
        assert len(errors) == 12
        np.testing.assert_allclose(errors["error"], 0, atol=1e-12)


@pytest.mark.parametrize(("truth", "found"), [((2.0, 3.0), (2.0, 3.0)), ((-0.5, 1.0), (0.0, None))])
def test_no_cost_is_below_nothing(truth, found):
    terms = np.array([(1, 1), (1, 10), (1, 100)])
    fitted = nb14.fit(terms, terms @ truth)
    for got, expected in zip(fitted, found, strict=True):
        assert got >= 0
        if expected is not None:
            assert got == pytest.approx(expected)


class TestUpdates:
    def test_costs_are_found_again_and_then_predict_the_rest(self):
        updates = made()
        update = nb14.fit_update(updates)
        assert (update.messages, update.num_bytes) == (UPDATE.messages, UPDATE.num_bytes)
        for part, line in UPDATE.parts.items():
            np.testing.assert_allclose(update.parts[part], line, atol=1e-12)
        slowdown = nb14.slowdowns(updates).median(axis=1)
        assert slowdown.to_dict() == pytest.approx(SLOWDOWN)
        checked = nb14.check(updates, update, LINK, slowdown)
        assert checked["processes"].tolist() == [1, 2, 4]
        np.testing.assert_allclose(checked["error"], 0, atol=1e-9)
        np.testing.assert_allclose(checked["more computing"], 0, atol=1e-9)

    def test_what_the_model_lacks_is_its_error(self):
        checked = nb14.check(made(waiting=0.1), UPDATE, LINK, SLOWDOWN)
        alone, *several = checked.to_dict("records")
        assert alone["error"] == pytest.approx(0)
        for row in several:
            assert row["measured"] - row["predicted"] == pytest.approx(0.1)
            assert row["error"] == pytest.approx(-0.1 / row["measured"])
            assert row["more computing"] == pytest.approx(0.1)
            assert row["more all-reduce"] == pytest.approx(0)
            assert row["overlapped"] == pytest.approx(row["measured"] / 2)

    def test_what_processes_share_slows_computing_and_not_messages(self):
        own, shared = (UPDATE.seconds(4, 1000, LINK, slowdown=times) for times in (1, 2))
        assert shared - own == pytest.approx(UPDATE.compute(1000))

    def test_what_the_model_misses_is_told_with_the_noise_of_updates(self):
        updates = made()
        late = (updates["exchange"] == "in turn") & (updates["processes"] == 2)
        for times, middle in ((1, 1), (2, 0.5)):
            frame = updates.assign(
                seconds=updates["seconds"].mask(late, updates["seconds"] * times)
            )
            checked = nb14.check(frame, UPDATE, LINK, SLOWDOWN)
            found = nb14.misses(frame, checked)
            assert list(found) == [1, 2, 4]
            assert found[2].middle == pytest.approx(middle)
            assert found[4].middle == pytest.approx(1)
        slow = late & (updates["repeat"] == 1)
        frame = updates.assign(seconds=updates["seconds"].mask(slow, updates["seconds"] * 2))
        found = nb14.misses(frame, nb14.check(updates, UPDATE, LINK, SLOWDOWN))
        assert found[2].low == pytest.approx(0.5)


class TestNodes:
    NODES = (1, 2, 64, 4096)

    def test_a_free_exchange_scales_weakly_for_ever(self):
        frame = nb14.scale(UPDATE, Link(0.0, float("inf")), self.NODES, 2048, speed=10)
        np.testing.assert_allclose(frame["efficiency"], 1)
        np.testing.assert_allclose(frame["seconds"], UPDATE.compute(2048) / 10)

    def test_strong_scaling_ends_where_only_what_is_fixed_is_left(self):
        positions = 2**20 / np.array(self.NODES)
        frame = nb14.scale(UPDATE, LINK, self.NODES, positions).set_index("nodes")
        assert frame["efficiency"][1] == 1
        assert frame["efficiency"].is_monotonic_decreasing
        most = frame.loc[4096]
        exchange = all_reduce_seconds(4096, UPDATE.num_bytes, LINK, messages=16)
        assert most["seconds"] == pytest.approx(exchange + UPDATE.compute(256))
        assert most["efficiency"] == pytest.approx(UPDATE.compute(2**20) / most["seconds"] / 4096)


def test_a_position_is_what_a_learner_learns_from():
    sizes = nb14.position_bytes()
    assert (sizes["observation"], sizes["mask"]) == (72, 584)
    assert sum(sizes.values()) == 72 + 584 + 4 + 1 + 8 + 4 + 4


def test_a_saving_is_the_share_that_stepping_had():
    assert nb14.saving(1.0, 0.0, 3.0) == 0.25
    assert nb14.inferring_at(0.25, 1.0, 0.0) == 3
    assert nb14.inferring_at(0.5, 1.0, 0.0) == 1
    inferring = nb14.inferring_at(0.3, 2.0, 0.5)
    assert nb14.saving(2.0, 0.5, inferring) == pytest.approx(0.3)
    assert nb14.inferring_at(0.5, 2.0, 1.5) < 0  # at most a quarter can be saved


@pytest.mark.system
def test_learners_are_timed_alone_and_together():
    updates, messages = nb14_ranks.measure(2, num_envs=4, **TINY)
    groups = updates.groupby(["processes", "num_envs", "exchange", "part"])["seconds"]
    parts = groups.agg(["size", "min"])
    assert len(parts) == 5 * len(nb14_ranks.PARTS)
    assert (parts["size"] == 2).all()
    assert (parts["min"] >= 0).all()
    least = parts["min"].unstack("part")
    assert (least.loc[2, 4, "in turn"] > 0).all()
    apart = least.xs("none", level="exchange")
    assert sorted(apart.index) == [(1, 4), (1, 8), (2, 4)]
    assert (apart["all-reduce"] == 0).all()
    assert (apart.loc[1, "wait"] == 0).all()
    assert (apart.loc[2, "wait"] > 0).all()
    assert (nb14.slowdowns(updates).loc[1] == 1).all()
    assert set(updates["positions"]) == {4 * 32, 8 * 32}
    # A message for each step of the optimizer, of four bytes for each of the network's weights.
    several = updates[updates["exchange"] == "in turn"]
    assert (several["messages"] >= 32).all()  # and one more with each step, of DDP's own
    assert (updates.loc[updates["exchange"] != "in turn", "messages"] == 0).all()
    assert set(several["messages"] % 16) == set(several["bytes"] % (16 * 4)) == {0}
    assert messages["processes"].unique().tolist() == [2]
    assert messages["bytes"].tolist() == [8, 4096] * 2
    assert (messages["seconds"] > 0).all()
    update, link = nb14.fit_update(updates), nb14.fit_link(messages)
    slowdown = nb14.slowdowns(updates).median(axis=1)
    assert (nb14.check(updates, update, link, slowdown)["predicted"] > 0).all()


@pytest.mark.system
def test_a_process_that_raises_is_named(capsys):
    with pytest.raises(WorkerDiedError, match=r"worker \d died"):
        nb14_ranks.measure(2, num_envs=0, **TINY)
    assert "num_envs=0" in capsys.readouterr().err


@pytest.fixture
def ray():
    pytest.importorskip("ray.rllib")
    from rungs_course import nb14_ray

    return nb14_ray


@pytest.mark.system
def test_training_goes_on_without_what_was_killed(ray):
    events = {2: "runner killed", 4: "node killed", 6: "node joined"}
    how = {"num_envs": 8, "num_steps": 8, "events": events}
    log = ray.lose_parts(7, **how).set_index("iteration")
    assert log["event"][log["event"] != ""].to_dict() == events
    assert (log["steps"] >= 8 * 8).all()  # every update had as many positions as any
    assert log["steps_in_all"].is_monotonic_increasing
    assert log["runners"][1] == 2
    assert log["runners"][4] == 1
