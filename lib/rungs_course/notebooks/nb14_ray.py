"""RLlib on a Ray cluster of two nodes on this machine: training that outlives a runner and a node.

A node is a raylet with processes of its own and one core to give. The learner is in this process;
each node has one env runner, an actor, which plays boards of its own with the learner's last
weights and sends what it played. `python -m rungs_course.notebooks.nb14_ray LOG.csv` has PPO learn
chess while a runner and then a node are killed and a new one joins, and prints what became of it.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from rungs.errors import UnavailableError, install_hint
from rungs_course.measure import results

try:
    import ray
    from ray.cluster_utils import Cluster
    from ray.rllib.algorithms.ppo import PPO, PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec

    from rungs.adapters.rllib import ChessVectorEnv, MaskedPPOModule
except ImportError as error:
    raise UnavailableError(f"Ray: {error}: {install_hint('rllib')}") from None

# A core to give, and the bytes of the object store, where a node's actors leave what others fetch.
_NODE = {"num_cpus": 1, "object_store_memory": 256 * 2**20, "include_dashboard": False}
_TRIES = 5  # Ray gives a node half a minute to start, which on a busy machine can be too little

# Queen and rook against a king on its last rank but one: mate takes two moves (1. Qb7+, 2. Ra8#)
# and is learned in minutes.
ENDGAME = "8/4k3/R7/1Q6/8/8/8/7K w - - 0 1"

# Events by iteration of `lose_parts`; kills come while it is sampled.
EVENTS = {10: "runner killed", 20: "node killed", 30: "node joined"}


class Nodes:
    """A cluster of two nodes, with a core each to give."""

    def __init__(self) -> None:
        self._cluster = _started(Cluster, initialize_head=True, head_node_args=_NODE)
        self._second: Any = None
        self.join()
        ray.init(address=self._cluster.address, log_to_driver=False, logging_level="ERROR")
        self._cluster.wait_for_nodes()

    def join(self) -> None:
        """Adds the second node."""
        self._second = _started(self._cluster.add_node, **_NODE)

    def kill(self) -> None:
        """Kills the second node, and all that runs on it."""
        self._cluster.remove_node(self._second, allow_graceful=False)

    def close(self) -> None:
        """Ends the cluster."""
        ray.shutdown()
        self._cluster.shutdown()


def _started(start: Callable, **node_kwargs: Any) -> Any:
    """Starts a node; tries again where Ray gave up on it as too slow."""
    for _ in range(_TRIES):
        try:
            return start(**node_kwargs)
        except Exception as error:  # Ray has no type of its own for it
            if "timed out during startup" not in str(error):
                raise
    raise UnavailableError(f"Ray: no node started within half a minute, in {_TRIES} tries")


def ppo(
    env_runners: int,
    *,
    num_envs: int,
    num_steps: int,
    seed: int,
    cores: float = 1,
    **settings: Any,
) -> PPO:
    """Makes a learner in this process with `env_runners` env runners, 0 for none but itself."""
    boards = num_envs // max(1, env_runners)
    config = (
        PPOConfig()
        .environment(ChessVectorEnv, env_config={"rung": "cpp", "max_plies": 60} | settings)
        .env_runners(
            num_env_runners=env_runners,
            num_envs_per_env_runner=boards,
            num_cpus_per_env_runner=cores,
            rollout_fragment_length=num_steps,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedPPOModule, model_config={"fcnet_hiddens": [256, 256]}
            )
        )
        .training(
            train_batch_size_per_learner=num_envs * num_steps,
            minibatch_size=num_envs * num_steps // 8,
            num_epochs=2,
            lr=1e-3,
            entropy_coeff=0.01,
            lambda_=0.95,
        )
        # A runner that is gone is restarted, and not waited for.
        .fault_tolerance(
            restart_failed_env_runners=True,
            delay_between_env_runner_restarts_s=1.0,
            env_runner_health_probe_timeout_s=5.0,
        )
        .debugging(seed=seed, log_level="ERROR")
    )
    return config.build_algo()


def lose_parts(
    iterations: int,
    *,
    num_envs: int = 64,
    num_steps: int = 32,
    seed: int = 0,
    events: dict[int, str] = EVENTS,
) -> pd.DataFrame:
    """Trains on two nodes, from `ENDGAME`, while parts of them are killed; prints each iteration.

    Returns a row per iteration: `iteration`, `event`, `seconds`, `steps` (played in it and learned
    from), `steps_in_all`, `episodes`, `result` (RLlib's mean over the last 100 episodes), and
    `runners`, how many were healthy at its end.
    """
    rows: list[dict[str, Any]] = []
    processes: list[int] = []
    with contextlib.closing(Nodes()) as nodes:
        ppo_kwargs = {"num_envs": num_envs, "num_steps": num_steps, "seed": seed}
        algorithm = ppo(2, **ppo_kwargs, start_fens=[ENDGAME], max_plies=20)
        kills = {
            "runner killed": lambda: os.kill(processes[-1], signal.SIGKILL),
            "node killed": nodes.kill,
        }
        steps_before = 0
        for iteration in range(1, iterations + 1):
            processes = _processes(algorithm)
            event = events.get(iteration, "")
            if event == "node joined":
                nodes.join()
            timers = [threading.Timer(0.2, kills[event])] if event in kills else []
            for timer in timers:
                timer.start()
            start = time.perf_counter()
            runner_metrics = algorithm.train()["env_runners"]
            seconds = time.perf_counter() - start
            for timer in timers:
                timer.join()
            steps = int(runner_metrics["num_env_steps_sampled_lifetime"])
            row = {
                "iteration": iteration,
                "event": event,
                "seconds": seconds,
                "steps": steps - steps_before,
                "steps_in_all": steps,
                "episodes": int(runner_metrics.get("num_episodes", 0)),
                "result": float(runner_metrics.get("episode_return_mean", float("nan"))),
                "runners": algorithm.env_runner_group.num_healthy_remote_workers(),
            }
            steps_before = steps
            rows.append(row)
            print(_line(row), flush=True)
        algorithm.stop()
    return pd.DataFrame(rows)


def _processes(algorithm: PPO) -> list[int]:
    """Returns the processes of the env runners that answer."""
    return algorithm.env_runner_group.foreach_env_runner(
        lambda runner: os.getpid(), local_env_runner=False, timeout_seconds=5
    )


def _line(row: dict[str, Any]) -> str:
    event = f", {row['event']}" if row["event"] else ""
    runners = f"{row['runners']} runner{'' if row['runners'] == 1 else 's'}"
    return (
        f"iteration {row['iteration']}: {row['steps']} steps, {row['episodes']} episodes, result "
        f"{row['result']:+.3f}, {row['seconds']:.1f} s, {runners}{event}"
    )


if __name__ == "__main__":
    ppo_kwargs: dict[str, Any] = {"num_envs": 64, "num_steps": 32}
    log = lose_parts(40, **ppo_kwargs)
    if len(sys.argv) > 1:
        results.save(log, Path(sys.argv[1]), ppo_kwargs)
