"""Self-play runs: what they write, and that `kill -9` at any moment changes nothing but time."""

import argparse
import dataclasses
import io
import os
import random
import shutil
import signal
import subprocess
import sys

import chess.pgn
import numpy as np
import pytest
import torch

from rungs._src import cli
from rungs._src.core.atomic import UNFINISHED
from rungs._src.selfplay import agent as files
from rungs._src.selfplay import learning, training
from rungs._src.selfplay.examples import DTYPES, Examples
from rungs._src.selfplay.settings import SelfPlayTraining
from rungs._src.selfplay.training import checkpoint, train
from rungs._src.train.runs import CHECKPOINT
from rungs._src.train.settings import add_options
from rungs.errors import ConfigurationError, DivergedError, InvalidStateError
from tests.library.train import runs
from tests.library.train.runs import table

SMALL = {
    "num_envs": 8,
    "simulations": 4,
    "considered": 4,
    "plies": 8,
    "max_plies": 24,
    "match_plies": 24,
    "window": 3,
    "minibatches": 2,
    "minibatch_size": 32,
    "games": 2,
    "rivals": 1,
    "evaluate_every": 3,
    "checkpoint_every": 2,
    "torch_threads": 1,
    "seed": 3,
}
RANKS = 2


def command_line(**settings):
    return [
        word
        for name, value in settings.items()
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]


def run(out, *words):
    return cli.main(["selfplay", "--out", str(out), *words])


def assert_same_run(ours, theirs):
    tables = ("metrics.csv", "evaluations.csv", "ratings.csv", "results.csv")
    runs.assert_same(ours, theirs, tables, lambda out: checkpoint.load(out)["network"])
    for folder in ("matches", "positions"):
        names = sorted(path.name for path in (theirs / folder).iterdir())
        assert sorted(path.name for path in (ours / folder).iterdir()) == names
        for name in names:
            assert (ours / folder / name).read_bytes() == (theirs / folder / name).read_bytes(), (
                name
            )


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    out = tmp_path_factory.mktemp("unbroken")
    train(SelfPlayTraining(**SMALL, updates=5), out)
    return out


def test_a_run_writes_what_it_did(unbroken):
    assert [int(row["update"]) for row in table(unbroken / "metrics.csv")] == [1, 2, 3, 4, 5]
    evaluations = table(unbroken / "evaluations.csv")
    assert [int(row["update"]) for row in evaluations] == [0, 3, 5]
    for row in evaluations:
        assert float(row["low"]) <= float(row["elo"]) <= float(row["high"])
        text = (unbroken / "matches" / f"{int(row['update']):06}.pgn").read_text()
        assert int(row["adjudicated"]) == text.count('[Termination "adjudication"]') > 0
        assert int(row["games"]) == text.count("[Result ")
    assert any((unbroken / "tensorboard").iterdir())


def test_results_say_how_many_games_were_adjudicated(unbroken):
    rows = table(unbroken / "results.csv")
    evaluations = table(unbroken / "evaluations.csv")
    counted, said = (sum(int(r["adjudicated"]) for r in each) for each in (rows, evaluations))
    assert counted == said > 0
    for row in rows:
        assert float(row["points"]) + float(row["opponent_points"]) == SMALL["games"]


def test_every_evaluation_freezes_an_agent_and_keeps_its_games(unbroken):
    assert sorted(path.stem for path in (unbroken / "pool").iterdir()) == [
        "000000",
        "000003",
        "000005",
    ]
    agent = files.load(unbroken / "pool" / "000005.pt")
    assert agent.name == "update 5"
    assert agent.provenance["kind"] == "self-play"
    # Random play, no search, and an earlier self, two games each.
    text = io.StringIO((unbroken / "matches" / "000005.pgn").read_text())
    games = list(iter(lambda: chess.pgn.read_game(text), None))
    assert len(games) == 6
    assert not any(game.errors for game in games)
    players = {game.headers[side] for game in games for side in ("White", "Black")}
    assert players == {"update 5", "random", "update 5, no search", "update 3"}


def test_ratings_are_of_everybody_that_played(unbroken):
    rated = {row["player"] for row in table(unbroken / "ratings.csv")}
    selves = {f"update {n}{how}" for n in (0, 3, 5) for how in ("", ", no search")}
    assert rated == selves | {"random"}


