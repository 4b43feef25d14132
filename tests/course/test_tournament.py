"""A tournament judges all entries, and its page has a result for each."""

import io
import json
import re

import chess.pgn
import pytest
import torch

from rungs._src.core.folder import locked
from rungs._src.selfplay import agent
from rungs._src.train.network import PolicyValueNetwork
from rungs.errors import ConfigurationError
from rungs_course import cli, tournament
from rungs_course.labs.lab import find
from rungs_course.labs.sandbox import Sandbox
from rungs_course.labs.verdict import Verdict
from tests.saved import rows_of

FACTS = {"kind": "self-play", "seconds": "600", "cores": "2"}


def enter(folder, name, seed=0, **facts):
    """Enters a tiny agent, which has learnt nothing; a fact of None is left out of its file."""
    torch.manual_seed(seed)
    facts = {key: value for key, value in (FACTS | facts).items() if value is not None}
    folder.mkdir(parents=True, exist_ok=True)
    agent.save(agent.freeze(PolicyValueNetwork(16, 1, 8), name, facts), folder / f"{name}.pt")


@pytest.fixture
def quick(monkeypatch):
    """Short games of agents that do not search; a step's text is its outcome."""
    costs = {"yours": 1.0, "solution": 0.5, "bound": 0.25}

    def assess(name, code, launcher):
        lab = find(name)
        if code == "wrong":
            return Verdict(lab, problem="<b>it fails</b>")
        by_version = costs | {"baseline": float(code)}
        return Verdict(lab, costs={name: [cost] * 11 for name, cost in by_version.items()})

    monkeypatch.setattr(tournament, "assess", assess)
    monkeypatch.setattr(tournament, "SIMULATIONS", 0)
    monkeypatch.setattr(tournament, "MAX_PLIES", 24)
    monkeypatch.setattr(Sandbox, "problem", lambda self: None)


def games_in(path):
    text = io.StringIO(path.read_text())
    return list(iter(lambda: chess.pgn.read_game(text), None))


def test_agents_play_each_other_and_random_play(quick, tmp_path):
    names = ["a", "<img src=x>"]
    for seed, name in enumerate(names):
        enter(tmp_path / "agents", name, seed)
    out = tmp_path / "out"
    assert cli.main(["tournament", str(tmp_path), "--out", str(out), "--games", "2"]) == 0
    rows = rows_of(out / "agents.csv")
    points = dict.fromkeys([*names, "random"], 0)
    assert {row["player"] for row in rows} == {*points}
    assert {row["games"] for row in rows} == {"4"}
    for row in rows:
        assert float(row["low"]) <= float(row["elo"]) <= float(row["high"])
    (random,) = (row for row in rows if row["player"] == "random")
    assert float(random["elo"]) == 0

    games = games_in(out / "games.pgn")
    values = {"1-0": (1, 0), "0-1": (0, 1), "1/2-1/2": (0.5, 0.5)}
    for game in games:
        white, black = values[game.headers["Result"]]
        points[game.headers["White"]] += white
        points[game.headers["Black"]] += black
    assert len(games) == 2 * 3
    assert points == {row["player"]: pytest.approx(4 * float(row["score"])) for row in rows}
    plies = [len([*game.mainline_moves()]) for game in games]
    assert max(plies) <= tournament.MAX_PLIES

    page = (out / "index.html").read_text()
    (watched,) = re.findall(r'<script type="application/json" id="games">(.*?)</script>', page)
    assert [len(game["fens"]) for game in json.loads(watched)] == [count + 1 for count in plies]
    assert "<img" not in page


REFUSED = {
    "slow": ({"seconds": "601"}, "seconds=601"),
    "wide": ({"cores": "3"}, "cores=3"),
    "silent": ({"seconds": None}, "seconds"),
    "none": ({"seconds": "nan"}, "seconds=nan"),
    "random": ({}, "random"),
}


def test_an_agent_against_the_rules_is_refused_and_the_others_play(quick, tmp_path):
    folder = tmp_path / "agents"
    enter(folder, "fair")
    for name, (facts, _) in REFUSED.items():
        enter(folder, name, **facts)
    (folder / "broken.pt").write_bytes(b"no agent")
    (folder / "gone.pt").symlink_to("nowhere")
    tournament.hold(tmp_path, tmp_path / "out", games=2)
    rows = rows_of(tmp_path / "out" / "agents.csv")
    assert {row["player"] for row in rows if row["elo"]} == {"fair", "random"}
    reasons = {row["player"]: row["why"] for row in rows if not row["elo"]}
    expected = {name: named for name, (_, named) in REFUSED.items()}
    expected |= {"broken": "broken.pt", "gone": "gone.pt"}
    assert reasons.keys() == expected.keys()
    assert all(named in reasons[name] for name, named in expected.items())


