"""A rating counts what was played, says how the agent searched, and names what is not here."""

import io

import chess.pgn
import pandas as pd
import pytest
import torch

from rungs._src.selfplay import agent as files
from rungs._src.selfplay import elo, matches
from rungs._src.train.evaluate import Evaluation
from rungs._src.train.network import PolicyValueNetwork
from rungs.chess import find_program
from rungs.errors import ConfigurationError
from rungs_course import cli, rating
from rungs_course.measure import results

PLIES = 40  # after which games are adjudicated here


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Short games, and opponents that search little."""
    play = matches.play
    monkeypatch.setattr(
        matches, "play", lambda *players, **how: play(*players, **how, max_plies=PLIES)
    )
    monkeypatch.setattr(rating, "SIMULATIONS", 2)


@pytest.fixture
def without_stockfish(monkeypatch):
    monkeypatch.setattr(rating, "find_program", lambda name: None)


def saved(path, seed):
    """Writes a tiny agent, which has learnt nothing."""
    torch.manual_seed(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.save(files.freeze(PolicyValueNetwork(16, 1, 8), f"agent {seed}", {}), path)
    return path


@pytest.fixture
def root(tmp_path):
    """A source tree with two recorded agents."""
    for seed in (0, 1):
        saved(tmp_path / "data" / "agents" / f"{seed}.pt", seed)
    return tmp_path


def rated(root, path, **how):
    lines = []
    table = rating.rate(path, root / "out", lines.append, games=4, root=root, **how)
    return table, results.load(root / "out" / "matches.csv"), lines


def test_it_plays_all_opponents_by_each_rule_and_both_rules_each_other(root, without_stockfish):
    path = saved(root / "mine.pt", 7)
    table, played, lines = rated(root, path, simulations=[4, 0], policies=["gumbel", "puct"])
    two = [f"recorded agent {n}, Gumbel, 2 simulations" for n in (0, 1)]
    mine = [
        f"agent 7, {how}" for how in ("no search", "Gumbel, 4 simulations", "PUCT, 4 simulations")
    ]
    expected = [(two[0], "random"), (two[1], two[0])]
    expected += [(player, other) for player in mine for other in ("random", *two)]
    assert list(zip(played["player"], played["opponent"], strict=True)) == [
        *expected,
        (mine[1], mine[2]),
    ]
    assert set(table["player"]) == {"random", *two, *mine}
    for player, low, elo_, high in table[["player", "low", "elo", "high"]].itertuples(index=False):
        assert low <= elo_ <= high
        assert any(
            line.startswith(f"{player}: Elo {elo_:.0f} ({low:.0f} to {high:.0f})") for line in lines
        )
    searched = played[played["player"].str.startswith("agent 7, PUCT")]
    assert set(searched["policy"]) == {"puct"}
    assert set(searched["simulations"]) == {4}
    assert played["simulations"][:2].isna().all()  # of opponents' own matches
    assert "after 400 plies" in played.attrs["provenance"]["rule"]


def test_its_tables_are_what_the_games_say(root, without_stockfish):
    table, played, _ = rated(root, saved(root / "mine.pt", 7), policies=["puct"], simulations=[3])
    text = io.StringIO((root / "out" / "games.pgn").read_text())
    games = list(iter(lambda: chess.pgn.read_game(text), None))
    assert len(games) == played["games"].sum() == 4 * len(played)
    points = {"1-0": 1, "1/2-1/2": 0.5, "0-1": 0}
    results_of = {}
    for row in played.itertuples():
        both = {row.player, row.opponent}
        mine = [game for game in games if {game.headers["White"], game.headers["Black"]} == both]
        scored = [
            abs((game.headers["White"] != row.player) - points[game.headers["Result"]])
            for game in mine
        ]
        assert [scored.count(each) for each in (1, 0.5, 0)] == [row.wins, row.draws, row.losses]
        assert sum(game.headers["White"] == row.player for game in mine) == 2
        ended = [game.headers["Termination"] for game in mine]
        assert ended.count("adjudication") == row.adjudicated
        assert row.score == sum(scored) / 4
        results_of[row.player, row.opponent] = sum(scored), 4 - sum(scored)
    assert played["adjudicated"].sum() > 0
    expected = elo.rate(results_of, anchor="random")
    assert list(table["player"]) == list(expected["player"])
    assert list(table["elo"]) == list(expected["elo"])


def test_an_agent_does_not_play_itself(root, without_stockfish):
    _, played, _ = rated(root, root / "data" / "agents" / "1.pt", simulations=[0])
    assert not any("recorded agent 1" in name for name in played["opponent"])
    assert any("recorded agent 0" in name for name in played["opponent"])


def test_it_says_by_name_that_stockfish_is_missing(root, without_stockfish):
    _, _, lines = rated(root, saved(root / "mine.pt", 7), simulations=[0])
    (line,) = [line for line in lines if "Stockfish" in line]
    assert line.startswith("Stockfish is not installed (apt-get install stockfish): the scale is ")
    assert "random and recorded agent 0, Gumbel, 2 simulations and recorded agent 1" in line


@pytest.mark.skipif(not find_program("stockfish"), reason="Stockfish is not installed")
def test_stockfish_plays_at_three_strengths(root):
    for path in (root / "data" / "agents").iterdir():
        path.unlink()
    table, played, lines = rated(root, saved(root / "mine.pt", 7), simulations=[0])
    assert not any("not installed" in line for line in lines)
    assert played.attrs["provenance"]["engine"].startswith("Stockfish ")
    assert set(table["player"]) == {"random", "agent 7, no search", *rating.ENGINES}
    rows = played[played["player"] == "agent 7, no search"].set_index("opponent")
    assert rows.loc[list(rating.ENGINES), "losses"].sum() > 6  # of 12 games


@pytest.mark.parametrize(
    ("how", "named"),
    [
        (["--policy", "uct"], "policy='uct' is not one of 'gumbel', 'puct'"),
        (["--simulations", "-1"], "simulations=-1"),
        (["--games", "3"], "games=3 is not even"),
    ],
)
def test_wrong_use_is_named(root, without_stockfish, how, named, capsys):
    mine = str(saved(root / "mine.pt", 7))
    assert cli.main(["rate", mine, "--out", str(root / "out"), *how]) == 2
    assert named in capsys.readouterr().err
    assert not (root / "out").exists()


def test_what_is_no_agent_is_named(root):
    with pytest.raises(ConfigurationError, match=r"none\.pt"):
        rating.rate(root / "none.pt", root / "out", root=root)
    with pytest.raises(ConfigurationError, match="at least one policy"):
        rating.rate(saved(root / "mine.pt", 7), root / "out", policies=[], root=root)


def run_of(folder, seed, **changed):
    """Writes what a run of self-play leaves of two evaluations."""
    facts = {"setting seed": seed, "setting games": 60, "machine": "a", "cores": 2} | changed
    agent = files.freeze(PolicyValueNetwork(16, 1, 8), "it", facts)
    for update in (0, 20):
        path = folder / files.POOL / f"{update:06}.pt"
        path.parent.mkdir(parents=True, exist_ok=True)
        files.save(agent, path)
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
    for runs, what in (
        ([first, longer], "setting games 80, not 60"),
        ([longer], "games 80, not 60; remove that file"),
        ([first, run_of(tmp_path / "d", 0)], "d has seed 0, as another run has"),
        ([first, tmp_path / "none"], "none holds no evaluations"),
    ):
        with pytest.raises(ConfigurationError, match=what):
            rating.record_curves(runs, tmp_path)
    assert (tmp_path / rating.CURVES).read_bytes() == before


def test_matches_of_a_quarter_of_an_hour_count_together():
    evaluations = pd.DataFrame(
        {
            "seconds": [0, 400, 899, 901, 1700, 3000, 3601],
            "stockfish": [0, 0.2, 0.4, 0.5, 0.7, 1, 0.9],
        }
    )
    table = rating.by_quarter(evaluations, 60).set_index("end")
    assert table["score"].round(3).to_dict() == {15: 0.3, 30: 0.6, 60: 0.95}
    assert table["games"].to_dict() == {15: 120, 30: 120, 60: 120}
    interval = table.loc[15, ["low", "high"]].tolist()
    assert interval == pytest.approx(Evaluation(36, 0, 84).interval())
