"""A tournament judges all entries, and its page has a result for each."""

import io
import json
import re

import chess.pgn
import pytest
import torch

from rungs._src.selfplay import agent
from rungs._src.train.network import PolicyValueNetwork
from rungs.errors import ConfigurationError
from rungs_course import cli, tournament
from rungs_course.labs.lab import find
from rungs_course.labs.sandbox import Sandbox
from rungs_course.labs.verdict import Verdict
from tests.saved import contents, rows_of

FACTS = {"kind": "self-play", "seconds": "600", "cores": "2"}


def enter(folder, name, seed=0, **facts):
    """Enters a tiny agent, which has learnt nothing; a fact of None is left out of its file."""
    torch.manual_seed(seed)
    facts = {key: value for key, value in (FACTS | facts).items() if value is not None}
    folder.mkdir(parents=True, exist_ok=True)
    agent.save(agent.freeze(PolicyValueNetwork(16, 1, 8), name, facts), folder / "saved")
    (folder / "saved" / agent.WEIGHTS).rename(folder / f"{name}.pt")


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


def test_agents_play_each_other_and_random_play(quick, tmp_path):
    for seed, name in enumerate(['a\n"b\\', "<img src=x>"]):
        enter(tmp_path / "agents", name, seed)
    out = tmp_path / "out"
    assert cli.main(["tournament", str(tmp_path), "--out", str(out), "--games", "2"]) == 0
    rows = rows_of(out / "agents.csv")
    assert {row["games"] for row in rows} == {"4"}
    for row in rows:
        assert float(row["low"]) <= float(row["elo"]) <= float(row["high"])
        assert row["player"] != "random" or float(row["elo"]) == 0

    text = io.StringIO((out / "games.pgn").read_text())
    games = list(iter(lambda: chess.pgn.read_game(text), None))
    assert not any(game.errors for game in games)
    assert len(games) == 2 * 3
    names = {re.sub(r"\\(.)", r"\1", game.headers["White"]) for game in games}
    assert names == {row["player"] for row in rows}
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
    assert re.search(r"8× \(8 to 8\)</td>\s*<td>25%", page.read_text())
    assert "<b>it fails" not in page.read_text()


def test_only_a_tournaments_own_files_are_replaced_and_wrong_use_is_named(quick, tmp_path):
    enter(tmp_path / "agents", "a")
    out = tmp_path / "out"
    out.mkdir()
    for name in ("index.html", "games.pgn", "steps.csv", "agents.csv"):
        (out / name).write_text("precious")
        with pytest.raises(ConfigurationError, match=re.escape(str(out / name))):
            tournament.hold(tmp_path, out, games=2)
        assert contents(out) == {name: b"precious"}
        (out / name).unlink()
    for _ in range(2):
        tournament.hold(tmp_path, out, games=2)
    with pytest.raises(ConfigurationError, match="games=3"):
        tournament.hold(tmp_path, out, games=3)
    with pytest.raises(ConfigurationError, match=re.escape(str(out))):
        tournament.hold(out, tmp_path / "nothing entered")
