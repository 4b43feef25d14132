"""A tournament judges all entries, and shows what became of each."""

import csv
import dataclasses
import io
import json
import re

import chess.pgn
import pytest
import torch

from rungs._src.selfplay import agent
from rungs._src.train.cpp_network import CppNetwork
from rungs._src.train.evaluate import NetworkEvaluator
from rungs._src.train.network import PolicyValueNetwork
from rungs.errors import ConfigurationError
from rungs_course import agents, cli, tournament
from rungs_course.labs.lab import find
from rungs_course.labs.sandbox import Sandbox
from rungs_course.labs.verdict import Verdict

FACTS = {"kind": "self-play", "seconds": "600", "cores": "2"}
PROBLEM = Sandbox().problem()


def enter(folder, name, seed=0, **facts):
    """Makes a tiny agent, which has learnt nothing, and enters it."""
    torch.manual_seed(seed)
    network = PolicyValueNetwork(16, 1, 8)
    folder.mkdir(parents=True, exist_ok=True)
    made = agent.freeze(network, name, FACTS | facts)
    provenance = {key: value for key, value in made.provenance.items() if value != "None"}
    agent.save(dataclasses.replace(made, provenance=provenance), folder / f"{name}.pt")


@pytest.fixture
def quick(monkeypatch):
    """Tournaments in which agents do not search, and a step's text says what becomes of it."""
    costs = {"yours": 1.0, "solution": 0.5, "bound": 0.25}

    def assess(name, code, place):
        lab = find(name)
        if code == "wrong":
            return Verdict(lab, problem="<b>it fails</b>")
        each = costs | {"baseline": float(code)}
        return Verdict(lab, costs={which: [cost] * 11 for which, cost in each.items()})

    monkeypatch.setattr(tournament, "assess", assess)
    monkeypatch.setattr(tournament, "SIMULATIONS", 0)
    monkeypatch.setattr(Sandbox, "problem", lambda self: None)


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_six_agents_play_each_other_and_random_play(quick, tmp_path):
    names = [*"abcde", "<img src=x>"]
    for seed, name in enumerate(names):
        enter(tmp_path / "agents", name, seed)
    out = tmp_path / "out"
    assert cli.main(["tournament", str(tmp_path), "--out", str(out), "--games", "2"]) == 0
    rows = table(out / "agents.csv")
    assert {row["player"] for row in rows} == {*names, "random"}
    assert {row["games"] for row in rows} == {"12"}
    for row in rows:
        assert float(row["low"]) <= float(row["elo"]) <= float(row["high"])
    (random,) = (row for row in rows if row["player"] == "random")
    assert float(random["elo"]) == 0

    text, points = (
        io.StringIO((out / "games.pgn").read_text()),
        dict.fromkeys([*names, "random"], 0),
    )
    values, count = {"1-0": (1, 0), "0-1": (0, 1), "1/2-1/2": (0.5, 0.5)}, 0
    while game := chess.pgn.read_game(text):
        white, black = values[game.headers["Result"]]
        points[game.headers["White"]] += white
        points[game.headers["Black"]] += black
        count += 1
    assert count == 2 * 21
    assert points == {row["player"]: pytest.approx(12 * float(row["score"])) for row in rows}

    page = (out / "index.html").read_text()
    (shown,) = re.findall(r'<script type="application/json" id="games">(.*?)</script>', page)
    watched = json.loads(shown)
    assert len(watched) == count
    assert all(len(game["fens"]) > 5 for game in watched)
    assert "<img" not in page


def test_an_agent_against_the_rules_is_refused_and_the_others_play(quick, tmp_path):
    folder = tmp_path / "agents"
    enter(folder, "fair")
    enter(folder, "slow", seconds="601")
    enter(folder, "wide", cores="3")
    enter(folder, "silent", seconds=None)
    enter(folder, "none", seconds="nan")
    enter(folder, "random")
    (folder / "broken.pt").write_bytes(b"no agent")
    (folder / "gone.pt").symlink_to("nowhere")
    out = tmp_path / "out"
    tournament.hold(tmp_path, out, games=2)
    rows = table(out / "agents.csv")
    assert {row["player"] for row in rows if row["elo"]} == {"fair", "random"}
    whys = {row["player"]: row["why"] for row in rows if not row["elo"]}
    assert "has that name" in whys["random"]
    assert "seconds=601, more than 600" in whys["slow"]
    assert "cores=3, more than 2" in whys["wide"]
    assert "its seconds" in whys["silent"]
    assert "seconds=nan" in whys["none"]
    assert "broken.pt" in whys["broken"]
    assert "gone.pt" in whys["gone"]


def test_a_network_of_the_usual_size_is_evaluated_in_cpp_and_any_other_by_pytorch():
    usual = agents.evaluator(PolicyValueNetwork())
    assert isinstance(usual.__self__, CppNetwork)
    assert isinstance(agents.evaluator(PolicyValueNetwork(16, 1, 8)), NetworkEvaluator)


def test_no_game_is_longer_than_the_rules_say(quick, tmp_path):
    for seed, name in enumerate("ab"):
        enter(tmp_path / "agents", name, seed)
    tournament.hold(tmp_path, tmp_path / "out", games=2)
    text = io.StringIO((tmp_path / "out" / "games.pgn").read_text())
    lengths = []
    while game := chess.pgn.read_game(text):
        lengths.append(game.end().ply())
    assert len(lengths) == 6
    assert max(lengths) <= tournament.MAX_PLIES + 4  # random plies come before


def test_steps_are_ranked_by_what_they_gain(quick, tmp_path):
    folder = tmp_path / "steps"
    folder.mkdir()
    for name, text in (("slow", "2"), ("fast", "8"), ("bad", "wrong"), ("=cmd()", "4")):
        (folder / f"{name}.hpp").write_text(text)
    (folder / "binary.hpp").write_bytes(b"\xff\xfe")
    (folder / "gone.hpp").symlink_to("nowhere")
    page = tournament.hold(tmp_path, tmp_path / "out")
    rows = table(tmp_path / "out" / "steps.csv")
    assert [row["entry"] for row in rows[:3]] == ["fast", "'=cmd()", "slow"]
    assert [float(row["gain"]) for row in rows[:3]] == [8, 4, 2]
    states = {row["entry"]: row["state"] for row in rows[3:]}
    assert states == {"bad": "wrong", "binary": "refused", "gone": "refused"}
    assert "8× (8 to 8)</td><td>25%" in page.read_text()
    assert "<b>it fails" not in page.read_text()


def test_a_folder_without_entries_and_an_odd_number_of_games_are_refused(quick, tmp_path):
    with pytest.raises(ConfigurationError, match=re.escape(str(tmp_path))):
        tournament.hold(tmp_path, tmp_path / "out")
    enter(tmp_path / "agents", "a")
    with pytest.raises(ConfigurationError, match="games=3"):
        tournament.hold(tmp_path, tmp_path / "out", games=3)
    assert not (tmp_path / "out").exists()


@pytest.mark.system
@pytest.mark.skipif(bool(PROBLEM), reason=str(PROBLEM))
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
    states = {row["entry"]: row["state"] for row in table(tmp_path / "out" / "steps.csv")}
    assert states == {"solution": "right", "baseline": "right", "stub": "wrong"}
    assert len(table(tmp_path / "out" / "agents.csv")) == 3
