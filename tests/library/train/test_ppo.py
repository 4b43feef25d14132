"""PPO: its equations, and that rungs change nothing but time."""

import copy

import pytest
import torch

import rungs
from rungs._src.train.network import LegalActionNetwork, PolicyValueNetwork
from rungs._src.train.ppo import Learner, advantages
from rungs._src.train.ranks import Ranks
from rungs._src.train.settings import PpoSettings
from rungs.errors import ConfigurationError, UnavailableError

SMALL = PpoSettings(num_steps=8, num_minibatches=4)


def make(rung="cpp", mask="bits", **settings):
    return rungs.make("chess", rung, 16, opponent="random", mask=mask, max_plies=30, **settings)


def weights(network):
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])


def small(env, seed=7, **settings):
    """A learner of a tiny network with the weights of a seed."""
    torch.manual_seed(seed)
    network = PolicyValueNetwork(16, 1, 8)
    return Learner(env, network=network, **{"seed": seed, "settings": SMALL} | settings)


def trained(env, seed=7):
    """Returns the weights after four updates, and each update's metrics."""
    learner = small(env, seed)
    metrics = [learner.learn() for _ in range(4)]
    env.close()
    for row in metrics:
        for time in ("generate", "transfer", "infer", "backward"):
            del row[time]
    return weights(learner.network), metrics


@pytest.fixture(scope="module")
def expected():
    return trained(make())


RUNGS = [("cuda", {"device": "cpu"}), ("python", {}), ("openmp", {"threads": 2})]
RUNGS += [("multiprocessing", {"workers": 2, "transport": name}) for name in ("queue", "shared")]


@pytest.mark.parametrize(("rung", "settings"), RUNGS)
def test_every_rung_learns_the_same_weights(rung, settings, expected):
    learnt, metrics = trained(make(rung, **settings))
    assert torch.equal(learnt, expected[0])
    assert metrics == expected[1]
    assert sum(row["wins"] + row["draws"] + row["losses"] for row in metrics) >= 16


def test_another_seed_learns_other_weights(expected):
    assert not torch.equal(trained(make(), seed=2**64 - 1)[0], expected[0])


def test_what_was_played_is_what_the_environment_said():
    """Each action, played again on a fresh board, leads to the next position of the rollout."""
    learner = small(make(), seed=3)
    learner.learn()
    rollout, again = learner.rollout, make()
    observation, info = again.reset(seed=3)
    for step in range(8):
        assert torch.equal(rollout.observation[step], torch.from_numpy(observation))
        actions, *_ = learner.network(rollout.observation[step], rollout.mask[step])
        chosen = actions.gather(1, rollout.choice[step, :, None]).squeeze(1)
        observation, *_, info = again.step(chosen.numpy())
    assert torch.equal(rollout.mask[8], torch.from_numpy(info["action_mask"].view("int64")))


@pytest.mark.parametrize("against_itself", [False, True])
def test_advantages_are_the_sums_of_their_definition(against_itself):
    generator = torch.Generator().manual_seed(0)
    steps, boards, gamma, gae_lambda = 12, 5, 0.9, 0.8
    reward = torch.randn(steps, boards, generator=generator)
    value = torch.randn(steps + 1, boards, generator=generator)
    ended = torch.rand(steps, boards, generator=generator) < 0.3
    result = advantages(reward, ended, value, gamma, gae_lambda, against_itself=against_itself)
    sign = -1 if against_itself else 1
    for board in range(boards):
        for start in range(steps):
            total, weight = 0.0, 1.0
            for step in range(start, steps):
                on = 0.0 if ended[step, board] else gamma * sign
                surprise = reward[step, board] + on * value[step + 1, board] - value[step, board]
                total += weight * surprise
                weight *= gae_lambda * on
            assert result[start, board].item() == pytest.approx(float(total), abs=1e-5)


@pytest.mark.parametrize(("opponent", "sign"), [("random", 1), (None, -1)])
def test_a_truncated_episode_goes_on_in_its_value(opponent, sign):
    env = rungs.make("chess", "cpp", 4, opponent=opponent, mask="bits", max_plies=2)
    learner = small(env, settings=PpoSettings(num_steps=3, num_minibatches=1, gamma=0.5))
    learner.begin(*env.reset(seed=0))
    learner.play()
    # No game is won within a move or two: what is in the rewards are the values.
    assert learner.rollout.ended.any()
    assert torch.equal(learner.rollout.reward != 0, learner.rollout.ended)
    # In self-play the position after our action is the opponent's, whose gain is our loss.
    last = torch.from_numpy(learner.rollout._slots[2].final_observation)
    values = learner.network.values(last).detach()
    assert torch.allclose(learner.rollout.reward[1], sign * 0.5 * values)