def test_steps_are_ranked_by_what_they_gain(quick, tmp_path):
    folder = tmp_path / "steps"
    folder.mkdir()
    for name, text in (("slow", "2"), ("fast", "8"), ("bad", "wrong"), ("=cmd()", "4")):
        (folder / f"{name}.hpp").write_text(text)
    (folder / "binary.hpp").write_bytes(b"\xff\xfe")
    (folder / "gone.hpp").symlink_to("nowhere")
    page = tournament.hold(tmp_path, tmp_path / "out")
    rows = rows_of(tmp_path / "out" / "steps.csv")
    assert [row["entry"] for row in rows[:3]] == ["fast", "'=cmd()", "slow"]
    assert [float(row["gain"]) for row in rows[:3]] == [8, 4, 2]
    states = {row["entry"]: row["state"] for row in rows[3:]}
    assert states == {"bad": "wrong", "binary": "refused", "gone": "refused"}
    assert "8× (8 to 8)</td><td>25%" in page.read_text()
    assert "<b>it fails" not in page.read_text()


def test_a_games_names_are_those_of_files_whatever_they_are_called(quick, tmp_path):
    for name in ("a\nb", 'c"d', "e\\"):
        enter(tmp_path / "agents", name)
    tournament.hold(tmp_path, tmp_path / "out", games=2)
    names = {row["player"] for row in rows_of(tmp_path / "out" / "agents.csv")}
    games = games_in(tmp_path / "out" / "games.pgn")
    assert not any(game.errors for game in games)
    headers = [{game.headers["White"], game.headers["Black"]} for game in games]
    escaped = {re.sub(r'(["\\])', r"\\\1", name) for name in names}
    assert set.union(*headers) == escaped
    assert len(names) == 4
    assert all(len(pair) == 2 for pair in headers)


def test_only_a_tournaments_own_files_are_replaced(quick, tmp_path):
    enter(tmp_path / "agents", "a")
    out = tmp_path / "out"
    out.mkdir()
    for name in ("index.html", "games.pgn", "steps.csv", "agents.csv"):
        (out / name).write_text("precious")
        with pytest.raises(ConfigurationError, match=re.escape(str(out / name))):
            tournament.hold(tmp_path, out, games=2)
        assert (out / name).read_text() == "precious"
        assert [path.name for path in out.iterdir()] == [name]
        (out / name).unlink()
    (out / "notes").write_text("precious")
    for _ in range(2):
        tournament.hold(tmp_path, out, games=2)
    assert (out / "notes").read_text() == "precious"
    with locked(out), pytest.raises(ConfigurationError, match=re.escape(str(out))):
        tournament.hold(tmp_path, out, games=2)


def test_a_folder_without_entries_and_an_odd_number_of_games_are_refused(quick, tmp_path):
    with pytest.raises(ConfigurationError, match=re.escape(str(tmp_path))):
        tournament.hold(tmp_path, tmp_path / "out")
    enter(tmp_path / "agents", "a")
    with pytest.raises(ConfigurationError, match="games=3"):
        tournament.hold(tmp_path, tmp_path / "out", games=3)
    assert not (tmp_path / "out").exists()


@pytest.mark.release
@pytest.mark.system
@pytest.mark.needs("bwrap")
def test_real_steps_are_judged_and_real_searches_play(tmp_path, monkeypatch):
    monkeypatch.setattr(tournament, "SIMULATIONS", 4)
    (tmp_path / "steps").mkdir()
    lab = find("open")
    for name in ("solution", "baseline"):
        (tmp_path / "steps" / f"{name}.hpp").write_text(lab.code(name))
    (tmp_path / "steps" / "stub.hpp").write_text("inline void step() {}")
    for seed, name in enumerate("ab"):
        enter(tmp_path / "agents", name, seed)
    tournament.hold(tmp_path, tmp_path / "out", games=2)
    states = {row["entry"]: row["state"] for row in rows_of(tmp_path / "out" / "steps.csv")}
    assert states == {"solution": "right", "baseline": "right", "stub": "wrong"}
    assert len(rows_of(tmp_path / "out" / "agents.csv")) == 3
