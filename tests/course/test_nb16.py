"""Notebook 16: races of searches, a tree as it grows, and agents that play on."""

import chess
import pandas as pd
import pytest

from rungs._src.search.result import Result
from rungs._src.search.search import uniform
from rungs._src.selfplay.players import NetworkPlayer
from rungs.errors import MismatchError
from rungs_course import agents
from rungs_course.notebooks import nb16_search as nb16
from tests.library.search.made_up import evaluate

MATE_IN_TWO = "7k/8/5K2/8/8/8/8/R7 w - - 0 1"
SIMULATIONS = 700
SMALL = {"seed": 0, "simulations": 4, "repeats": 2, "warmup": 0}


def test_ways_that_find_something_else_are_not_timed(monkeypatch):
    actions = iter(range(9))

    def run(search, evaluate):
        result = Result.empty(2)
        result.chosen[:] = next(actions)
        return result

    monkeypatch.setattr(nb16.Search, "run", run)
    ways = {name: nb16.WAYS[name] for name in ("C++", "threads")}
    with pytest.raises(MismatchError, match="threads: chosen"):
        nb16.race(ways, {}, [], **SMALL)


def test_an_evaluator_is_given_the_same_leaves_alone():
    batch_sizes = []

    def counted(observation, actions, counts):
        batch_sizes.append(len(counts))
        return evaluate(observation, actions, counts)

    times = nb16.race_network(counted, 3, **SMALL)
    assert set(times.racer) == {"one batch", "two batches", "the evaluator alone"}
    # Once to note the leaves, then three racers, twice: each has the root's and four more.
    assert sum(batch_sizes) == 7 * 3 * 5


@pytest.fixture(scope="module")
def tables():
    return nb16.grow(MATE_IN_TWO, uniform, SIMULATIONS)


class TestGrowth:
    def test_visits_grow_to_the_number_of_simulations(self, tables):
        moves, _ = tables
        for simulation, rows in moves.groupby("simulation"):
            rows = rows.drop_duplicates("move", keep="last")
            assert rows["visits"].sum() == simulation
            assert rows["prior"].sum() == pytest.approx(1)
        assert moves["simulation"].max() == SIMULATIONS
        assert moves["simulation"].is_monotonic_increasing

    def test_nodes_hang_together(self, tables):
        _, nodes = tables
        assert nodes["parent"].iloc[0] == -1
        below = nodes.iloc[1:]
        assert (below["parent"] < below.index).all()
        assert (below["depth"] == nodes["depth"].iloc[below["parent"]].to_numpy() + 1).all()
        assert nodes["value"].between(-1, 1).all()

    def test_the_mate_is_a_win_for_who_is_to_move_at_the_root(self, tables):
        moves, nodes = tables
        mates = nodes[nodes["end"] == "checkmate"]
        assert len(mates)
        assert (mates["value"] == 1).all()
        assert mates["move"].str.endswith("#").all()
        last = moves[moves["simulation"] == SIMULATIONS].set_index("move")
        assert last["visits"].idxmax() in ("Kg6", "Kf7")


def test_players_go_on_from_the_opening():
    players = [NetworkPlayer(str(seed), agents.untrained(seed).network, 0) for seed in (0, 1)]
    lines = nb16.same_opening(players, "e4 e5 Nf3", 3)
    assert lines["ply"].to_list() == [4, 5, 6] * 2
    for _, rows in lines.groupby("who"):
        board = chess.Board()
        for san in ("e4", "e5", "Nf3", *rows["san"]):
            board.push_san(san)
        assert board.fen() == rows["fen"].iloc[-1]


def test_rules_are_compared_at_equal_simulations():
    rows = [
        ("g2", "gumbel", 2, "p2", 0.5, 0.4, 0.6),
        ("g8", "gumbel", 8, "random", 0.9, 0.8, 1.0),
        ("random", None, None, "g2", 0.1, 0.0, 0.2),
        ("p2", "puct", 2, "random", 0.7, 0.6, 0.8),
    ]
    names = ["player", "policy", "simulations", "opponent", "score", "low", "high"]
    between = nb16.between_rules(pd.DataFrame(rows, columns=names))
    assert between.to_numpy().tolist() == [[2, 0.5, 0.4, 0.6]]


def test_a_run_is_rated_by_one_fit():
    evaluations = pd.DataFrame({"update": [0, 9], "seconds": [0.0, 5.0]})
    evaluations = evaluations.assign(elo=0.0, low=-1.0, high=1.0, search_gain=0.0)
    rows = [
        ("update 9", 300.0, 200.0, 400.0),
        ("random", 0.0, 0.0, 0.0),
        ("update 0", 100.0, 50.0, 150.0),
        ("update 9, no search", 180.0, 0.0, 360.0),
        ("update 0, no search", 90.0, 0.0, 180.0),
    ]
    rated = nb16.refit(evaluations, pd.DataFrame(rows, columns=["player", "elo", "low", "high"]))
    assert rated["elo"].tolist() == [100, 300]
    assert rated["low"].tolist() == [50, 200]
    assert rated["search_gain"].tolist() == [10, 120]


def test_the_lead_begins_after_another_moves_last():
    visits = {"a": [1, 1, 2, 2, 3], "b": [0, 1, 1, 3, 9]}
    grown = pd.concat(
        pd.DataFrame({"simulation": [1, 2, 3, 5, 12], "move": move, "visits": counts})
        for move, counts in visits.items()
    ).reset_index(drop=True)
    assert nb16.leads_since(grown) == 4


def test_a_price_is_work_over_its_rate():
    bill = nb16.price({"slow": 10.0, "fast": 1e3}, 50.0, simulations=3.6e7, positions=3.6e5)
    assert bill["hours"].tolist() == [1000, 10, 2]
