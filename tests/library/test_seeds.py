"""A seed for each environment: it plays as number 0 of a batch with that seed, on every rung."""

import numpy as np
import pytest

from rungs import make
from rungs._src.core.memory import on_host
from rungs.errors import ConfigurationError, InvalidStateError
from rungs_course.measure.verify import verify
from tests.saved import join, refusal, split
from tests.tiers import system_tier

SEEDS = [5, 2**64 - 1, 5, 0, 1 << 63, 7, 6, 1, 2, 3, 4]
GAMES = {"opponent": "random", "opening_plies": (0, 9), "max_plies": 12, "start": "chess960"}
# The others are compared with these by such seeds elsewhere.
CHESS = ["python", "cpp"]
RUNGS = [("chess", "python"), ("chess", "cpp"), ("cartpole", "gymnasium"), ("cartpole", "cpp")]


def outputs_of(outcome):
    *outputs, info = outcome
    return outputs + [info[name] for name in ("action_mask", "player", "reason") if name in info]


def assert_each_is_one_alone(seen, ones, when):
    for i, one in enumerate(ones):
        for ours, theirs in zip(seen, one, strict=True):
            ours, theirs = on_host(ours)[i], on_host(theirs)[0]
            np.testing.assert_array_equal(ours, theirs, f"environment {i}, {when}")


@pytest.mark.parametrize(("env_id", "rung"), [*RUNGS, *system_tier(("cartpole", "torch"))])
def test_each_environment_is_number_0_of_its_seed(env_id, rung):
    is_chess, rng = env_id == "chess", np.random.default_rng(0)
    settings, first = (GAMES, "first_board") if is_chess else ({}, "first_env")
    other = "gymnasium" if rung == "gymnasium" else "cpp"  # equal to the last bit
    env = make(env_id, rung, len(SEEDS), **settings, **{first: 3})
    alone = [make(env_id, other, 1, **settings) for _ in SEEDS]
    seen = outputs_of(env.reset(seed=SEEDS))
    ones = [outputs_of(one.reset(seed=seed)) for one, seed in zip(alone, SEEDS, strict=True)]
    for step in range(40):  # several episodes
        assert_each_is_one_alone(seen, ones, f"step {step}")
        actions = env.sample_actions(rng).copy() if is_chess else rng.integers(2, size=len(SEEDS))
        seen = outputs_of(env.step(actions))
        ones = [outputs_of(one.step(actions[i : i + 1])) for i, one in enumerate(alone)]
    if not is_chess:  # random actions follow from seeds, too
        ones = [one.step_many(140) for one in alone]
        assert_each_is_one_alone(env.step_many(140), ones, "after many")


@pytest.mark.parametrize("rung", CHESS)
def test_seeds_of_the_constructor_are_those_of_the_first_reset(rung):
    env = make("chess", rung, 3, seed=np.array([4, 9, 4], np.int32), opening_plies=(3, 9))
    env.reset()
    fens = env.fens()
    assert fens[0] == fens[2] != fens[1]
    env.reset()  # the next episodes, of the same seeds
    later = env.fens()
    assert later != fens
    assert later[0] == later[2]
    env.reset(seed=(4, 9, 4))
    assert env.fens() == fens
    env.reset(seed=4)  # of all again
    assert env.fens()[0] == fens[0]
    assert len({*env.fens()}) == 3


WRONG = [[1, 2], [1, 2, 3, 4], [], [1, -1, 3], [1, 2, 2**64], [1, 2, None], [1, 2.5, 3]]
WRONG += [[True, 2, 3], np.zeros((3, 1), int), np.zeros(3), "123", {1, 2, 3}]


@pytest.mark.parametrize("seeds", WRONG, ids=str)
@pytest.mark.parametrize("env_id", ["chess", "cartpole"])
def test_wrong_seeds_are_named_and_change_nothing(env_id, seeds):
    with pytest.raises(ConfigurationError, match="seed"):
        make(env_id, "cpp", 3, seed=seeds)
    env = make(env_id, "cpp", 3)
    env.reset(seed=[1, 2, 3])
    with refusal(env, ConfigurationError, "seed"):
        env.reset(seed=seeds)


@pytest.mark.parametrize(
    ("env_id", "rung"), [("chess", "python"), ("chess", "cpp"), ("cartpole", "cpp")]
)
def test_states_hold_all_seeds(env_id, rung):
    how = {"opening_plies": (0, 9)} if env_id == "chess" else {}
    env, again = (make(env_id, rung, 3, **how) for _ in range(2))
    env.reset(seed=[1, 2**63 + 1, 3])
    saved = env.get_state()
    again.set_state(saved)
    verify("again", again.reset(), env.reset(), "after the next reset")
    verify("again", again.reset(), env.reset(), "after another")
    head, payload = split(saved)
    assert head["seed"] == [1, 2**63 + 1, 3]
    for seed in ([1, 2], [1, 2, -1], [1, 2, "3"], [1, 2, 2**64]):
        with pytest.raises(InvalidStateError, match="seed"):
            again.set_state(join(head | {"seed": seed}, payload))


@pytest.mark.parametrize("rung", CHESS)
def test_copies_draw_by_their_sources_seed_or_by_their_own(rung):
    env = make("chess", rung, 3, opponent="random", max_plies=4, opening_plies=(0, 9))
    env.reset(seed=[1, 2, 3])
    env.copy_boards([0], [2])
    env.copy_boards([0], [1], randomness="own")
    own = set()
    for step in range(30):
        actions = env.sample_actions(step).copy()
        actions[2] = actions[0]
        env.step(actions)
        fens = env.fens()
        assert fens[0] == fens[2]  # the same replies, and the same next episodes
        own.add(fens[0] == fens[1])
    assert False in own
    kept = env.snapshot([2])
    env.reset(options={"reset_mask": np.ones(3, bool)})  # own again, of each
    assert len({*env.fens()}) == 3
    env.restore(kept)
    other = make("chess", rung, 3, opponent="random", max_plies=4, opening_plies=(0, 9))
    other.reset(seed=[1, 2, 4])
    with pytest.raises(InvalidStateError, match=r"seed .*1, 2, 3"):
        other.restore(kept)
    other.restore(kept, [0], randomness="own")
