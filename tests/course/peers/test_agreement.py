"""Agreement with python-chess is not claimed where there is none."""

import chess
import numpy as np
import pytest

from rungs._src.chess.actions import from_uci
from rungs._src.chess.reason import Reason
from rungs_course.peers import agreement
from rungs_course.peers.ours import OurChess

pytestmark = pytest.mark.system

OFF_THE_BOARD = 64 * 7 + chess.H8


def test_we_agree_in_all_ways_a_game_ends():
    tried, disagreements = agreement.compare(OurChess(60), seed=0)
    assert not disagreements
    assert all(tried[rule] for rule in agreement.RULES)
    assert tried[agreement.LEGAL] > 10_000


class NoDoubleSteps(OurChess):
    def mask(self):
        mask = super().mask().copy()
        mask[:, from_uci("e2e4", chess.STARTING_FEN)] = False
        return mask


class Extra(OurChess):
    def mask(self):
        mask = super().mask().copy()
        mask[:, OFF_THE_BOARD] = True
        return mask

    def native(self, actions):
        return np.where(actions == OFF_THE_BOARD, super().mask().argmax(axis=1), actions)


class NoRepetition(OurChess):
    def step(self, actions):
        outcome = super().step(actions)
        self.ended = self.ended & (outcome[-1]["reason"] != Reason.THREEFOLD_REPETITION)
        return outcome


class Early(OurChess):
    plies = 0

    def step(self, actions):
        outcome = super().step(actions)
        self.plies += 1
        self.ended = np.full(self.num_envs, self.plies == 7)
        return outcome


class StalemateWins(OurChess):
    """As in the chess study."""

    def step(self, actions):
        outcome = super().step(actions)
        self.result = np.where(outcome[-1]["reason"] == Reason.STALEMATE, 1, self.result)
        return outcome


class AllowsNothingLegal(OurChess):
    """Allows only a move off the board, once White has made three moves."""

    plies = 0

    def mask(self):
        mask = super().mask().copy()
        if self.plies > 5:
            mask[:] = False
            mask[:, OFF_THE_BOARD] = True
        return mask

    def native(self, actions):
        return super().mask().argmax(axis=1)

    def step(self, actions):
        self.plies += 1
        return super().step(actions)


@pytest.mark.parametrize(
    ("peer_class", "rule", "says"),
    [
        (NoDoubleSteps, agreement.LEGAL, "also none"),
        (Extra, agreement.LEGAL, "also off the board"),
        (NoRepetition, "threefold repetition", "it goes on"),
        (Early, "insufficient material", "it is over"),
        (StalemateWins, "stalemate", "White gets 1"),
    ],
)
def test_a_peer_that_errs_is_found_out(peer_class, rule, says):
    _, disagreements = agreement.compare(peer_class(3), seed=0)
    first = next(one for one in disagreements if one.rule == rule)
    assert first.peer_says == says
    assert chess.Board(first.fen).is_valid()


def test_a_limit_of_plies_that_is_known_is_no_disagreement(monkeypatch):
    monkeypatch.setattr(Early, "MAX_PLIES", 7)
    tried, disagreements = agreement.compare(Early(3), seed=0)
    assert not disagreements
    assert tried[agreement.LEGAL] == 3 * 7


def test_a_game_in_which_a_peer_allows_nothing_legal_is_given_up():
    tried, disagreements = agreement.compare(AllowsNothingLegal(2), seed=0)
    turns = [one.fen.split()[1] for one in disagreements if one.rule == agreement.LEGAL]
    assert turns.count("w") >= 2
    assert tried[agreement.LEGAL] == 2 * 7


def test_tables_have_a_row_for_every_rule_and_disagreement():
    peers = {"good": OurChess(2), "bad": Extra(2)}
    compared = {name: agreement.compare(peer, 0) for name, peer in peers.items()}
    table = agreement.table(compared)
    assert len(table) == 2 * len(agreement.RULES)
    assert not table.query("peer == 'good'")["disagreements"].any()
    listed = agreement.listed(compared)
    assert set(listed["peer"]) == {"bad"}
    assert len(listed) == table["disagreements"].sum()
