"""Notebook 14: the cost model, whose numbers are found again in times made from them."""

import chess
import numpy as np
import pandas as pd
import pytest

from rungs.chess import from_uci
from rungs.errors import MismatchError
from rungs_course.measure.link import Link, fit
from rungs_course.notebooks import nb14_cost_model as nb14
from rungs_course.notebooks import nb14_search
from rungs_course.notebooks.nb14_cost_model import Line, Update, all_reduce_seconds

LINK = Link(latency=5e-5, bandwidth=2e9)
UPDATE = Update(
    {"generate": Line(0.001, 1e-6), "infer": Line(0.0, 2e-5), "backward": Line(0.02, 6e-5)},
    messages=16,
    num_bytes=16 * 2_000_000,
)
SENT = (0, 0), (UPDATE.messages, UPDATE.num_bytes)
SLOWDOWN = {1: 1.0, 2: 1.25, 4: 2.5}


class TestAllReduce:
    def test_it_takes_its_rounds_and_sends_what_it_must(self):
        for algorithm, rounds in (("ring", {1: 0, 4: 6}), ("halving", {2: 2, 3: 4, 4096: 24})):
            for processes, number in rounds.items():
                seconds = all_reduce_seconds(processes, 0, LINK, messages=3, algorithm=algorithm)
                assert seconds == pytest.approx(3 * number * LINK.latency)
                sent = all_reduce_seconds(processes, 1000, Link(0.0, 1.0), algorithm=algorithm)
                assert sent == pytest.approx(2000 * (1 - 1 / processes))

    def test_the_link_is_found_again(self):
        rows = [
            (p, size, repeat, all_reduce_seconds(p, size, LINK))
            for p in (2, 3, 4)
            for size in (8, 2**12, 2**20, 2**25)
            for repeat in range(3)
        ]
        messages = pd.DataFrame(rows, columns=["processes", "bytes", "repeat", "seconds"])
        for processes in (2, 4):
            assert nb14.fit_link(messages, processes) == pytest.approx(LINK)
        errors = nb14.message_errors(messages, LINK)
        assert len(errors) == 12
        np.testing.assert_allclose(errors["error"], 0, atol=1e-12)


def test_no_cost_is_below_nothing():
    terms = np.array([(1, 1), (1, 10), (1, 100)])
    assert fit(terms, terms @ (2.0, 3.0)) == pytest.approx((2.0, 3.0))
    fixed, slope = fit(terms, terms @ (-0.5, 1.0))
    assert fixed == pytest.approx(0)
    assert slope >= 0


class TestUpdates:
    @staticmethod
    def times(waiting=0.0):
        """Updates as the model has them, and `waiting` seconds more where there are several."""
        rows = []
        for processes, boards in ((1, 16), (1, 64), (2, 64), (4, 64)):
            positions, slowdown = 32 * boards, SLOWDOWN[processes]
            parts = {part: line(positions) * slowdown for part, line in UPDATE.parts.items()}
            exchanges = {"none": parts}
            if processes == 1:
                parts |= {"wait": 0.0, "all-reduce": 0.0}
            else:
                sum_up = all_reduce_seconds(processes, UPDATE.num_bytes, LINK, messages=16)
                exchanges["in turn"] = parts | {"wait": waiting, "all-reduce": sum_up}
                exchanges["overlapped"] = {"backward": sum(exchanges["in turn"].values()) / 2}
            rows += [
                (processes, boards, positions, *SENT[exchange != "none"], exchange, repeat, *part)
                for exchange, seconds in exchanges.items()
                for repeat in range(2)
                for part in seconds.items()
            ]
        names = ["processes", "num_envs", "positions", "messages", "bytes", "exchange", "repeat"]
        return pd.DataFrame(rows, columns=[*names, "part", "seconds"])

    def test_costs_are_found_again_and_then_predict_the_rest(self):
        updates = self.times()
        update = nb14.fit_update(updates)
        assert (update.messages, update.num_bytes) == (UPDATE.messages, UPDATE.num_bytes)
        for part, line in UPDATE.parts.items():
            np.testing.assert_allclose(update.parts[part], line, atol=1e-12)
        slowdown = nb14.slowdowns(updates).median(axis=1)
        assert slowdown.to_dict() == pytest.approx(SLOWDOWN)
        checked = nb14.check(updates, update, LINK, slowdown)
        assert checked["processes"].tolist() == [1, 2, 4]
        np.testing.assert_allclose(checked["error"], 0, atol=1e-9)
        np.testing.assert_allclose(checked["more computing"], 0, atol=1e-9)

    def test_what_the_model_lacks_is_its_error(self):
        checked = nb14.check(self.times(waiting=0.1), UPDATE, LINK, SLOWDOWN)
        alone, *several = checked.to_dict("records")
        assert alone["error"] == pytest.approx(0)
        for row in several:
            assert row["measured"] - row["predicted"] == pytest.approx(0.1)
            assert row["error"] == pytest.approx(-0.1 / row["measured"])
            assert row["more computing"] == pytest.approx(0.1)
            assert row["more all-reduce"] == pytest.approx(0)
            assert row["overlapped"] == pytest.approx(row["measured"] / 2)

    def test_what_processes_share_slows_computing_and_not_messages(self):
        once, twice = (UPDATE.seconds(4, 1000, LINK, slowdown=times) for times in (1, 2))
        assert twice - once == pytest.approx(UPDATE.compute(1000))

    def test_what_the_model_misses_is_told_with_the_noise_of_updates(self):
        updates = self.times()
        late = (updates["exchange"] == "in turn") & (updates["processes"] == 2)
        late &= updates["repeat"] == 1
        once_late = updates.assign(seconds=updates["seconds"].mask(late, 2 * updates["seconds"]))
        misses = nb14.misses(once_late, nb14.check(updates, UPDATE, LINK, SLOWDOWN))
        for processes, low in ((1, 1), (2, 0.5), (4, 1)):
            assert (misses[processes].low, misses[processes].high) == pytest.approx((low, 1))


