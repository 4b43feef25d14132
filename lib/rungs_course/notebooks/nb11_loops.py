"""Other projects' training loops over our boards: with masks of 4672, and with lists.

python -m rungs_course.notebooks.nb11_loops     # a table of steps per second, all in turns
"""

import functools
import time
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import torch
from torch import nn

import rungs
from rungs.chess import NUM_ACTIONS, ChessVectorEnv
from rungs.devel.envs import MaskFormat
from rungs.devel.train import Batch, Positions, advantages, ppo_loss
from rungs.train import Packed, PolicyValueNetwork, PpoSettings, SparseSquares, from_lists
from rungs_course.measure.quartiles import quartiles
from rungs_course.measure.turns import timed_rounds
from rungs_course.notebooks import nb11_full_system as nb11


class Masked(nn.Module):
    """CleanRL's agent with masks: a score for each of 4672 actions, of which few are looked at."""

    mask = "bool"

    def __init__(self):
        super().__init__()
        body = PolicyValueNetwork()
        self.body = nn.Sequential(body.squares, body.blocks, body.norm)
        self.actor, self.critic = nn.Linear(128, NUM_ACTIONS), body.value

    def get_action_and_value(self, positions: Positions, action=None):
        """Returns actions, their log-probabilities, entropies and values."""
        features = self.body(positions.observation)
        scores = self.actor(features).masked_fill(~positions.mask, -1e8)
        distribution = torch.distributions.Categorical(logits=scores)
        if action is None:
            action = distribution.sample()
        value = self.critic(features).squeeze(1)
        return action, distribution.log_prob(action), distribution.entropy(), value

    def ids(self, positions: Positions, action: torch.Tensor) -> torch.Tensor:
        """Returns the environment's actions."""
        return action


class Listed(nn.Module):
    """The same agent with lists: an action is a place in its position's list."""

    mask = "list"

    def __init__(self):
        super().__init__()
        self.network = PolicyValueNetwork(squares=SparseSquares)

    def get_action_and_value(self, positions: Positions, action=None):
        """Returns actions, their log-probabilities, entropies and values."""
        legal = from_lists(positions.mask, positions.action_count)
        scores, value = self.network.scores(positions.observation, legal)
        distribution = Packed(legal, scores)
        if action is None:
            action = distribution.sample(None)
        return action, distribution.log_probability(action), distribution.entropy(), value

    def ids(self, positions: Positions, action: torch.Tensor) -> torch.Tensor:
        """Returns the environment's actions."""
        return positions.mask.gather(1, action[:, None]).squeeze(1).long()


def cleanrl(
    env: ChessVectorEnv, agent: Masked | Listed, settings: PpoSettings, seed: int
) -> Iterator[None]:
    """Trains as CleanRL's `ppo.py` does, in its order and with its names; yields after updates."""
    optimizer = torch.optim.Adam(agent.parameters(), lr=settings.learning_rate, eps=1e-5)
    num_steps, num_envs = settings.num_steps, env.num_envs
    observation, info = env.reset(seed=seed)

    def positions() -> Positions:
        listed = info.get("action_count", torch.zeros(num_envs, 0, dtype=torch.int16))
        arrays = (observation, info["action_mask"], listed)
        return Positions(*(torch.as_tensor(array) for array in arrays))

    # ALGO Logic: Storage setup
    stored = Positions(*(array.new_zeros((num_steps, *array.shape)) for array in positions()))
    actions = torch.zeros((num_steps, num_envs), dtype=torch.int64)
    logprobs, rewards = torch.zeros((2, num_steps, num_envs))
    dones = torch.zeros((num_steps, num_envs), dtype=torch.bool)
    values = torch.zeros((num_steps + 1, num_envs))
    while True:
        for step in range(num_steps):
            for array, new in zip(stored, positions(), strict=True):
                array[step] = new
            now = Positions(*(array[step] for array in stored))
            with torch.no_grad():
                actions[step], logprobs[step], _, values[step] = agent.get_action_and_value(now)
            played = agent.ids(now, actions[step]).numpy()
            observation, reward, terminated, truncated, info = env.step(played)
            rewards[step] = torch.as_tensor(reward)
            dones[step] = torch.as_tensor(terminated | truncated)
        with torch.no_grad():  # bootstrap value if not done
            values[-1] = agent.get_action_and_value(positions())[-1]
        gains = advantages(rewards, dones, values, settings.gamma, settings.gae_lambda)

        # flatten the batch
        flat = Positions(*(array.flatten(0, 1) for array in stored))
        rest = (actions, logprobs, gains, gains + values[:-1])
        batch = Batch(flat, *(array.flatten() for array in rest))

        for _ in range(settings.update_epochs):
            for rows in torch.randperm(num_steps * num_envs).chunk(settings.num_minibatches):
                part = batch.at(rows)
                outputs = agent.get_action_and_value(part.positions, part.choice)
                _, newlogprob, entropy, newvalue = outputs
                loss, _ = ppo_loss(newlogprob, entropy, newvalue, part, settings)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), settings.max_grad_norm)
                optimizer.step()
        yield


