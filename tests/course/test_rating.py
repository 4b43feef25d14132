"""Ratings and tests of agents count all games by pairs, and say scale, control and opponents."""

import io
import sys

import chess.pgn
import pandas as pd
import pytest
import torch

from rungs._src.selfplay import agent as files
from rungs._src.selfplay import matches
from rungs._src.selfplay.sprt import Sprt
from rungs._src.train.evaluate import Evaluation
from rungs._src.train.network import PolicyValueNetwork
from rungs.errors import ConfigurationError, EngineError
from rungs_course import cli, rating, uci_games
from rungs_course.measure import results
from rungs_course.paths import ROOT
from rungs_course.uci_games import Contestant, Control
from tests.saved import contents

FIRST_MOVER = (sys.executable, str(ROOT / "tests" / "library" / "chess" / "uci.py"))


@pytest.fixture(autouse=True, scope="module")
def short():
    """Games are adjudicated early."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(matches, "MAX_PLIES", 24)
        play = matches.play
        patched.setattr(matches, "play", lambda *args, **kw: play(*args, **kw, max_plies=24))
        yield


def save_agent(path, seed, **facts):
    """Writes a tiny agent, which has learnt nothing."""
    torch.manual_seed(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.save(files.freeze(PolicyValueNetwork(16, 1, 8), f"agent {seed}", facts), path)
    return path


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Folders of two agents."""
    folder = tmp_path_factory.mktemp("agents")
    return [save_agent(folder / str(seed), seed) for seed in (7, 8)]


@pytest.fixture
def levels(tmp_path, monkeypatch):
    """Stockfish is an engine that plays the first legal move; returns the options it was given."""
    program = tmp_path / "stockfish"
    program.write_text(f"#!/bin/sh\nexec {' '.join(FIRST_MOVER)}\n")
    program.chmod(0o755)
    monkeypatch.setattr(rating, "find_program", lambda name: str(program))
    monkeypatch.setattr(rating, "SKILL_LEVELS", {0: 1320.1, 3: 1742.3})
    monkeypatch.setattr(rating, "usable_cores", lambda: 1)
    monkeypatch.setenv("RUNGS_TEST", str(tmp_path))
    return lambda: (tmp_path / "heard").read_text()


def check_tables(out):
    """Tables are what the games say; returns the table of matches."""
    played = results.load(out / "matches.csv")
    text = io.StringIO((out / "games.pgn").read_text())
    games = [game.headers for game in iter(lambda: chess.pgn.read_game(text), None)]
    assert len(games) == played["games"].sum()
    points = {"1-0": 1, "1/2-1/2": 0.5, "0-1": 0}
    for row in played.itertuples():
        both = {row.player, row.opponent}
        mine = [game for game in games if {game["White"], game["Black"]} == both]
        scored = [abs((game["White"] != row.player) - points[game["Result"]]) for game in mine]
        assert [scored.count(score) for score in (1, 0.5, 0)] == [row.wins, row.draws, row.losses]
        pairs = [sum(scored[i : i + 2]) for i in range(0, len(scored), 2)]
        assert list(map(int, row.pairs.split())) == [pairs.count(n / 2) for n in range(5)]
        ended = [game["Termination"] for game in mine]
        assert ended.count("adjudication") == row.adjudicated
        assert row.score == pytest.approx(sum(scored) / len(mine))
    return played


def test_agents_play_each_other_side_by_side(two, tmp_path):
    lines, settings = [], {"against": two[1], "simulations": 2, "games": 6}
    table = rating.rate(two[0], tmp_path, lines.append, **settings)
    (row,) = check_tables(tmp_path).itertuples()
    names = [f"agent {seed}, Gumbel, 2 simulations" for seed in (7, 8)]
    assert [row.player, row.opponent] == names
    assert table.set_index("player").loc[names[1], "elo"] == 0
    rated = table.set_index("player").loc[names[0]]
    assert [row.elo, row.low, row.high] == pytest.approx(rated[["elo", "low", "high"]].to_list())
    assert f"scale: above {names[1]}" in lines[-1]
    rating.rate(two[0], tmp_path, **settings | {"policy": "puct"})
    (row,) = check_tables(tmp_path).itertuples()
    assert row.player == "agent 7, PUCT, 2 simulations"


