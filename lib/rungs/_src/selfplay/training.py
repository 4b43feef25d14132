"""A self-play run in a folder: games, checkpoints, matches, and resuming after a crash."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

import rungs
from rungs._src.core.atomic import remove_leftovers
from rungs._src.core.folder import Folder, locked_output_dir
from rungs._src.core.progress import Say, line
from rungs._src.provenance import provenance
from rungs._src.search.search import Search
from rungs._src.search.settings import Gumbel
from rungs._src.selfplay import learning
from rungs._src.selfplay.agent import MATCHES, POOL
from rungs._src.selfplay.buffer import ReplayBuffer
from rungs._src.selfplay.evaluation import RATINGS, RESULTS, Evaluator, stockfish
from rungs._src.selfplay.games import RankGames, SelfPlay
from rungs._src.selfplay.learning import SearchLearner
from rungs._src.selfplay.matches import MASK
from rungs._src.selfplay.players import search_in_words
from rungs._src.selfplay.settings import SelfPlayTraining
from rungs._src.train.ranks import all_ranks
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
from rungs._src.train.tracking import TENSORBOARD, check_tracker
from rungs.errors import ConfigurationError

BUFFER = "positions"
_NAMES = (*NAMES, BUFFER, POOL, MATCHES, RATINGS, RESULTS)

# "network" and "optimizer" are the learner's; "results" is `Evaluator.state`'s; "games" has each
# rank's `SelfPlay.state_dict`. The positions are in the replay buffer's files.
checkpoint = Checkpoint(
    "self-play",
    schema=7,
    form={
        "training": {},
        **UNIT,
        "clock": float,
        "updates": int,
        "positions": int,
        "network": {...: torch.Tensor},
        "optimizer": {"state": {...: {...: torch.Tensor}}, "param_groups": [{...: (float, tuple)}]},
        "results": {"rule": str, "rows": [[(str, float, int)]]},
        "games": [{"env": bytes, "plies": int, **dict.fromkeys(SelfPlay.ARRAYS, torch.Tensor)}],
    },
    settings=lambda saved: SelfPlayTraining(**saved),
    counts=("clock", "updates", "positions"),
)


def train(
    training: SelfPlayTraining,
    out: Path,
    *,
    resume: bool = False,
    track: str = TENSORBOARD,
    say: Say = line,
) -> SearchLearner:
    """Trains by self-play, or resumes training, and keeps everything in `out`.

    It writes `metrics.csv` (a row per update) and `evaluations.csv`; `pool/`, the network as it was
    at each evaluation, with its rating; `matches/`, the PGN of all games of each evaluation;
    `results.csv` and `ratings.csv`, of all in the pool; `positions/`, the replay buffer; and
    `checkpoint.pt`, which is replaced atomically. A run that was killed loses the updates since its
    last checkpoint and plays them again: its curve equals an uninterrupted run's, bit for bit.

    Started by torchrun, every rank has `num_envs` boards of its own and plays for rank 0, which
    learns, evaluates and writes.

    Args:
        training: the settings; to resume a run, those of its checkpoint, or with a later end.
        out: a folder; for a new run it must hold no run.
        resume: whether to resume from the checkpoint there.
        track: as in `rungs.train.train`.
        say: receives progress, a line at a time. By default lines are printed; in a terminal or
            notebook bars show how much is done, in place of a line for each update and match.

    Returns:
        The learner at the end.

    Raises:
        ConfigurationError: there is a checkpoint, or none to resume from; or the folder is not
            ours, or another process trains there.
        InvalidStateError: the checkpoint or the replay buffer is corrupt, incomplete or of another
            network, environment or number of ranks.
        DivergedError: a loss is not finite; the last checkpoint stays.
        StorageError: a file can't be written; the last checkpoint stays.
        EngineError: Stockfish failed.
        CompilerError: the C++ can't be compiled.
        UnavailableError: Stockfish or the tracker is needed and not installed.
        WorkerDiedError: another rank died.
    """
    out = Path(out)
    torch.set_num_threads(training.torch_threads)
    with all_ranks("cpu") as ranks, contextlib.ExitStack() as held:
        folders = []  # rank 0's own

        def begin() -> dict | None:
            check_tracker(track)
            if training.stockfish:
                stockfish()
            folders.append(held.enter_context(locked_output_dir(out, "self-play", _NAMES)))
            for folder in (out / BUFFER, out / MATCHES, *(out / POOL).glob("*/")):
                remove_leftovers(folder)
            if (out / CHECKPOINT).exists() and not resume:
                raise ConfigurationError(f"{out} holds a run already: --resume continues it")
            return checkpoint.load(out) if resume else None

        saved = ranks.agree(begin)
        learner = learning.make(training.learner, training.seed, training)
        games_of_rank = held.enter_context(_games_of_rank(training, ranks.rank))
        games = RankGames(ranks, learner.network, training.learner, games_of_rank, training.plies)
        evaluator = Evaluator(training, out)
        if saved:
            with names_checkpoint(out, resumed=True):
                learner.load_state_dict(saved)
                games.load_state_dicts(saved["games"])
                evaluator.load_state(saved["results"])
        if ranks.rank:
            games.serve()
        else:
            if saved:
                say_other_unit(saved, learner, say)
            run = _SelfPlayRun(training, folders[0], learner, games, evaluator, saved, track, say)
            run.run()
            games.end()
        return learner


class _SelfPlayRun(Run):
    """Rank 0's run: it learns, evaluates and writes."""

    folder: Folder

    def __init__(
        self,
        training: SelfPlayTraining,
        folder: Folder,
        learner: SearchLearner,
        games: RankGames,
        evaluator: Evaluator,
        saved: dict | None,
        track: str,
        say: Say,
    ):
        last = saved["updates"] if saved else 0
        self.positions = saved["positions"] if saved else 0
        self.learner, self.games, self.evaluator = learner, games, evaluator
        run_files = {folder.path / name for name in folder.files}
        self.buffer = ReplayBuffer(
            folder.path / BUFFER, training.window, last, run_files, training.window_share
        )
        clock = saved["clock"] if saved else 0.0
        super().__init__(training, folder, checkpoint, last, clock, track, say)

    def update(self) -> str:
        start = time.perf_counter()
        positions, ended = self.games.play()
        played = time.perf_counter()
        # Noted as ours before it is written, as the process may be killed at any time.
        self.folder.note([self.buffer.next_path()])
        self.buffer.add(positions)
        self.updates += 1
        losses = self._learn()
        self.positions += self.games.positions
        learnt = time.perf_counter()
        self.clock += learnt - start
        row = self._columns() | ended | losses | {"play": played - start, "learn": learnt - played}
        self.write(METRICS, row)
        rate = self.games.positions * self.training.simulations
        return (
            f"update {self.updates}, {self.positions:,} positions, {self.clock:.0f} s, "
            f"{rate / row['play']:,.0f} simulations/s, {ended['decided']} of {sum(ended.values())} "
            f"games decided, policy {row['policy_loss']:.3f}, value {row['value_loss']:.3f}"
        )

    def _learn(self) -> dict[str, float]:
        """Learns from minibatches, fewer while the buffer holds less than an update's positions."""
        training = self.training
        full = min(1.0, len(self.buffer) / self.games.positions)
        rng = np.random.default_rng([training.seed, self.updates])
        number, size = round(full * training.minibatches), training.minibatch_size
        positions = self.buffer.sample(number * size, rng)
        parts = rng.permutation(number * size).reshape(number, size)
        losses = [self.learner.learn(positions.rows(part)) for part in parts]
        names = ("policy_loss", "value_loss")
        means = {name: float(np.mean([loss[name] for loss in losses] or [0.0])) for name in names}
        return means | {"learnt": number * size}

    def _columns(self) -> dict:
        return {"update": self.updates, "positions": self.positions, "seconds": self.clock}

    def evaluate(self) -> None:
        facts = {"kind": "self-play", "seconds": f"{self.clock:.0f}", "positions": self.positions}
        facts |= {f"setting {name}": value for name, value in vars(self.training).items()}
        # As above: matches take minutes.
        self.folder.note(self.evaluator.files(self.updates))
        row = self.evaluator.evaluate(
            self.learner.network, self.updates, provenance(facts), self.say
        )
        self.write(EVALUATIONS, self._columns() | row)
        scores = "".join(
            f", {name} {row[name]:.3f}" for name in ("random", "stockfish") if name in row
        )
        search = search_in_words(self.training.match_policy, self.training.simulations)
        self.say(
            f"evaluation after {self.updates} updates: Elo {row['elo']:.0f} ({row['low']:.0f} to "
            f"{row['high']:.0f}) over random play by {search}{scores}; search adds "
            f"{row['search_gain']:.0f}; "
            f"{row['adjudicated']} of {row['games']} games were adjudicated by material after "
            f"{self.training.match_plies} plies"
        )

    def state(self) -> dict:
        return {
            "updates": self.updates,
            "positions": self.positions,
            **unit_of(self.learner),
            **self.learner.state_dict(),
            "results": self.evaluator.state(),
            "games": self.games.state_dicts(),
        }

    def after_checkpoint(self) -> None:
        self.buffer.remove_leftovers(self.updates)


@contextlib.contextmanager
def _games_of_rank(training: SelfPlayTraining, rank: int) -> Iterator[SelfPlay]:
    """Makes the environment and the search that a rank's games are played with."""
    env = rungs.make(
        "chess",
        "cpp",
        training.num_envs,
        seed=training.seed,
        first_board=rank * training.num_envs,
        mask=MASK,
        max_plies=training.max_plies,
        opening_plies=(0, training.opening_plies),
    )
    search = Search(
        training.num_envs,
        simulations=training.simulations,
        policy=Gumbel(considered=training.considered),
        seed=training.seed,
        keep=False,  # trees would have to be in a checkpoint
        batches=1,  # C++ evaluates on all cores: none is free to grow trees meanwhile
        threads=training.torch_threads,
    )
    with contextlib.closing(env), search:
        yield SelfPlay(env, search)