def sb3(num_envs: int, lists: bool, settings: PpoSettings, seed: int) -> Iterator[None]:
    """Trains with Stable-Baselines3; yields after every update.

    With `lists`, by lists of legal actions; else with `sb3_contrib`'s MaskablePPO and its
    "MlpPolicy", two layers of 128 units.
    """
    from rungs.adapters.sb3 import ChessListVecEnv, ChessVecEnv, LegalActionPolicy

    steps = num_envs * settings.num_steps
    ppo_kwargs: dict[str, Any] = {
        "n_steps": settings.num_steps,
        "batch_size": steps // settings.num_minibatches,
        "n_epochs": settings.update_epochs,
        "learning_rate": settings.learning_rate,
        "seed": seed,
        "device": "cpu",
    }
    if lists:
        from stable_baselines3 import PPO

        model: Any = PPO(LegalActionPolicy, ChessListVecEnv(num_envs, max_plies=200), **ppo_kwargs)
    else:
        from sb3_contrib import MaskablePPO

        env = ChessVecEnv(num_envs, max_plies=200)
        model = MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": [128, 128]}, **ppo_kwargs)
    while True:
        model.learn(steps, reset_num_timesteps=False)
        yield


def race(
    num_envs: int,
    learners: tuple[str, ...],
    *,
    seed: int,
    repeats: int,
    warmup: int,
    settings: PpoSettings | None = None,
) -> pd.DataFrame:
    """Times updates of our learners and of others' loops, in turns, on the rung `threads`.

    Returns a row per loop and repeat: `loop`, `mask`, `repeat`, `steps_per_second`.
    """
    settings = settings or PpoSettings()
    loops: dict[tuple[str, str], Callable[[], object]] = {}
    for name in learners:
        learner = nb11.make_learner("threads", num_envs, seed, learner=name, settings=settings)
        loops[f"ours, {name}", learner.env.settings.mask] = learner.learn
    for lists in (False, True):
        mask: MaskFormat = "list" if lists else "bool"
        agent = Listed() if lists else Masked()
        env = rungs.make("chess", "threads", num_envs, **nb11.GAMES | {"mask": mask})
        loops["CleanRL's", mask] = cleanrl(env, agent, settings, seed).__next__
        loops["Stable-Baselines3's", mask] = sb3(num_envs, lists, settings, seed).__next__
    racers = {loop: functools.partial(_seconds, update) for loop, update in loops.items()}
    rows = [
        (*loop, repeat, num_envs * settings.num_steps / seconds)
        for loop, repeat, seconds in timed_rounds(racers, repeats=repeats, warmup=warmup)
    ]
    return pd.DataFrame(rows, columns=["loop", "mask", "repeat", "steps_per_second"])


def table(rates: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per loop of `race`: `loop`, `mask`, `steps_per_second` (the median), and its
    quartiles `low` and `high`.
    """
    groups = rates.groupby(["loop", "mask"], sort=False)["steps_per_second"]
    return quartiles(groups, "steps_per_second").reset_index()


def _seconds(update: Callable[[], object]) -> float:
    start = time.perf_counter()
    update()
    return time.perf_counter() - start


if __name__ == "__main__":
    print(table(race(512, ("torch", "flat"), seed=0, repeats=5, warmup=1)).to_string(index=False))
