"""A training run by PPO in a folder: metrics, evaluations, checkpoints, and resuming."""

import contextlib
import functools
import time
from collections.abc import Callable
from pathlib import Path

import torch

import rungs
from rungs._src.chess.engine import UciEngine
from rungs._src.core.folder import Folder, locked_output_dir
from rungs._src.core.progress import Say, line
from rungs._src.train import learners
from rungs._src.train.evaluate import evaluate
from rungs._src.train.ppo import PARTS, Learner
from rungs._src.train.ranks import Ranks, all_ranks
from rungs._src.train.runs import (
    CHECKPOINT,
    EVALUATIONS,
    METRICS,
    NAMES,
    UNIT,
    Checkpoint,
    Run,
    names_checkpoint,
    say_other_unit,
    unit_of,
)
from rungs._src.train.settings import PpoSettings, Training, share_of_cores
from rungs._src.train.tracking import TENSORBOARD, check_tracker
from rungs.errors import ConfigurationError, UnavailableError

# Time limit of an engine's move (s). It needs milliseconds, but a busy machine must not end a run,
# and waiting changes no result.
ENGINE_TIMEOUT = 600.0

_make = functools.partial(rungs.make, "chess")


def _settings(saved: dict) -> Training:
    rung_settings, ppo = dict(**saved["rung_settings"]), PpoSettings(**saved["ppo"])
    return Training(**saved | {"rung_settings": rung_settings, "ppo": ppo})


# "job" is torchrun's id of the run; "learner", `Learner.state_dict` less "own"; "own", the state of
# each rank: generator and environment.
checkpoint = Checkpoint(
    "training",
    schema=5,
    form={
        "training": {"opponent": str, "rung": str, "rung_settings": {}, "ppo": {}},
        "job": (str, type(None)),
        **UNIT,
        "clock": float,
        "learner": {"network": {...: torch.Tensor}, "optimizer": {}, "updates": int, "steps": int},
        "own": [{"generator": torch.Tensor, "env": bytes}],
    },
    settings=_settings,
)


def train(
    training: Training,
    out: Path,
    *,
    resume: bool = False,
    track: str = TENSORBOARD,
    make: Callable = _make,
    say: Say = line,
) -> Learner | None:
    """Trains, or resumes training, and keeps everything in `out`.

    It writes `metrics.csv` (a row per update), `evaluations.csv`, and `checkpoint.pt`, which is
    replaced atomically. A run that was killed loses the updates since its last checkpoint and plays
    them again: on the CPU its curve equals an uninterrupted run's.

    Started by torchrun, every rank has `num_envs` boards of its own, and all learn together. A
    checkpoint of the same settings and the same torchrun (its `--rdzv-id`, or `--standalone`) is
    resumed without `resume`, as is needed when a rank died and torchrun restarts all of them.

    Args:
        training: the settings; to resume a run, those of its checkpoint, or with a later end.
        out: a folder; for a new run it must hold no checkpoint.
        resume: whether to resume from the checkpoint there.
        track: what also gets the numbers of both tables: "tensorboard", whose events are written to
            `out`, "wandb", "trackio" or "none".
        make: makes the environment of a name, a number of boards and settings; by default a rung's.
        say: receives progress, a line at a time. By default lines are printed; in a terminal or
            notebook a bar shows how much is done, in place of a line for each update.

    Returns:
        The learner at the end, its environment closed; None on an MPI rank that served another.

    Raises:
        ConfigurationError: there is a checkpoint, or none to resume from, or it is of another
            number of ranks; or the folder is not ours, or another process trains there.
        InvalidStateError: the checkpoint is corrupt, incomplete or of other boards.
        DivergedError: a loss or gradient is not finite; the last checkpoint stays.
        StorageError: a file can't be written; the last checkpoint stays.
        CompilerError: the C++ of a rung or learner can't be compiled.
        EngineError: an engine that plays failed.
        UnavailableError: the device, the rung or the tracker is not available.
        WorkerDiedError: another rank died.
    """
    out = Path(out)
    if training.device == "cuda" and not torch.cuda.is_available():
        raise UnavailableError("there is no CUDA device, or torch was built without CUDA")
    torch.set_num_threads(training.torch_threads)
    with all_ranks(training.device) as ranks:
        with names_checkpoint(out, resume):
            env = make_env(training, ranks.rank, make)
        if env.serve():
            return None
        with contextlib.closing(env), contextlib.ExitStack() as held:
            folders: list[Folder | None] = [None]

            def begin() -> dict | None:
                check_tracker(track)
                refused = NAMES[1:] if resume else NAMES
                folder = locked_output_dir(out, "training", NAMES, refused)
                folders[0] = held.enter_context(folder)
                return _saved(training, out, resume, ranks)

            saved = ranks.agree(begin)  # on rank 0
            with names_checkpoint(out, bool(saved)):
                learner = Learner(
                    env,
                    seed=training.seed,
                    settings=training.ppo,
                    device=training.device,
                    learner=training.learner,
                    ranks=ranks,
                )
                if saved:
                    learner.load_state_dict(saved["learner"] | {"own": saved["own"][ranks.rank]})
                    if not ranks.rank:
                        say_other_unit(saved, learner.backend, say)
            clock = saved["clock"] if saved else 0.0
            _PpoRun(training, folders[0], learner, ranks, clock, track, say).run()
            return learner