def test_an_update_is_the_one_of_the_paper():
    """Written out once more: every minibatch, every formula, every step of Adam."""
    weighted = {"clip_coef": 0.1, "vf_coef": 0.7, "ent_coef": 0.05, "max_grad_norm": 0.1}
    settings = PpoSettings(num_steps=8, num_minibatches=4, learning_rate=3e-3, **weighted)
    learner = small(make(), seed=5, settings=settings)
    learner.begin(*learner.env.reset(seed=5))
    learner.play()
    played = learner.rollout
    advantage = torch.randn(8, 16, generator=torch.Generator().manual_seed(1))
    network, before = copy.deepcopy(learner.network), weights(learner.network).clone()
    orders = torch.Generator().set_state(learner.generator.get_state())
    learner.backend.improve(learner.rollout.batch(advantage), learner.minibatches())

    adam = torch.optim.Adam(network.parameters(), lr=3e-3, eps=1e-5)
    observation, mask = (array[:8].flatten(0, 1) for array in (played.observation, played.mask))
    choice, old = played.choice.flatten(), played.log_probability.flatten()
    outcome = (advantage + played.value[:8]).flatten()
    norms, clipped = [], False
    for _ in range(2):
        for rows in torch.randperm(128, generator=orders).view(4, 32):
            _, log_probabilities, value = network(observation[rows], mask[rows])
            ratio = log_probabilities[range(32), choice[rows]].exp() / old[rows].exp()
            normal = advantage.flatten()[rows]
            normal = (normal - normal.mean()) / normal.std()
            gain = torch.where(normal > 0, ratio.clamp(max=1.1), ratio.clamp(min=0.9)) * normal
            clipped |= bool((gain != ratio * normal).any())
            entropy = torch.distributions.Categorical(logits=log_probabilities).entropy()
            error = value - outcome[rows]
            loss = -gain.mean() + 0.7 * (error * error).mean() - 0.05 * entropy.mean()
            adam.zero_grad()
            loss.backward()
            gradients = [parameter.grad for parameter in network.parameters()]
            norms.append(torch.stack([(g * g).sum() for g in gradients]).sum().sqrt())
            for gradient in gradients:
                gradient *= min(1, 0.1 / norms[-1])
            adam.step()
    actual, expected = weights(learner.network), weights(network)
    assert clipped
    assert max(norms) > 0.1
    assert (actual - before).abs().max() > 1e-3
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=0)


def test_games_that_ended_while_playing_are_counted():
    start = "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1"  # a queen and three mates
    settings = {"mask": "bits", "max_plies": 6, "start_fens": [start]}
    env = rungs.make("chess", "cpp", 16, opponent="random", **settings)
    learner = small(env, settings=PpoSettings(num_steps=20, num_minibatches=1))
    counts = learner.learn()
    reward, ended = learner.rollout.reward, learner.rollout.ended
    wins, losses = int((reward == 1).sum()), int((reward == -1).sum())
    assert wins != losses
    assert min(wins, losses) > 0
    counted = counts["wins"], counts["losses"], counts["draws"]
    assert counted == (wins, losses, int(ended.sum()) - wins - losses)


def test_ranks_choose_actions_of_their_own(monkeypatch):
    learners = [small(make())]
    monkeypatch.setenv("RANK", "1")
    learners.append(small(make(), ranks=Ranks()))
    assert torch.equal(*(weights(learner.network) for learner in learners))
    for learner in learners:
        learner.learn()
    assert not torch.equal(*(learner.rollout.choice for learner in learners))


WRONG = {"num_steps": 0, "update_epochs": 1.5, "gamma": 1.1, "gae_lambda": -0.1}


@pytest.mark.parametrize(("setting", "value"), (WRONG | {"clip_coef": float("nan")}).items())
def test_wrong_settings_are_named(setting, value):
    with pytest.raises(ConfigurationError, match=setting):
        PpoSettings(**{setting: value})


def test_a_rollout_goes_on_where_the_last_one_ended():
    learner = small(make(), seed=3)
    learner.learn()
    last = learner.rollout.observation[-1].clone()
    learner.learn()
    assert torch.equal(learner.rollout.observation[0], last)


ARGUMENTS = {
    "env": (None, "chess", rungs.make("cartpole", "cpp", 4)),
    "seed": ("7", 2**64, -1, True),
    "device": ("mars", "cpu:", "mps", None),
    "settings": ({}, PpoSettings),
    "network": (torch.nn.Linear(72, 1), LegalActionNetwork),
    "ranks": (2,),
    "learner": (None,),
}


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_arguments_of_something_else_are_named(argument):
    for wrong in ARGUMENTS[argument]:
        arguments = {"env": make(), "settings": SMALL} | {argument: wrong}
        with pytest.raises(ConfigurationError, match=argument):
            Learner(arguments.pop("env"), **arguments)


def test_environments_that_cannot_be_learnt_from_are_refused():
    for name, value in {"mask": "bool", "obs": "planes", "autoreset_mode": "NEXT_STEP"}.items():
        with pytest.raises(ConfigurationError, match=name):
            Learner(make(**{name: value}), settings=SMALL)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_device_that_is_not_here_is_missing():
    with pytest.raises(UnavailableError, match="CUDA"):
        Learner(make(), settings=SMALL, device="cuda")