def test_a_match_ends_when_it_is_decided(two, tmp_path, monkeypatch):
    monkeypatch.setattr(rating, "_BATCH", 10)
    sprt = Sprt(300, 600)  # it is 0, or near
    settings = {"against": two[0], "simulations": 0, "games": 200, "sprt": sprt}
    rating.rate(two[0], tmp_path, **settings)
    (row,) = check_tables(tmp_path).itertuples()
    assert row.games < 200
    assert row.accepted == 300
    assert row.opponent.startswith(str(two[0]))  # the same agent again


@pytest.mark.system
def test_a_rating_is_on_the_scale_of_stockfishs_levels(two, tmp_path, levels):
    lines, out = [], tmp_path / "out"
    settings = {"control": Control(1, 0.01), "simulations": 4, "policy": "puct", "games": 2}
    table = rating.rate(two[0], out, lines.append, **settings).set_index("player")
    played = check_tables(out)
    assert played["player"].unique().tolist() == ["agent 7, PUCT, 4 simulations at most"]
    names = [f"First Mover 1, Skill Level {level}" for level in (0, 3)]
    assert played["opponent"].to_list() == names
    assert table.loc[names, "elo"].to_list() == [1320.1, 1742.3]
    assert "setoption name Skill Level value 3" in levels()
    assert "wtime 1000" in levels()
    facts = results.load(out / "ratings.csv").attrs["provenance"]
    assert facts["control"] == "1 s + 0.01 s"
    for said in ("1 s + 0.01 s", "CCRL", "pull/4341", "95 %", *names):
        assert said in lines[-1]
    assert not played[["lost on time", "won on time"]].any(axis=None)


def test_an_engine_plays_by_the_clock_and_both_colours(tmp_path):
    first, second = (Contestant(name, FIRST_MOVER) for name in "ab")
    pairs = list(uci_games.play(first, second, Control(9, 0), pairs=3, seed=1, at_once=2))
    for number, (game, other) in enumerate(pairs):
        assert game.board.move_stack == other.board.move_stack  # by the same player
        start = uci_games.opening(1, number).move_stack
        assert game.board.move_stack[: len(start)] == start
        assert (game.opening, game.points) == (number, other.points)
        assert (game.white, game.black) == (other.black, other.white) == ("a", "b")
    assert len({game.board.fen() for game, _ in pairs}) == 3


def test_who_runs_out_of_time_has_lost():
    quick, late = Contestant("quick", FIRST_MOVER), Contestant("late", (*FIRST_MOVER, "late", "0"))
    ((game, other),) = uci_games.play(quick, late, Control(0.4, 0), pairs=1, seed=0, at_once=1)
    assert game.termination == other.termination == "time forfeit"
    assert (game.points, other.points) == (1, 0)


@pytest.mark.parametrize("failure", ["crash", "illegal"])
def test_an_engine_that_fails_is_named(failure):
    engines = Contestant("a", FIRST_MOVER), Contestant("b", (*FIRST_MOVER, failure, "2"))
    with pytest.raises(EngineError, match="engine b"):
        list(uci_games.play(*engines, Control(9, 0), pairs=1, seed=0, at_once=1))


def test_only_a_ratings_own_files_are_replaced(two, tmp_path):
    settings = {"against": two[1], "simulations": 0, "games": 2}
    for name in ("matches.csv", "ratings.csv", "games.pgn"):
        (tmp_path / name).write_text("precious")
        with pytest.raises(ConfigurationError, match=name):
            rating.rate(two[0], tmp_path, **settings)
        assert contents(tmp_path) == {name: b"precious"}
        (tmp_path / name).unlink()


def test_wrong_use_is_named(two, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(rating, "find_program", lambda name: None)
    out = tmp_path / "out"
    for arguments, named in (
        (["--policy", "uct"], "uct"),
        (["--control", "8"], "8+0.08"),
        (["--sprt", "5"], "--sprt"),
        (["--sprt", "0,5"], "against"),
        (["--policy", "gumbel"], "gumbel"),
        (["--simulations", "0"], "simulations=0"),
        (["--games", "3"], "games=3"),
        (["--against", str(tmp_path / "none.pt")], "none.pt"),
        ([], "apt-get install stockfish"),
    ):
        assert cli.main(["rate", str(two[0]), "--out", str(out), *arguments]) == 2
        assert named in capsys.readouterr().err
    assert not out.exists()


def run_of(folder, seed, **changed):
    """Writes the files of a run of self-play with two evaluations; only its last agent is read."""
    facts = {"setting seed": seed, "setting games": 60, "machine": "a", "cores": 2} | changed
    save_agent(folder / files.POOL / "000020", seed, **facts)
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
