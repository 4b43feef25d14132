"""A training run in a folder: metrics, evaluations, checkpoints, and going on after a crash."""

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

import rungs
from rungs._src.chess.engine import UciEngine
from rungs._src.core.folder import Folder, locked_output_dir
from rungs._src.train import checkpoint, learners
from rungs._src.train.evaluate import evaluate
from rungs._src.train.log import EVALUATIONS, METRICS, TENSORBOARD, begin_logs
from rungs._src.train.ppo import PARTS, Learner
from rungs._src.train.ranks import Ranks, all_ranks
from rungs._src.train.settings import Training, share_of_cores
from rungs.errors import (
    ConfigurationError,
    InvalidStateError,
    UnavailableError,
)

_NAMES = (checkpoint.NAME, METRICS, EVALUATIONS, TENSORBOARD)

_make = functools.partial(rungs.make, "chess")
_say = functools.partial(print, flush=True)  # seen as it happens, also in a file


def train(
    training: Training,
    out: Path,
    *,
    resume: bool = False,
    make: Callable = _make,
    say=_say,
) -> Learner | None:
    """Trains, or goes on training, and keeps everything in `out`.

    There will be `metrics.csv` (a row per update), `evaluations.csv`, TensorBoard's events, and
    `checkpoint.pt`, which is replaced whole. A run that was killed loses the updates since its last
    checkpoint and plays them again: on the CPU its curve is the one of a run that never broke.

    Started by torchrun, every rank has `num_envs` boards of its own, and all learn together. A
    checkpoint of the same settings and the same torchrun (its `--rdzv-id`, or `--standalone`) is
    gone on from without being asked: so it is when a rank died, and torchrun starts them all again.

    Args:
        training: what to train; to go on with a run, its checkpoint's.
        out: a folder. A new run's must hold no checkpoint.
        resume: whether to go on from the checkpoint there.
        make: makes the environment of a name, a number of boards and settings; by default a rung's.
        say: where progress goes, a line at a time.

    Returns:
        The learner at the end, its environment closed; None on an MPI rank that served another.

    Raises:
        ConfigurationError: there is a checkpoint, or none to go on from, or it is of another number
            of ranks; or the folder is somebody else's, or another process trains there.
        InvalidStateError: the checkpoint is corrupt, incomplete or of other boards.
        StorageError: a file can't be written; the last checkpoint stays.
        UnavailableError: the device, the rung or TensorBoard is not there.
        WorkerDiedError: another rank is gone.
    """
    out = Path(out)
    if training.device == "cuda" and not torch.cuda.is_available():
        raise UnavailableError("there is no CUDA device, or torch was built without CUDA")
    torch.set_num_threads(training.torch_threads)
    with all_ranks(training.device) as ranks:
        with _blamed(out, resume):
            env = make_env(training, ranks.rank, make)
        if env.serve():
            return None
        with contextlib.closing(env), contextlib.ExitStack() as held:
            folders = []  # rank 0's own

            def begin() -> dict | None:
                refused = _NAMES[1:] if resume else _NAMES
                folders.append(
                    held.enter_context(locked_output_dir(out, "training", _NAMES, refused))
                )
                return _saved(training, out, resume, ranks)

            saved = ranks.agree(begin)
            with _blamed(out, bool(saved)):
                learner = Learner(
                    env,
                    seed=training.seed,
                    settings=training.ppo,
                    device=training.device,
                    learner=training.learner,
                    ranks=ranks,
                )
                if saved:
                    learner.load(saved["learner"] | {"own": saved["own"][ranks.rank]})
            clock = saved["clock"] if saved else 0.0
            _Session(training, folders, ranks, learner, clock, say).run()
            return learner


@contextlib.contextmanager
def _blamed(out: Path, resumed: bool) -> Iterator[None]:
    """Names the checkpoint where what it holds is refused, as it was gone on from."""
    try:
        yield
    except (ConfigurationError, InvalidStateError) as error:
        if not resumed:
            raise
        raise type(error)(f"{out / checkpoint.NAME}: {error}") from error


def _saved(training: Training, out: Path, resume: bool, ranks: Ranks) -> dict | None:
    """Reads the checkpoint to go on from, if there is one."""
    if not resume and not (out / checkpoint.NAME).exists():
        return None
    saved = checkpoint.load(out)
    restarted = ranks.job and (saved["job"], saved["training"]) == (ranks.job, training)
    if not resume and not restarted:
        raise ConfigurationError(f"{out} holds a run already: --resume goes on with it")
    if len(saved["own"]) != ranks.size:
        path = out / checkpoint.NAME
        raise ConfigurationError(f"{path}: the run had {len(saved['own'])} ranks, not {ranks.size}")
    return saved


