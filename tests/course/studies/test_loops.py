"""Other people's loops, timed beside ours."""

import pytest
import torch

import rungs
from rungs._src.train.settings import PpoSettings
from rungs_course import nb11_full_system as nb11
from rungs_course import nb11_loops as loops

SETTINGS = PpoSettings(num_steps=4, num_minibatches=2)


@pytest.mark.parametrize("agent", [loops.Masked, loops.Listed])
def test_cleanrls_loop_learns_from_legal_actions(agent):
    torch.manual_seed(0)
    made = agent()
    env = rungs.make("chess", "cpp", 8, **nb11.GAMES | {"mask": made.mask, "max_plies": 20})
    before = next(made.parameters()).detach().clone()
    updates = loops.cleanrl(env, made, SETTINGS, seed=1)
    for _ in range(3):
        next(updates)  # an action that is not legal would raise
    assert not torch.equal(before, next(made.parameters()))


@pytest.mark.system
def test_loops_are_raced_in_turns():
    pytest.importorskip("sb3_contrib")
    table = loops.race(8, ("torch", "flat"), seed=0, repeats=2, warmup=0, settings=SETTINGS)
    assert set(zip(table["loop"], table["mask"], strict=True)) == {
        ("ours, torch", "bits"),
        ("ours, flat", "list"),
        *(
            (loop, mask)
            for loop in ("CleanRL's", "Stable-Baselines3's")
            for mask in ("bool", "list")
        ),
    }
    assert (table["steps_per_second"] > 0).all()
