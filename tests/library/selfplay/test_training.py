"""Self-play runs: what they write and what they refuse."""

import argparse
import dataclasses
import io
import shutil

import chess.pgn
import pytest

from rungs._src.selfplay import agent as files
from rungs._src.selfplay import learning, training
from rungs._src.selfplay.settings import SelfPlayTraining
from rungs._src.train.settings import add_options
from rungs.errors import InvalidStateError
from tests.library.train.runs import SELFPLAY, column, table
from tests.saved import contents


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    out = tmp_path_factory.mktemp("unbroken")
    assert SELFPLAY.begin(out) == 0
    return out


@pytest.fixture
def copied(unbroken, tmp_path):
    return shutil.copytree(unbroken, tmp_path / "copied")


def test_a_run_writes_rows_of_updates_and_evaluations(unbroken):
    assert column(unbroken / "metrics.csv", "update") == ["1", "2", "3", "4", "5"]
    evaluations = table(unbroken / "evaluations.csv")
    assert [row["update"] for row in evaluations] == ["0", "3", "5"]
    for row in evaluations:
        assert float(row["low"]) <= float(row["elo"]) <= float(row["high"])
        text = (unbroken / "matches" / f"{int(row['update']):06}.pgn").read_text()
        assert int(row["adjudicated"]) == text.count('[Termination "adjudication"]') > 0
        assert int(row["games"]) == text.count("[Result ")
    assert any((unbroken / "tensorboard").iterdir())


def test_results_and_ratings_are_of_all_that_played(unbroken):
    results, evaluations = table(unbroken / "results.csv"), table(unbroken / "evaluations.csv")
    adjudicated = [sum(int(row["adjudicated"]) for row in rows) for rows in (results, evaluations)]
    assert adjudicated[0] == adjudicated[1] > 0
    assert {float(row["points"]) + float(row["opponent_points"]) for row in results} == {2}
    selves = {f"update {n}{search}" for n in (0, 3, 5) for search in ("", ", no search")}
    assert set(column(unbroken / "ratings.csv", "player")) == selves | {"random"}


def test_every_evaluation_freezes_an_agent_and_keeps_its_games(unbroken):
    frozen = files.frozen_in(unbroken / "pool")
    assert [path.name for path in frozen.values()] == ["000000", "000003", "000005"]
    agent, card = files.load(frozen[5]), (frozen[5] / files.CARD).read_text()
    assert (agent.name, agent.provenance["kind"]) == ("update 5", "self-play")
    elo = round(float(table(unbroken / "evaluations.csv")[-1]["elo"]))
    assert f"| Gumbel, 4 simulations | {elo} | " in card
    assert "| setting seed | 3 |" in card
    # Random play, no search, and an earlier self, two games each.
    text = io.StringIO((unbroken / "matches" / "000005.pgn").read_text())
    games = list(iter(lambda: chess.pgn.read_game(text), None))
    assert len(games) == 6
    assert not any(game.errors for game in games)
    players = {game.headers[side] for game in games for side in ("White", "Black")}
    assert players == {"update 5", "random", "update 5, no search", "update 3"}


def test_results_by_another_rule_are_not_gone_on_with(copied):
    before = contents(copied)
    for settings in ({"match_policy": "puct"}, {"simulations": 5}, {"match_plies": 30}):
        with pytest.raises(InvalidStateError):
            SELFPLAY.resume(copied, **settings)
        assert contents(copied) == before


def test_agents_play_evaluations_by_either_rule(unbroken, tmp_path, capsys):
    settings = SELFPLAY.load(unbroken)["training"]
    parser = argparse.ArgumentParser()
    add_options(parser, type(settings))
    options = vars(parser.parse_args(["--match-policy", "puct", "--updates", "1"]))
    settings = dataclasses.replace(settings, **options)
    SELFPLAY.module.train(settings, tmp_path)
    assert "by PUCT, 4 simulations" in capsys.readouterr().out
    assert SELFPLAY.run(tmp_path, "--resume") == 0


def test_an_evaluation_that_is_killed_leaves_no_agent_to_a_new_run(tmp_path, monkeypatch):
    """Without a checkpoint a run begins anew, and plays none of the last one's agents."""
    options = ["--checkpoint-every", 0]
    play, calls = training.Evaluator._match, []

    def killed(*arguments):
        calls.append(True)
        if len(calls) > 5:  # in the third evaluation
            raise KeyboardInterrupt
        return play(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(training.Evaluator, "_match", killed)
        assert SELFPLAY.begin(tmp_path, *options, "--updates", 2, "--evaluate-every", 1) != 0
    assert list(files.frozen_in(tmp_path / "pool")) == [0, 1]
    assert SELFPLAY.begin(tmp_path, *options, "--updates", 2, "--evaluate-every", 2) == 0
    assert list(files.frozen_in(tmp_path / "pool")) == [0, 2]


def test_an_earlier_self_that_is_corrupt_is_named(copied):
    path = copied / "pool" / "000005" / files.WEIGHTS
    path.write_bytes(path.read_bytes()[:-9])
    evaluator = training.Evaluator(SELFPLAY.load(copied)["training"], copied)
    learner = learning.make("cpp", 0, learning.LossWeights())
    with pytest.raises(InvalidStateError, match="000005"):
        evaluator.evaluate(learner.network, 9, {})


def test_a_flag_needs_no_value():
    parser = argparse.ArgumentParser()
    add_options(parser, SelfPlayTraining)
    for words, expected in ((["--stockfish"], True), (["--no-stockfish"], False), ([], None)):
        assert vars(parser.parse_args(words)).get("stockfish") is expected


@pytest.mark.parametrize("option", ["games=0", "games=3", "simulations=100001"])
def test_wrong_options_are_named_and_nothing_is_written(tmp_path, capsys, option):
    name, value = option.split("=")
    assert SELFPLAY.run(tmp_path / "none", f"--{name}", value) == 2
    assert option in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