def test_a_run_that_broke_goes_on_as_if_it_had_not(unbroken, tmp_path, monkeypatch):
    whole, calls = training._SelfPlayRun._learn, []

    def breaks(session):
        calls.append(True)
        if len(calls) == 5:  # its positions are written; the last checkpoint is of update 4
            raise KeyboardInterrupt
        return whole(session)

    with monkeypatch.context() as patch:
        patch.setattr(training._SelfPlayRun, "_learn", breaks)
        with pytest.raises(KeyboardInterrupt):
            train(SelfPlayTraining(**SMALL, updates=5), tmp_path)
    assert checkpoint.load(tmp_path)["updates"] == 4
    for folder in ("positions", "matches"):  # as if it had been killed while it wrote there
        (tmp_path / folder / f"{UNFINISHED}x").mkdir()
    assert run(tmp_path, "--resume") == 0
    assert_same_run(tmp_path, unbroken)


def test_a_lengthened_run_is_one_that_was_as_long_from_the_start(unbroken, tmp_path, monkeypatch):
    """And files of others in its pool play no part."""
    evaluate = training.Evaluator.evaluate

    def littered(evaluator, *arguments):
        (tmp_path / "pool").mkdir(exist_ok=True)
        for name in ("notes.pt", "1.pt", "0000001.pt"):
            (tmp_path / "pool" / name).write_text("precious")
        return evaluate(evaluator, *arguments)

    monkeypatch.setattr(training.Evaluator, "evaluate", littered)
    train(SelfPlayTraining(**SMALL, updates=3), tmp_path)
    assert run(tmp_path, "--resume", "--updates", "5") == 0
    assert_same_run(tmp_path, unbroken)


@pytest.fixture
def copied(unbroken, tmp_path):
    """A run that is over, to change."""
    return shutil.copytree(unbroken, tmp_path / "copied")


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "change",
    [
        lambda saved: saved["results"]["rows"].append(["update 3", "random", 1.0]),
        lambda saved: saved["results"]["rows"].append([]),
        lambda saved: saved["results"]["rows"].append(["update 3", "random", "1", "1", 0]),
        lambda saved: saved["results"]["rows"].append(["update 3", "random", float("nan"), 1.0, 0]),
        lambda saved: saved["results"]["rows"].append(["update 3", "random", 1e300, 1e300, 0]),
        lambda saved: saved["results"]["rows"].append(["update 3", "random", 0.25, 1.75, 0]),
        lambda saved: saved["results"]["rows"].append(["update 3", "update 3", 1.0, 1.0, 0]),
        lambda saved: saved["results"]["rows"].append(["a", "b", 1.0, 1.0, 0]),
        lambda saved: saved["results"]["rows"].append(["update 3", "update 0", 1.0, 1.0, 3]),
        lambda saved: saved["results"]["rows"].append(["update 3", "update 0", 1.0, 1.0, -1]),
        lambda saved: saved["results"]["rows"].clear(),
        lambda saved: saved["optimizer"].update(param_groups=[{"lr": torch.zeros(2)}]),
        lambda saved: saved["network"]["value.bias"].fill_(float("nan")),
        lambda saved: saved["games"][0].update(policy=saved["games"][0]["policy"].to_sparse()),
        lambda saved: saved["games"][0].update(ply=torch.zeros(1, dtype=torch.int64).expand(9**9)),
        lambda saved: saved["games"][0].update(policy=saved["games"][0]["policy"].bfloat16()),
        lambda saved: saved["games"][0]["policy"].requires_grad_(),
        lambda saved: saved["games"][0]["action"].fill_(20_000),
    ],
)
def test_a_checkpoint_of_what_no_run_has_is_refused_and_nothing_changes(copied, change):
    path = copied / CHECKPOINT
    saved = checkpoint.read(path)
    change(saved)
    checkpoint.write(path, saved)
    before = contents(copied)
    with pytest.raises(InvalidStateError, match=r"checkpoint\.pt"):
        train(checkpoint.load(copied)["training"], copied, resume=True)
    assert contents(copied) == before


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"match_policy": "puct"}, "PUCT, 4 simulations"),
        ({"simulations": 5}, "Gumbel, 5 simulations"),
        ({"match_plies": 30}, "after 30 plies"),
    ],
)
def test_results_by_another_rule_are_not_gone_on_with(copied, how, said):
    other = dataclasses.replace(checkpoint.load(copied)["training"], **how)
    before = contents(copied)
    with pytest.raises(InvalidStateError, match=f"played by 'Gumbel, 4 simulations; .*{said}"):
        train(other, copied, resume=True)
    assert contents(copied) == before


