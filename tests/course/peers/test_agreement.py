"""Agreement with python-chess is not claimed where there is none."""

import chess
import numpy as np
import pandas as pd
import pytest

from rungs._src.chess.actions import from_uci
from rungs._src.chess.reason import Reason
from rungs_course.peers import agreement
from rungs_course.peers.ours import OurChess


def test_we_agree_in_all_ways_a_game_ends():
    tried, found = agreement.compare(OurChess(60), seed=0)
    assert not found
    assert all(tried[rule] for rule in agreement.RULES)
    assert tried[agreement.LEGAL] > 10_000


class NoDoubleSteps(OurChess):
    def mask(self):
        mask = super().mask().copy()
        mask[:, from_uci("e2e4", chess.STARTING_FEN)] = False
        return mask


class Extra(OurChess):
    OFF_THE_BOARD = 64 * 7 + chess.H8

    def mask(self):
        mask = super().mask().copy()
        mask[:, self.OFF_THE_BOARD] = True
        return mask

    def native(self, actions):
        off = actions == self.OFF_THE_BOARD
        return np.where(off, super().mask().argmax(axis=1), actions)


class Changed(OurChess):
    """One whose endings are not what they should be."""

    def step(self, actions):
        outcome = super().step(actions)
        self.change(outcome[-1]["reason"])
        return outcome


class NoRepetition(Changed):
    def change(self, reason):
        self.ended = self.ended & (reason != Reason.THREEFOLD_REPETITION)


class Early(Changed):
    def change(self, reason):
        self.plies = getattr(self, "plies", 0) + 1
        self.ended = np.full(self.num_envs, self.plies == 7)


class StalemateWins(Changed):
    """As in the chess study."""

    def change(self, reason):
        self.result = np.where(reason == Reason.STALEMATE, 1, self.result)


@pytest.mark.parametrize(
    ("peer", "rule", "says"),
    [
        (NoDoubleSteps, agreement.LEGAL, "also none"),
        (Extra, agreement.LEGAL, "also off the board"),
        (NoRepetition, "threefold repetition", "it goes on"),
        (Early, "insufficient material", "it is over"),
        (StalemateWins, "stalemate", "White gets 1"),
    ],
)
def test_a_peer_that_errs_is_found_out(peer, rule, says):
    _, found = agreement.compare(peer(3), seed=0)
    (first, *_) = [one for one in found if one.rule == rule]
    assert first.peer_says == says
    assert chess.Board(first.fen).is_valid()


def test_a_limit_of_plies_that_is_known_is_no_disagreement():
    class Limited(Early):
        MOST_PLIES = 7

    tried, found = agreement.compare(Limited(3), seed=0)
    assert not found
    assert tried[agreement.LEGAL] == 21


def test_tables_have_a_row_for_every_rule_and_disagreement():
    compared = {"good": agreement.compare(OurChess(2), 0), "bad": agreement.compare(Extra(2), 0)}
    table = agreement.table(compared)
    assert len(table) == 2 * len(agreement.RULES)
    assert not table.query("peer == 'good'")["disagreements"].any()
    listed = agreement.listed(compared)
    assert set(listed["peer"]) == {"bad"}
    assert len(listed) == table["disagreements"].sum()


def test_one_of_each_kind_is_shown_and_how_often_it_was_seen():
    columns = ["peer", "rule", "fen", "peer_says", "python_chess_says"]
    rows = [("a", "stalemate", fen, "over", "on") for fen in "xyz"] + [("b", "x", "w", "1", "0")]
    shown = agreement.shown(pd.DataFrame(rows, columns=columns))
    assert shown[["peer", "rule", "times", "fen"]].to_numpy().tolist() == [
        ["a", "stalemate", 3, "x"],
        ["b", "x", 1, "w"],
    ]


class AllowsNothingLegal(OurChess):
    """Allows only a move off the board, once White has made three moves."""

    def mask(self):
        mask = super().mask().copy()
        if self.plies > 5:
            mask[:] = False
            mask[:, Extra.OFF_THE_BOARD] = True
        return mask

    def native(self, actions):
        return super().mask().argmax(axis=1)

    def step(self, actions):
        self.plies += 1
        return super().step(actions)

    plies = 0


def test_a_game_in_which_a_peer_allows_nothing_legal_is_given_up():
    tried, found = agreement.compare(AllowsNothingLegal(2), seed=0)
    assert [one.rule for one in found if one.fen.split()[1] == "w"].count(agreement.LEGAL) >= 2
    assert tried[agreement.LEGAL] == 2 * 7
