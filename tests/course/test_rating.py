"""A rating counts all games, and names the agent's search and missing opponents."""

import io

import chess.pgn
import pandas as pd
import pytest
import torch

from rungs._src.selfplay import agent as files
from rungs._src.selfplay import elo, matches
from rungs._src.train.evaluate import Evaluation
from rungs._src.train.network import PolicyValueNetwork
from rungs.errors import ConfigurationError
from rungs_course import cli, rating
from rungs_course.measure import results
from tests.saved import contents

PLIES = 24  # after which games are adjudicated here


@pytest.fixture(autouse=True, scope="module")
def short():
    """Short games, and opponents that search little."""
    play = matches.play
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(matches, "play", lambda *args, **kw: play(*args, **kw, max_plies=PLIES))
        patched.setattr(rating, "SIMULATIONS", 2)
        yield


def save_agent(path, seed, **facts):
    """Writes a tiny agent, which has learnt nothing."""
    torch.manual_seed(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.save(files.freeze(PolicyValueNetwork(16, 1, 8), f"agent {seed}", facts), path)
    return path


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A source tree with a recorded agent, and an agent to be rated."""
    root = tmp_path_factory.mktemp("root")
    save_agent(root / "data" / "agents" / "0.pt", 0)
    save_agent(root / "mine.pt", 7)
    return root


@pytest.fixture(scope="module")
def rated(root):
    """Its rating by both rules without Stockfish: the table, the folder, and all lines."""
    lines, settings = [], {"simulations": [2, 0], "policies": ["gumbel", "puct"], "games": 2}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rating, "find_program", lambda name: None)
        table = rating.rate(root / "mine.pt", root / "out", lines.append, root=root, **settings)
    return table, root / "out", lines


def test_it_plays_all_opponents_by_each_rule_and_both_rules_each_other(rated):
    table, out, lines = rated
    played = results.load(out / "matches.csv")
    recorded = "recorded agent 0, Gumbel, 2 simulations"
    searches = ("no search", "Gumbel, 2 simulations", "PUCT, 2 simulations")
    mine = [f"agent 7, {search}" for search in searches]
    expected = [(recorded, "random")]
    expected += [(player, other) for player in mine for other in ("random", recorded)]
    expected += [(mine[1], mine[2])]
    assert list(zip(played["player"], played["opponent"], strict=True)) == expected
    assert set(table["player"]) == {"random", recorded, *mine}
    assert table["elo"].between(table["low"], table["high"]).all()
    assert played["simulations"].dropna().tolist() == [0, 0, 2, 2, 2, 2, 2]
    assert played["policy"].dropna().tolist() == ["gumbel"] * 4 + ["puct"] * 2 + ["gumbel"]
    (missing,) = (line for line in lines if "Stockfish" in line)
    assert f"random and {recorded}" in missing  # the scale


def test_its_tables_are_what_the_games_say(rated):
    table, out, _ = rated
    played = results.load(out / "matches.csv")
    text = io.StringIO((out / "games.pgn").read_text())
    games = list(iter(lambda: chess.pgn.read_game(text), None))
    assert len(games) == played["games"].sum() == 2 * len(played)
    points = {"1-0": 1, "1/2-1/2": 0.5, "0-1": 0}
    results_of = {}
    for row in played.itertuples():
        both = {row.player, row.opponent}
        mine = [game for game in games if {game.headers["White"], game.headers["Black"]} == both]
        scored = [
            abs((game.headers["White"] != row.player) - points[game.headers["Result"]])
            for game in mine
        ]
        assert [scored.count(score) for score in (1, 0.5, 0)] == [row.wins, row.draws, row.losses]
        assert sum(game.headers["White"] == row.player for game in mine) == 1
        ended = [game.headers["Termination"] for game in mine]
        assert ended.count("adjudication") == row.adjudicated
        assert row.score == pytest.approx(sum(scored) / 2)
        results_of[row.player, row.opponent] = sum(scored), 2 - sum(scored)
    assert played["adjudicated"].sum() > 0
    expected = elo.rate(results_of, anchor="random")
    assert list(table["player"]) == list(expected["player"])
    assert table["elo"].to_list() == pytest.approx(expected["elo"].to_list())


def test_only_a_ratings_own_files_are_replaced(root, tmp_path, monkeypatch):
    monkeypatch.setattr(rating, "find_program", lambda name: None)
    path, settings = root / "data" / "agents" / "0.pt", {"simulations": [0], "games": 2}
    for name in ("matches.csv", "ratings.csv", "games.pgn"):
        (tmp_path / name).write_text("precious")
        with pytest.raises(ConfigurationError, match=name):
            rating.rate(path, tmp_path, root=root, **settings)
        assert contents(tmp_path) == {name: b"precious"}
        (tmp_path / name).unlink()
    for _ in range(2):
        table = rating.rate(path, tmp_path, root=root, **settings)
    assert len(results.load(tmp_path / "matches.csv")) == 1
    assert set(table["player"]) == {"agent 0, no search", "random"}  # it does not play itself


@pytest.mark.needs("stockfish")
def test_stockfish_plays_at_three_strengths(root, tmp_path):
    lines, settings = [], {"simulations": [0], "games": 4}
    table = rating.rate(root / "mine.pt", tmp_path, lines.append, root=tmp_path, **settings)
    assert not any("not installed" in line for line in lines)
    played = results.load(tmp_path / "matches.csv")
    assert played.attrs["provenance"]["engine"].startswith("Stockfish ")
    assert set(table["player"]) == {"random", "agent 7, no search", *rating.ENGINES}
    rows = played[played["player"] == "agent 7, no search"].set_index("opponent")
    assert rows.loc[list(rating.ENGINES), "losses"].sum() > 6  # of 12 games


def test_wrong_use_is_named(root, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["rate", str(root / "mine.pt"), "--out", str(out)]
    assert cli.main([*command, "--policy", "uct"]) == 2
    assert "uct" in capsys.readouterr().err
    for path, settings, named in (
        ("none.pt", {}, r"none\.pt"),
        ("mine.pt", {"policies": []}, "policy"),
        ("mine.pt", {"simulations": [-1]}, "simulations=-1"),
        ("mine.pt", {"games": 3}, "games=3"),
    ):
        with pytest.raises(ConfigurationError, match=named):
            rating.rate(root / path, out, root=root, **settings)
    assert not out.exists()


def run_of(folder, seed, **changed):
    """Writes the files of a run of self-play with two evaluations; only its last agent is read."""
    facts = {"setting seed": seed, "setting games": 60, "machine": "a", "cores": 2} | changed
    save_agent(folder / files.POOL / "000020.pt", seed, **facts)
    (folder / files.POOL / "000000.pt").write_bytes(b"not read")
    (folder / "evaluations.csv").write_text(f"seconds,elo\n0.0,{seed}\n9.5,{seed + 100}\n")
    return folder


def test_curves_of_runs_that_differ_by_their_seed_are_kept_together(tmp_path):
    runs = [run_of(tmp_path / str(seed), seed) for seed in (3, 4)]
    table = results.load(rating.record_curves(runs, tmp_path))
    assert table["seed"].to_list() == [3, 3, 4, 4]
    assert table["elo"].to_list() == [3, 103, 4, 104]
    facts = table.attrs["provenance"]
    assert (facts["seed"], facts["games"], facts["machine"]) == ("3, 4", "60", "a")
    later = [run_of(tmp_path / "again", 4, machine="b"), run_of(tmp_path / "new", 1, machine="b")]
    table = results.load(rating.record_curves(later, tmp_path))
    assert table["seed"].to_list() == [1, 1, 3, 3, 4, 4]
    assert [name[-1] for name in table["machine"]] == [*"bbaabb"]
    assert table["elo"].to_list() == [1, 101, 3, 103, 4, 104]
    assert table.attrs["provenance"]["seed"] == "1, 3, 4"


def test_curves_of_unlike_runs_are_refused_by_what_differs(tmp_path):
    first = run_of(tmp_path / "a", 0)
    rating.record_curves([first], tmp_path)
    before = (tmp_path / rating.CURVES).read_bytes()
    longer = run_of(tmp_path / "b", 1, **{"setting games": 80})
    for runs, named in (
        ([first, longer], "games 80, not 60"),
        ([longer], "games 80, not 60"),
        ([first, run_of(tmp_path / "d", 0)], "d has seed 0"),
        ([first, tmp_path / "none"], "none"),
    ):
        with pytest.raises(ConfigurationError, match=named):
            rating.record_curves(runs, tmp_path)
    assert (tmp_path / rating.CURVES).read_bytes() == before


def test_matches_of_a_quarter_of_an_hour_count_together():
    rows = [(0, 0), (400, 0.2), (899, 0.4), (901, 0.5), (1700, 0.7), (3000, 1), (3601, 0.9)]
    evaluations = pd.DataFrame(rows, columns=["seconds", "stockfish"])
    table = rating.by_quarter(evaluations, 60).set_index("end")
    assert table["score"].round(3).to_dict() == {15: 0.3, 30: 0.6, 60: 0.95}
    assert table["games"].to_dict() == {15: 120, 30: 120, 60: 120}
    interval = table.loc[15, ["low", "high"]].tolist()
    assert interval == pytest.approx(Evaluation(36, 0, 84).interval())
