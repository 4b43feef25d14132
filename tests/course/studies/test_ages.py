"""The same opening, played on by several agents."""

import chess

from rungs._src.selfplay.players import NetworkPlayer
from rungs_course import agents
from rungs_course.nb16_search import same_opening
from rungs_course.show.games import side_by_side


def test_each_goes_on_from_the_opening():
    players = [NetworkPlayer(str(seed), agents.untrained(seed).network, 0) for seed in (0, 1)]
    lines = same_opening(players, "e4 e5 Nf3", 3)
    assert lines["ply"].to_list() == [4, 5, 6] * 2
    for _, rows in lines.groupby("who"):
        board = chess.Board()
        for san in ("e4", "e5", "Nf3", *rows["san"]):
            board.push_san(san)
        assert board.fen() == rows["fen"].iloc[-1]
    axes = [each for each in side_by_side(lines, 2).axes if each.get_title()]
    assert [each.get_title().split("\n")[0] for each in axes] == ["0", "0", "1", "1"]