def test_agents_play_evaluations_by_either_rule(tmp_path):
    lines = []
    how = SMALL | {"updates": 1, "match_policy": "puct"}
    train(SelfPlayTraining(**how), tmp_path, say=lines.append)
    (last,) = [line for line in lines if line.startswith("evaluation after 1 updates")]
    assert "over random play by PUCT, 4 simulations, random 0" in last
    assert run(tmp_path, "--resume") == 0


def test_a_shard_that_is_not_of_the_run_is_neither_removed_nor_believed(copied):
    mine = copied / "positions" / "999999.npz"
    mine.write_text("precious")
    before = contents(copied)
    with pytest.raises(ConfigurationError, match=r"999999\.npz is not of this run"):
        train(checkpoint.load(copied)["training"], copied, resume=True)
    assert contents(copied) == before


def test_a_loss_that_is_not_finite_ends_a_run_which_keeps_its_checkpoint(tmp_path, monkeypatch):
    learn, calls = learning.CppLearner.learn, []

    def diverges(learner, positions):
        calls.append(True)
        if len(calls) == 5:
            with torch.no_grad():
                learner.network.value.bias.fill_(3e38)
        return learn(learner, positions)

    monkeypatch.setattr(learning.CppLearner, "learn", diverges)
    # As games are cut after 24 plies there is something to learn from after three updates.
    with pytest.raises(DivergedError):
        train(SelfPlayTraining(**SMALL | {"checkpoint_every": 1, "updates": 9}), tmp_path)
    saved = checkpoint.load(tmp_path)
    assert 0 < saved["updates"] < 9
    assert all(bool(each.isfinite().all()) for each in saved["network"].values())


