"""How the tree of one search grows, simulation by simulation."""

import chess
import numpy as np
import pandas as pd

from rungs._src.chess.actions import move_of
from rungs._src.chess.reason import Reason
from rungs._src.search.result import Tree
from rungs._src.search.search import Search
from rungs._src.search.settings import Puct

_QUIET = Puct(fraction=0.0, temperature=0.0)  # the same every time


def grow(fen: str, evaluate, simulations: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Searches a position by PUCT without noise, and looks at the tree as it grows.

    Args:
        fen: the position.
        evaluate: as `rungs.search` takes it.
        simulations: how many.

    Returns:
        The root's moves after each simulation that asked the evaluator (one that comes to the
        game's end doesn't), and after the last: `simulation`, how many there were; `move` (SAN),
        `uci`, `prior`, `visits`, and `value`, the mean for the side to move, none without visits.
        And the nodes of the last tree in the order in which they were made: `parent`, a row's
        number, -1 of the root; `move` (SAN, "" of the root), `depth`, `visits`, `value` for the
        side to move at the root, and `end`, why the game is over there, or "".
    """
    seen: list[tuple[np.ndarray, np.ndarray]] = []
    with Search(1, simulations=simulations, policy=_QUIET) as search:
        search.begin(fen)

        def watched(observation, actions, counts):
            if len((tree := search.tree(0)).edge_action):  # the root has been evaluated
                seen.append(_root(tree))
            return evaluate(observation, actions, counts)

        search.run(watched)
        tree = search.tree(0)
    return _grown(tree, fen, [*seen, _root(tree)]), _nodes(tree, fen)


def _root(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Returns visits and the sums of what they found, of the root's moves."""
    edges = slice(tree.first[0], tree.first[0] + tree.count[0])
    return tree.edge_visits[edges], tree.edge_value_sum[edges]


def _grown(tree: Tree, fen: str, seen: list[tuple[np.ndarray, np.ndarray]]) -> pd.DataFrame:
    board, edges = chess.Board(fen), slice(tree.first[0], tree.first[0] + tree.count[0])
    moves = [_move(int(action), board) for action in tree.edge_action[edges]]
    visits, sums = (np.array(each) for each in zip(*seen, strict=True))
    with np.errstate(invalid="ignore"):
        value = sums / visits
    return pd.DataFrame(
        {
            "simulation": visits.sum(axis=1).repeat(len(moves)),
            "move": [board.san(move) for move in moves] * len(seen),
            "uci": [move.uci() for move in moves] * len(seen),
            "prior": np.tile(tree.edge_prior[edges], len(seen)),
            "visits": visits.ravel(),
            "value": value.ravel(),
        }
    )


def _nodes(tree: Tree, fen: str) -> pd.DataFrame:
    boards, rows = [chess.Board(fen)], [(-1, "", 0, int(tree.visits[0]), float(tree.value[0]), "")]
    for node in range(1, len(tree.parent)):
        parent = int(tree.parent[node])
        board, depth = boards[parent].copy(), rows[parent][2] + 1
        san = board.san_and_push(_move(int(tree.action[node]), board))
        boards.append(board)
        sign = -1 if depth % 2 else 1
        reason = Reason(int(tree.reason[node]))
        end = "" if reason == Reason.ONGOING else reason.name.lower().replace("_", " ")
        value = sign * float(tree.value[node])
        rows.append((parent, san, depth, int(tree.visits[node]), value, end))
    return pd.DataFrame(rows, columns=["parent", "move", "depth", "visits", "value", "end"])


def _move(action: int, board: chess.Board) -> chess.Move:
    move = move_of(action, board)
    assert move  # of a tree
    return move
