"""What is improved: PPO's clipped objective, the value's error and the entropy."""

import torch

from rungs._src.train.learners.agent import Played
from rungs._src.train.settings import PpoSettings


def ppo_loss(
    new: torch.Tensor,
    entropy: torch.Tensor,
    value: torch.Tensor,
    played: Played,
    settings: PpoSettings,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Returns the clipped objective (equation 7), the value's error and the entropy (equation 9).

    Schulman et al., 2017, arXiv:1707.06347.

    Args:
        new: (B,), the log-probability that the network now gives what was played.
        entropy: (B,), of its choice in each position, in nats.
        value: (B,), its value of each position.
        played: the B rows.
        settings: weights and the clip.

    Returns:
        The loss, and its parts by name, detached.
    """
    ratio = (new - played.old).exp()
    advantage = played.advantage
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    clipped = ratio.clamp(1 - settings.clip_coef, 1 + settings.clip_coef)
    policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
    value_loss = (value - played.outcome).square().mean()
    mean_entropy = entropy.mean()
    loss = policy_loss + settings.vf_coef * value_loss - settings.ent_coef * mean_entropy
    parts = {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": mean_entropy,
        "divergence": (ratio - 1 - (new - played.old)).mean(),
    }
    return loss, {name: part.detach() for name, part in parts.items()}