def _saved(training: Training, out: Path, resume: bool, ranks: Ranks) -> dict | None:
    """Reads the checkpoint to resume from, if there is one."""
    if not resume and not (out / CHECKPOINT).exists():
        return None
    saved = checkpoint.load(out)
    restarted = ranks.job and (saved["job"], saved["training"]) == (ranks.job, training)
    if not resume and not restarted:
        raise ConfigurationError(f"{out} holds a run already: --resume continues it")
    if len(saved["own"]) != ranks.size:
        path = out / CHECKPOINT
        raise ConfigurationError(f"{path}: the run had {len(saved['own'])} ranks, not {ranks.size}")
    return saved


def make_env(training: Training, rank: int = 0, make: Callable = _make):
    """Makes the environment that a rank learns from: its boards follow the previous rank's."""
    opponent = training.opponent if training.opponent == "random" else weakest(training.opponent)
    # By default every rank would have a thread on each core.
    settings = {"threads": share_of_cores()} if training.rung in ("openmp", "threads") else {}
    settings |= training.rung_settings | {
        "seed": training.seed,
        "first_board": rank * training.num_envs,
        "opponent": opponent,
        "mask": learners.kind(training.learner).masks[0],
        "max_plies": training.max_plies,
    }
    return make(training.rung, training.num_envs, **settings)


def weakest(path: str) -> UciEngine:
    """Returns Stockfish, or an engine with its options, at its lowest setting: one ply, skill 0."""
    return UciEngine(path, depth=1, skill=0, timeout=ENGINE_TIMEOUT)


class _PpoRun(Run):
    """A rank's run; rank 0 evaluates, and writes the results of all."""

    def __init__(self, training, folder, learner: Learner, ranks: Ranks, clock: float, track, say):
        super().__init__(training, folder, checkpoint, learner.updates, clock, track, say)
        self.learner, self.ranks = learner, ranks

    def update(self) -> str:
        # A barrier, as rank 0 may have been busy on its own: that time must not count.
        self.ranks.wait()
        start = time.perf_counter()
        result = self.learner.learn()
        result["seconds"] = time.perf_counter() - start
        self.updates = self.learner.updates
        # Counts of episodes are summed over all ranks; everything else is averaged.
        totals = self.ranks.total(result)
        counts = {name: int(totals[name]) for name in ("wins", "draws", "losses")}
        means = {name: totals[name] / self.ranks.size for name in result if name not in counts}
        self.clock += means.pop("seconds")
        if not self.folder:
            return ""
        self.write(METRICS, self._columns() | counts | means)
        return self._progress(counts | means)

    def evaluate(self) -> None:
        if not self.folder:
            return
        outcome = evaluate(
            self.learner.network,
            games=self.training.games,
            seed=(self.training.seed + 1) % 2**64,
            max_plies=self.training.max_plies,
            device=self.training.device,
        )
        self.write(EVALUATIONS, self._columns() | outcome.row())
        low, high = outcome.interval()
        self.say(
            f"evaluation after {self.updates} updates: {outcome.wins} wins, "
            f"{outcome.draws} draws, {outcome.losses} losses; "
            f"score {outcome.score:.3f} ({low:.3f} to {high:.3f})"
        )

    def state(self) -> dict:
        state = self.learner.state_dict()
        rank_states = self.ranks.gather(state.pop("own"))
        return {
            "job": self.ranks.job,
            **unit_of(self.learner.backend),
            "learner": state,
            "own": rank_states,
        }

    def _columns(self) -> dict:
        steps = self.learner.steps * self.ranks.size
        return {"update": self.updates, "steps": steps, "seconds": self.clock}

    def _progress(self, result: dict) -> str:
        row, size = self._columns(), self.ranks.size
        episodes = result["wins"] + result["draws"] + result["losses"]
        steps = self.training.num_envs * self.training.ppo.num_steps
        rate = steps / sum(result[part] for part in PARTS)
        won = (
            f"{result['wins'] / episodes:.1%} of {episodes} episodes won"
            if episodes
            else "none over"
        )
        return (
            f"update {row['update']}, {row['steps']:,} steps, {row['seconds']:.0f} s, "
            f"{size * rate:,.0f} steps/s, {won}, entropy {result['entropy']:.2f}"
        )
