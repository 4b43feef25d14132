"""PPO on chess in JAX, on one page: games, advantages and updates are one compiled function.

The opponent plays at random. Run it: python docs/howto/ppo_jax.py --updates 50
"""

import argparse

import jax
import jax.numpy as jnp

from rungs.adapters.jax import ChessFunctions

CLIP, DISCOUNT, LAMBDA, ENTROPY, RATE, EPOCHS = 0.2, 0.99, 0.95, 0.01, 3e-4, 4
ACTIONS, HIDDEN, SQUARES = 4672, 128, 72


def initial(key):
    """Weights of a network of one hidden layer: the pieces on 64 squares, one-hot, and the rest."""
    inputs = 64 * 13 + SQUARES - 64
    shapes = {"body": (inputs, HIDDEN), "policy": (HIDDEN, ACTIONS), "value": (HIDDEN, 1)}
    keys = dict(zip(shapes, jax.random.split(key, len(shapes)), strict=True))
    return {n: jax.random.normal(keys[n], s) * (0.5 / s[0] ** 0.5) for n, s in shapes.items()}


def network(weights, board, legal):
    """Log-probabilities of the listed actions, (..., 218), and values, (...)."""
    pieces = jax.nn.one_hot(board[..., :64] + 6, 13).reshape(*board.shape[:-1], -1)
    rest = board[..., 64:] / 128.0
    hidden = jnp.tanh(jnp.concatenate([pieces, rest], -1) @ weights["body"])
    logits = jnp.take_along_axis(hidden @ weights["policy"], jnp.maximum(legal, 0), axis=-1)
    value = (hidden @ weights["value"])[..., 0]
    return jax.nn.log_softmax(jnp.where(legal >= 0, logits, -1e9)), value


def picked(rows, index):
    return jnp.take_along_axis(rows, index[..., None], axis=-1)[..., 0]


def loss(weights, seen, advantages, returns):
    board, legal, chosen, before = (seen[name] for name in ("board", "legal", "chosen", "logp"))
    logps, values = network(weights, board, legal)
    ratio = jnp.exp(picked(logps, chosen) - before)
    clipped = jnp.clip(ratio, 1 - CLIP, 1 + CLIP)
    policy = -jnp.minimum(ratio * advantages, clipped * advantages).mean()
    entropy = -(jnp.exp(logps) * jnp.where(legal >= 0, logps, 0)).sum(-1).mean()
    return policy + 0.5 * jnp.square(values - returns).mean() - ENTROPY * entropy


def make_update(env, steps):
    """One update: `steps` steps of every game, then EPOCHS epochs of Adam over all of them."""

    def play(carry, key):
        weights, state, outputs = carry
        board, legal = outputs.observation, outputs.mask.astype(jnp.int32)
        logps, value = network(weights, board, legal)
        chosen = jax.random.categorical(key, logps)
        state, outputs = env.step(state, picked(legal, chosen))
        # Truncated is not over: what the last position is worth counts (`legal` is of no account).
        worth = DISCOUNT * network(weights, outputs.final_observation, legal)[1] * outputs.truncated
        seen = {"board": board, "legal": legal, "chosen": chosen, "logp": picked(logps, chosen)}
        seen |= {"value": value, "reward": outputs.reward, "worth": worth}
        return (weights, state, outputs), seen | {"over": outputs.terminated | outputs.truncated}

    def advantage(carry, seen):
        later, value = carry
        on = DISCOUNT * (1.0 - seen["over"])
        reward = seen["reward"] + seen["worth"]
        later = reward + on * value - seen["value"] + on * LAMBDA * later
        return (later, seen["value"]), later

    def learn(carry, _, seen, advantages):
        weights, (first, second), count = carry
        scaled = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        slope = jax.grad(loss)(weights, seen, scaled, advantages + seen["value"])
        count += 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, slope)
        rate = RATE * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        moved = lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8)  # noqa: E731
        return (jax.tree.map(moved, weights, first, second), (first, second), count), None

    def update(weights, adam, count, state, outputs, key):
        games = (weights, state, outputs)
        (_, state, outputs), seen = jax.lax.scan(play, games, jax.random.split(key, steps))
        last = network(weights, outputs.observation, outputs.mask.astype(jnp.int32))[1]
        zeros = jnp.zeros_like(last)
        _, advantages = jax.lax.scan(advantage, (zeros, last), seen, reverse=True)
        epoch = lambda carry, _: learn(carry, _, seen, advantages)  # noqa: E731
        learnt, _ = jax.lax.scan(epoch, (weights, adam, count), length=EPOCHS)
        return (*learnt, state, outputs), seen["reward"].sum() / jnp.maximum(seen["over"].sum(), 1)

    return jax.jit(update, donate_argnums=(0, 1, 2, 3, 4))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in {"num-envs": 64, "steps": 64, "updates": 50, "max-plies": 100}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    env = ChessFunctions(args.num_envs, opponent="random", max_plies=args.max_plies)
    key, mine = jax.random.split(jax.random.key(0))
    weights = initial(mine)
    adam = tuple(jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    carry = (weights, adam, jnp.float32(0), *env.init(0))
    update = make_update(env, args.steps)
    for number in range(args.updates):
        carry, reward = update(*carry, jax.random.fold_in(key, number))
        print(f"update {number}: {reward:+.3f} a game", flush=True)