def test_an_evaluation_that_is_killed_leaves_no_agent_to_a_new_run(tmp_path, monkeypatch):
    """Without a checkpoint a run begins anew, and plays none of the last one's agents."""
    small = SMALL | {"checkpoint_every": 0, "evaluate_every": 2}
    play, calls = training.Evaluator._match, []

    def killed(*arguments):
        calls.append(True)
        if len(calls) > 2:  # in the second evaluation
            raise KeyboardInterrupt
        return play(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(training.Evaluator, "_match", killed)
        with pytest.raises(KeyboardInterrupt):
            train(SelfPlayTraining(**small, updates=3), tmp_path)
    assert (tmp_path / "pool" / "000002.pt").exists()
    train(SelfPlayTraining(**small | {"evaluate_every": 3}, updates=3), tmp_path)
    assert sorted(path.stem for path in (tmp_path / "pool").iterdir()) == ["000000", "000003"]


def test_an_earlier_self_that_is_corrupt_is_named(copied):
    saved = checkpoint.load(copied)
    path = copied / "pool" / "000005.pt"
    path.write_bytes(path.read_bytes()[:-9])
    evaluator = training.Evaluator(saved["training"], copied)
    learner = learning.make("cpp", 0, learning.LossWeights())
    with pytest.raises(InvalidStateError, match=r"000005\.pt is corrupt"):
        evaluator.evaluate(learner.network, 9, {})


def test_a_folder_with_a_run_is_refused_unless_it_goes_on(unbroken):
    with pytest.raises(ConfigurationError, match="--resume continues it"):
        train(SelfPlayTraining(**SMALL, updates=5), unbroken)
    before = (unbroken / "metrics.csv").read_text()
    assert run(unbroken, "--resume") == 0
    assert (unbroken / "metrics.csv").read_text() == before


def test_a_flag_needs_no_value():
    parser = argparse.ArgumentParser()
    add_options(parser, SelfPlayTraining)
    for words, expected in ((["--stockfish"], True), (["--no-stockfish"], False), ([], None)):
        assert vars(parser.parse_args(words)).get("stockfish") is expected


def test_it_says_what_it_does_not_take(unbroken, tmp_path, capsys):
    assert run(unbroken, "--resume", "--games", "4") == 2
    assert "not --games" in capsys.readouterr().err
    assert run(unbroken, "--resume", "--updates", "2") == 2
    assert "--updates 2 is less than the run's" in capsys.readouterr().err
    assert run(tmp_path / "none", "--resume") == 2
    assert "there is no" in capsys.readouterr().err
    for games in ("0", "3"):
        assert run(tmp_path / "none", "--games", games) == 2
        assert f"games={games}" in capsys.readouterr().err
    assert run(tmp_path / "none", "--simulations", "100001") == 2
    assert "simulations=100001" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "kills", [pytest.param(3, marks=pytest.mark.system), pytest.param(10, marks=pytest.mark.slow)]
)
def test_a_run_that_is_killed_again_and_again_ends_as_one_that_never_was(kills, tmp_path):
    """At random moments of playing, learning, evaluating and writing; what is lost is said."""
    rng = random.Random(0)
    settings = SMALL | {"updates": 10 + 3 * kills}
    whole, out = tmp_path / "whole", tmp_path / "killed"
    assert run(whole, *command_line(**settings)) == 0
    base = [sys.executable, "-m", "rungs", "selfplay", "--out", str(out)]
    lost = []
    for _ in range(kills):
        there = (out / "checkpoint.pt").exists()
        words = ["--resume"] if there else command_line(**settings)
        job = runs.start([*base, *words])
        reached = 0
        for _ in range(rng.randrange(2, 6)):  # lines that it says before it is killed
            said = job.stdout.readline()
            if said.startswith("update "):
                reached = int(said.split()[1].strip(","))
        assert job.poll() is None, "it was over too soon"
        try:
            job.wait(rng.uniform(0, 0.1))
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        job.stdout.close()
        if (out / "checkpoint.pt").exists():
            lost.append(max(0, reached - checkpoint.load(out)["updates"]))
    assert run(out, "--resume") == 0
    print("updates lost by each kill:", lost)
    assert max(lost) <= SMALL["checkpoint_every"]
    assert_same_run(out, whole)


def torchrun(out, *words):
    """Starts ranks that train together."""
    command = [sys.executable, "-P", "-m", "torch.distributed.run", "--standalone"]
    command += [f"--nproc-per-node={RANKS}", "-m", "rungs", "selfplay", "--out", str(out), *words]
    return runs.start(command)


def rows(shard):
    """The positions of a shard, each as bytes, in an order of their own."""
    found = Examples(**{name: shard[name] for name in DTYPES})
    parts = (found.observation, found.count, found.actions(), found.policies())
    parts += (found.outcome, found.value)
    return sorted(zip(*([row.tobytes() for row in part] for part in parts), strict=True))


@pytest.mark.system
def test_ranks_play_what_one_process_plays_on_all_their_boards(tmp_path):
    how = SMALL | {"plies": 48, "updates": 1}
    assert torchrun(tmp_path / "ranks", *command_line(**how)).wait() == 0
    train(SelfPlayTraining(**how | {"num_envs": RANKS * how["num_envs"]}), tmp_path / "one")
    ours, theirs = (
        np.load(tmp_path / name / "positions" / "000001.npz") for name in ("ranks", "one")
    )
    assert len(ours["count"]) > 100
    assert rows(ours) == rows(theirs)


@pytest.mark.system
def test_ranks_that_were_killed_go_on_as_if_they_had_not_been(tmp_path):
    how = command_line(**SMALL | {"updates": 8})
    assert torchrun(tmp_path / "unbroken", *how).wait() == 0
    out = tmp_path / "killed"
    with torchrun(out, *how) as job:
        for line in job.stdout:
            if line.startswith("update 5"):
                break
        os.killpg(job.pid, signal.SIGKILL)
    assert torchrun(out, "--resume").wait() == 0
    assert_same_run(out, tmp_path / "unbroken")
    assert run(out, "--resume") == 2  # by one process
