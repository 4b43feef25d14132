"""Games to be looked at are legal chess, told move by move."""

import chess
import pytest
import torch

from rungs._src.train.network import PolicyValueNetwork
from rungs_course.nb15_games import games


@pytest.mark.parametrize("max_plies", [7, 40])
def test_python_chess_plays_the_same_games(max_plies):
    torch.manual_seed(0)
    played = games(PolicyValueNetwork(width=16, keys=8), 3, seed=1, max_plies=max_plies)
    assert set(played["game"]) == {0, 1, 2}
    for _, rows in played.groupby("game"):
        board = chess.Board()
        assert rows["fen"].iloc[0] == board.fen()
        for row in rows.iloc[1:].itertuples():
            board.push_san(row.move)
            assert row.fen == board.fen()
        assert rows["ply"].tolist() == list(range(len(rows)))
        (result,) = rows["result"].unique()
        assert result == ("*" if len(rows) == max_plies + 1 else board.result(claim_draw=True))


def test_mates_are_told_for_whoever_gave_them():
    torch.manual_seed(0)
    played = games(PolicyValueNetwork(width=16, keys=8), 60, seed=2, max_plies=120)
    mates = {"1-0": False, "0-1": False}
    for _, rows in played.groupby("game"):
        last, (result,) = chess.Board(rows["fen"].iloc[-1]), rows["result"].unique()
        assert (result in mates) == last.is_checkmate()
        if result in mates:
            mates[result] = True
            assert result == ("0-1" if last.turn else "1-0")
    assert all(mates.values())