class TestNodes:
    NODES = (1, 2, 64, 4096)

    def test_a_free_exchange_scales_weakly_for_ever(self):
        frame = nb14.scale(UPDATE, Link(0.0, float("inf")), self.NODES, 2048, speed=10)
        np.testing.assert_allclose(frame["efficiency"], 1)
        np.testing.assert_allclose(frame["seconds"], UPDATE.compute(2048) / 10)

    def test_strong_scaling_ends_where_only_what_is_fixed_is_left(self):
        positions = 2**20 / np.array(self.NODES)
        frame = nb14.scale(UPDATE, LINK, self.NODES, positions).set_index("nodes")
        assert frame["efficiency"][1] == 1
        assert frame["efficiency"].is_monotonic_decreasing
        last = frame.loc[4096]
        exchange = all_reduce_seconds(4096, UPDATE.num_bytes, LINK, messages=16)
        assert last["seconds"] == pytest.approx(exchange + UPDATE.compute(256))
        assert last["efficiency"] == pytest.approx(UPDATE.compute(2**20) / last["seconds"] / 4096)


def test_a_saving_is_the_share_that_stepping_had():
    assert nb14.saving(1.0, 0.0, 3.0) == pytest.approx(0.25)
    assert nb14.inferring_at(0.25, 1.0, 0.0) == pytest.approx(3)
    inferring = nb14.inferring_at(0.3, 2.0, 0.5)
    assert nb14.saving(2.0, 0.5, inferring) == pytest.approx(0.3)
    assert nb14.inferring_at(0.5, 2.0, 1.5) < 0  # at most a quarter can be saved


def games_after(*lines):
    """Plays lines of moves, a game each, on our boards and OpenSpiel's states; and positions."""
    pytest.importorskip("pyspiel")
    games = nb14_search.Boards(len(lines), seed=0), nb14_search.States(len(lines))
    boards = [chess.Board() for _ in lines]
    for moves in zip(*map(str.split, lines), strict=True):
        pairs = list(zip(moves, boards, strict=True))
        actions = np.array([from_uci(uci, board.fen()) for uci, board in pairs])
        for game in games:
            game.play(actions)
        for uci, board in pairs:
            board.push_uci(uci)
    return *games, [game.positions() for game in games]


def test_both_find_what_the_library_finds_also_below_a_mate():
    boards, states, starts = games_after("f2f3 e7e5 g2g4", "e2e4 e7e5 g1f3")
    nb14_search.check(boards, states, starts, simulations=200, seed=1)

    def equal(legal):
        return [[1 / len(actions) for _ in actions] for actions in legal]

    (root, _), _ = nb14_search.search(boards, starts[0], 200, equal)
    fen = "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2"
    mate = root.actions.index(from_uci("d8h4", fen))
    assert root.sums[mate] == root.visits[mate] == max(root.visits)


def test_games_that_differ_are_not_timed():
    boards, states, (ours, _) = games_after("")
    *_, (_, theirs) = games_after("e2e4 e7e5")
    with pytest.raises(MismatchError, match="States: visits of game 0"):
        nb14_search.check(boards, states, [ours, theirs], simulations=50, seed=1)
