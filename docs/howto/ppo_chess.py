"""PPO with masked actions on chess against a random opponent, in one file, as CleanRL writes it.

Run it: `python docs/howto/ppo_chess.py --num-envs 256 --total-timesteps 500000`. From the settings
to the last line of the loss there is nothing of Rungs but the environment.
"""

import argparse
import time
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import rungs


@dataclass
class Args:
    seed: int = 1  # of games, weights and actions
    rung: str = "threads"  # which implementation steps the boards
    num_envs: int = 256  # games side by side
    num_steps: int = 32  # plies of each game between two updates
    max_plies: int = 200  # a game that is longer is cut short
    total_timesteps: int = 500_000  # plies of the agent in all
    learning_rate: float = 1e-3
    gamma: float = 0.99  # the discount
    gae_lambda: float = 0.95  # how much of a later surprise counts
    update_epochs: int = 2  # passes over what was played
    num_minibatches: int = 8  # steps of the optimizer in each
    clip_coef: float = 0.2  # how far a probability's ratio may count
    ent_coef: float = 0.01  # weight of the entropy
    vf_coef: float = 0.5  # weight of the value's error
    max_grad_norm: float = 0.5


class Agent(nn.Module):
    """Squares as one-hot vectors, two layers, a score for each action and a value."""

    def __init__(self, num_actions: int):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(64 * 13 + 8, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU()
        )
        self.actor = nn.Linear(256, num_actions)
        self.critic = nn.Linear(256, 1)

    def forward(self, observation, mask):
        pieces = nn.functional.one_hot(observation[:, :64].long() + 6, 13).flatten(1)
        hidden = self.trunk(torch.cat([pieces, observation[:, 64:]], 1).float())
        scores = self.actor(hidden).masked_fill(~mask, torch.finfo(torch.float32).min)
        return Categorical(logits=scores, validate_args=False), self.critic(hidden).squeeze(1)


def main(args: Args) -> float:
    """Trains, and returns the mean result of the last tenth of all episodes: 1 won, -1 lost."""
    torch.manual_seed(args.seed)
    env = rungs.make(
        "chess",
        args.rung,
        args.num_envs,
        seed=args.seed,
        opponent="random",
        max_plies=args.max_plies,
    )
    agent = Agent(env.single_action_space.n)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    shape = (args.num_steps, args.num_envs)
    observations = torch.zeros(*shape, 72, dtype=torch.int8)
    masks = torch.zeros(*shape, env.single_action_space.n, dtype=torch.bool)
    actions = torch.zeros(shape, dtype=torch.int64)
    logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))
    results, start, batch_size = [], time.time(), args.num_steps * args.num_envs

    observation, info = env.reset()
    for update in range(1, args.total_timesteps // batch_size + 1):
        # Play. The environment's arrays are its own: the next step overwrites them.
        for step in range(args.num_steps):
            observations[step] = torch.from_numpy(observation)
            masks[step] = torch.from_numpy(info["action_mask"])
            with torch.no_grad():
                policy, values[step] = agent(observations[step], masks[step])
                actions[step] = policy.sample()
                logprobs[step] = policy.log_prob(actions[step])
            outcome = env.step(actions[step].numpy())
            observation, reward, terminated, truncated, info = outcome
            rewards[step] = torch.from_numpy(reward)
            ended = terminated | truncated
            dones[step] = torch.from_numpy(ended)
            results += reward[ended].tolist()
            if truncated.any():  # not over: what its last position is worth counts
                last = torch.from_numpy(info["final_obs"][truncated])
                everything = torch.ones(len(last), masks.shape[2], dtype=torch.bool)
                with torch.no_grad():
                    worth = agent(last, everything)[1]
                rewards[step, torch.from_numpy(truncated)] += args.gamma * worth

        # How much better than expected was each action? (Schulman et al. 2016, equation 16)
        with torch.no_grad():
            mask = torch.from_numpy(info["action_mask"])
            next_value = agent(torch.from_numpy(observation), mask)[1]
        advantages, later = torch.zeros(shape), torch.zeros(args.num_envs)
        for step in reversed(range(args.num_steps)):
            going_on = args.gamma * (1 - dones[step])
            surprise = rewards[step] + going_on * next_value - values[step]
            advantages[step] = later = surprise + args.gae_lambda * going_on * later
            next_value = values[step]
        returns = advantages + values

        # Learn. (Schulman et al. 2017, equations 7 and 9)
        played = (observations, masks, actions, logprobs, advantages, returns)
        played = [array.flatten(0, 1) for array in played]
        for _ in range(args.update_epochs):
            for rows in torch.randperm(batch_size).chunk(args.num_minibatches):
                seen, legal, action, old, advantage, expected = (array[rows] for array in played)
                policy, value = agent(seen, legal)
                ratio = (policy.log_prob(action) - old).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
                value_loss = (value - expected).square().mean()
                loss = (
                    policy_loss
                    + args.vf_coef * value_loss
                    - args.ent_coef * policy.entropy().mean()
                )
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
        rate = update * batch_size / (time.time() - start)
        mean = np.mean(results[-500:]) if results else float("nan")
        print(f"update {update}, {len(results)} episodes, result {mean:+.3f}, {rate:,.0f} plies/s")
    env.close()
    return float(np.mean(results[-max(1, len(results) // 10) :])) if results else float("nan")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for field in fields(Args):
        name = "--" + field.name.replace("_", "-")
        parser.add_argument(name, type=field.type, default=field.default)
    main(Args(**vars(parser.parse_args())))
