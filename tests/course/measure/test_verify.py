"""A difference between two environments is found, and named."""

import numpy as np
import pytest

import rungs
from rungs.errors import MismatchError
from rungs_course.measure.verify import verify, verify_games


def outcome(**changed):
    info = {
        "action_mask": np.ones((2, 3), np.bool_),
        "final_obs": np.array([[1, 2], [3, 4]]),
        "_final_obs": np.array([True, False]),
        "final_info": {"reason": np.array([5, 6])},
    }
    flags = np.zeros(2, np.bool_)
    parts = {"observation": np.zeros((2, 4), np.int8), "reward": np.zeros(2, np.float32)}
    parts |= {"terminated": flags, "truncated": flags} | info
    parts |= changed
    return *(parts.pop(name) for name in list(parts)[:4]), parts


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"observation": np.zeros((2, 4), np.int16)}, "observation: int16"),
        ({"observation": np.zeros((2, 3), np.int8)}, "observation: int8 of \\(2, 3\\)"),
        ({"reward": np.array([0, -0.0], np.float32)}, "reward differs"),
        ({"truncated": np.array([False, True])}, "truncated differs"),
        ({"action_mask": np.zeros((2, 3), np.bool_)}, "action_mask differs"),
        ({"final_obs": np.array([[1, 0], [3, 4]])}, "final_obs differs"),
        ({"final_info": {"reason": np.array([0, 6])}}, "final_info\\[reason\\] differs"),
        ({"player": 0}, "info has"),
    ],
)
def test_what_differs_is_named(changed, why):
    with pytest.raises(MismatchError, match=f"liar: {why}.* in step 3"):
        verify("liar", outcome(**changed), outcome(), "in step 3")


def test_rows_of_episodes_that_go_on_do_not_count():
    finals = {"final_obs": np.array([[1, 2], [0, 0]]), "final_info": {"reason": np.array([5, 0])}}
    verify("honest", outcome(**finals), outcome(), "in step 3")


def test_other_games_are_found():
    envs = {
        name: rungs.make("chess", "cpp", 3, seed=seed, opponent="random")
        for name, seed in (("right", 0), ("same", 0))
    }
    verify_games(envs, seed=1, steps=20)
    envs["shorter"] = rungs.make("chess", "cpp", 3, opponent="random", max_plies=4)
    with pytest.raises(MismatchError, match=r"shorter: .* in step 1"):
        verify_games(envs, seed=1, steps=20)
