"""PPO on a Ray cluster of two nodes that loses a runner and a node."""

import pytest

pytest.importorskip("ray.rllib")
from rungs_course import nb14_ray

pytestmark = pytest.mark.system


def test_training_goes_on_without_what_was_killed():
    events = {2: "runner killed", 4: "node killed", 6: "node joined"}
    how = {"num_envs": 8, "num_steps": 8, "events": events}
    log = nb14_ray.lose_parts(7, **how).set_index("iteration")
    assert log["event"][log["event"] != ""].to_dict() == events
    assert (log["steps"] >= 8 * 8).all()  # every update had as many positions as any
    assert log["steps_in_all"].is_monotonic_increasing
    assert log["runners"][1] == 2
    assert log["runners"][4] == 1