def make_env(training: Training, rank: int = 0, make: Callable = _make):
    """Makes the environment that a rank learns from: its boards follow the last rank's."""
    opponent = training.opponent if training.opponent == "random" else weakest(training.opponent)
    # By default every rank would have a thread on each core.
    settings = {"threads": share_of_cores()} if training.rung in ("openmp", "threads") else {}
    settings |= training.how | {
        "seed": training.seed,
        "first_board": rank * training.num_envs,
        "opponent": opponent,
        "mask": learners.rung(training.learner).mask,
        "max_plies": training.max_plies,
    }
    return make(training.rung, training.num_envs, **settings)


def weakest(path: str) -> UciEngine:
    """Starts Stockfish, or an engine with its options, at its lowest setting: one ply, skill 0."""
    return UciEngine(path, depth=1, options={"Skill Level": 0})


class _Session:
    """The loop around `Learner.learn`: rank 0 writes down what all did."""

    def __init__(self, training, folders: list[Folder], ranks, learner, clock, say):
        self.training, self.ranks, self.learner = training, ranks, learner
        self.clock, self.say = clock, say
        for folder in folders:
            self.out = folder.path
            logs = begin_logs(folder, learner.updates, say)
            self.metrics, self.evaluations, self.board = logs

    def run(self) -> None:
        training, learner = self.training, self.learner
        if not learner.updates:
            self._evaluate()
        while learner.updates < training.updates and self.clock < training.seconds:
            # Rank 0 may have been busy on its own: all begin at once, as only then time counts.
            self.ranks.wait()
            start = time.perf_counter()
            result = learner.learn()
            self._note(result | {"seconds": time.perf_counter() - start})
            last = learner.updates == training.updates or self.clock >= training.seconds
            if last or learner.updates % training.evaluate_every == 0:
                self._evaluate()
            every = training.checkpoint_every
            if every and (last or learner.updates % every == 0):
                self._save()
        if self.ranks.rank == 0:
            self.board.close()

    def _progress(self, result: dict) -> str:
        where, size = self._where(), self.ranks.size
        settings = self.training.ppo
        episodes = result["wins"] + result["draws"] + result["losses"]
        steps = self.training.num_envs * settings.num_steps
        rate = steps / sum(result[part] for part in PARTS)
        won = (
            f"{result['wins'] / episodes:.1%} of {episodes} episodes won"
            if episodes
            else "none over"
        )
        return (
            f"update {where['update']}, {where['steps']:,} steps, {where['seconds']:.0f} s, "
            f"{size * rate:,.0f} steps/s, {won}, entropy {result['entropy']:.2f}"
        )

    def _where(self) -> dict:
        steps = self.learner.steps * self.ranks.size
        return {"update": self.learner.updates, "steps": steps, "seconds": self.clock}

    def _note(self, result: dict) -> None:
        """Adds up counts of episodes over all ranks; of anything else takes their mean."""
        totals = self.ranks.total(result)
        counts = {name: int(totals[name]) for name in ("wins", "draws", "losses")}
        means = {name: totals[name] / self.ranks.size for name in result if name not in counts}
        self.clock += means.pop("seconds")
        if self.ranks.rank == 0:
            self.metrics.add(self._where() | counts | means)
            self.say(self._progress(counts | means))

    def _evaluate(self) -> None:
        if self.ranks.rank:
            return
        outcome = evaluate(
            self.learner.network,
            games=self.training.games,
            seed=(self.training.seed + 1) % 2**64,
            max_plies=self.training.max_plies,
            device=self.training.device,
        )
        self.evaluations.add(self._where() | outcome.row())
        low, high = outcome.interval()
        self.say(
            f"evaluation after {self.learner.updates} updates: {outcome.wins} wins, "
            f"{outcome.draws} draws, {outcome.losses} losses; "
            f"score {outcome.score:.3f} ({low:.3f} to {high:.3f})"
        )

    def _save(self) -> None:
        state = self.learner.save()
        own = self.ranks.gather(state.pop("own"))
        if self.ranks.rank == 0:
            saved = {
                "training": self.training,
                "job": self.ranks.job,
                "clock": self.clock,
                "learner": state,
                "own": own,
            }
            checkpoint.save(self.out, saved)
