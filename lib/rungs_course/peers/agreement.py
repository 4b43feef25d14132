"""Comparison of another chess environment's rules with python-chess's."""

import dataclasses

import chess
import numpy as np
import pandas as pd

from rungs.chess import Reason, action_of, move_of
from rungs_course.peers.peer import ChessPeer

# Random games end in most ways, but seldom in these.
SCRIPTS = {
    "stalemate": "e2e3 a7a5 d1h5 a8a6 h5a5 h7h5 h2h4 a6h6 a5c7 f7f6 c7d7 e8f7 d7b7 d8d3 b7b8 d3h7 "
    "b8c8 f7g6 c8e6",
    "repetition": "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8",
    # After d7d5 the queen's capture of that pawn's square would be en passant, but is pinned: all
    # moves are the same when the position comes again, and so it is there three times.
    "repetition after a pinned en-passant capture": "e2e4 e7e5 d2d4 e5d4 e4e5 d8e7 a2a3 d7d5 "
    + "g1h3 g8h6 h3g1 h6g8 " * 2,
}

# Compared are the legal actions of a position, and each way a game ends.
LEGAL = "legal moves"
RULES = (LEGAL, *(reason.name.lower().replace("_", " ") for reason in Reason if 1 <= reason <= 5))


@dataclasses.dataclass(frozen=True)
class Disagreement:
    """A position about which a peer and python-chess disagree, in words."""

    rule: str  # of `RULES`
    fen: str
    peer_says: str
    python_chess_says: str


def ending(board: chess.Board) -> Reason:
    """Returns how a game has ended, by python-chess, with the position reached."""
    if board.is_checkmate():
        return Reason.CHECKMATE
    if board.is_insufficient_material():
        return Reason.INSUFFICIENT_MATERIAL
    if board.is_stalemate():
        return Reason.STALEMATE
    if board.halfmove_clock >= 100:
        return Reason.FIFTY_MOVES
    if board.is_repetition(3):
        return Reason.THREEFOLD_REPETITION
    return Reason.ONGOING


def compare(peer: ChessPeer, seed: int) -> tuple[dict[str, int], list[Disagreement]]:
    """Plays one game on each of a peer's boards, and the same in python-chess.

    The first boards play `SCRIPTS`, as long as their moves are legal; then all is random, and the
    same for all peers that agree. A game is over when either says so, or when the peer allows
    nothing that is legal. Returns how often each of `RULES` was applied by either, and all
    disagreements. A game that a peer ends at its own limit of plies does not count. If it ends one
    early, the rule is a guess.
    """
    rngs = [np.random.default_rng([seed, i]) for i in range(peer.num_envs)]
    peer.reset(seed)
    boards = [chess.Board() for _ in range(peer.num_envs)]
    scripts = [script.split() for script in SCRIPTS.values()]
    tried, disagreements = dict.fromkeys(RULES, 0), []
    playing = list(range(peer.num_envs))
    while playing:
        mask = peer.mask().copy()
        # A board whose game is over plays any legal action; without legal actions, any at all.
        mask[~mask.any(axis=1), 0] = True
        actions = mask.argmax(axis=1)
        stuck: list[int] = []  # where nothing is legal that the peer allows
        for i in playing:
            tried[LEGAL] += 1
            legal = {action_of(move, not boards[i].turn) for move in boards[i].legal_moves}
            allowed = set(np.flatnonzero(mask[i]).tolist())
            if allowed != legal:
                disagreements.append(_legal_moves_differ(boards[i], allowed, legal))
            if both := sorted(allowed & legal):
                actions[i] = _next(boards[i], scripts[i : i + 1], both, rngs[i])
            else:
                stuck.append(i)
        playing = [i for i in playing if i not in stuck]
        moves = {i: move_of(int(actions[i]), boards[i]) for i in playing}
        peer.step(peer.native(actions))
        for i, move in moves.items():
            boards[i].push(move)  # type: ignore[arg-type]  # a legal one
        going_on = []
        for i in playing:
            reason = ending(boards[i])
            limit = not reason and boards[i].ply() == peer.MAX_PLIES
            if bool(peer.ended[i]) != bool(reason) and not limit:
                disagreements.append(_ends_differ(boards[i], reason))
                tried[disagreements[-1].rule] += 1
            elif reason:
                tried[_name(reason)] += 1
                if peer.result[i] != _white_gets(boards[i], reason):
                    disagreements.append(_results_differ(boards[i], reason, float(peer.result[i])))
            if not reason and not peer.ended[i]:
                going_on.append(i)
        playing = going_on
    return tried, disagreements


def table(compared: dict[str, tuple[dict[str, int], list[Disagreement]]]) -> pd.DataFrame:
    """Lists peers and rules: a row each of `peer`, `rule`, `tried`, `disagreements`."""
    rows = [
        (peer, rule, tried[rule], sum(one.rule == rule for one in disagreements))
        for peer, (tried, disagreements) in compared.items()
        for rule in RULES
    ]
    return pd.DataFrame(rows, columns=["peer", "rule", "tried", "disagreements"])


def listed(compared: dict[str, tuple[dict[str, int], list[Disagreement]]]) -> pd.DataFrame:
    """Lists disagreements: a row each of `peer` and the fields of `Disagreement`."""
    columns = ["peer", *(field.name for field in dataclasses.fields(Disagreement))]
    rows = [
        (peer, *dataclasses.astuple(one))
        for peer, (_, disagreements) in compared.items()
        for one in disagreements
    ]
    return pd.DataFrame(rows, columns=columns)


def _name(reason: Reason) -> str:
    return RULES[int(reason)]


def _next(board: chess.Board, script: list[list[str]], legal: list[int], rng) -> int:
    if script and board.ply() < len(script[0]):
        action = action_of(chess.Move.from_uci(script[0][board.ply()]), not board.turn)
        if action in legal:
            return action
    return int(rng.choice(legal))


def _white_gets(board: chess.Board, reason: Reason) -> int:
    if reason != Reason.CHECKMATE:
        return 0
    return -1 if board.turn == chess.WHITE else 1


def _legal_moves_differ(board: chess.Board, allowed: set[int], legal: set[int]) -> Disagreement:
    def listed(actions):
        moves = (move_of(action, board) for action in sorted(actions))
        return " ".join(move.uci() if move else "off the board" for move in moves) or "none"

    only, missing = listed(allowed - legal), listed(legal - allowed)
    return Disagreement(LEGAL, board.fen(), f"also {only}", f"also {missing}")


def _ends_differ(board: chess.Board, reason: Reason) -> Disagreement:
    if reason:
        return Disagreement(_name(reason), board.fen(), "it goes on", _name(reason))
    rule = _name(_nearest(board))
    return Disagreement(rule, board.fen(), "it is over", "it goes on")


def _nearest(board: chess.Board) -> Reason:
    """Returns the rule by which a peer most likely ended a game that is not over."""
    if board.halfmove_clock >= 98:
        return Reason.FIFTY_MOVES
    if board.is_repetition(2) or board.can_claim_threefold_repetition():
        return Reason.THREEFOLD_REPETITION
    if not any(board.legal_moves):
        return Reason.STALEMATE
    return Reason.INSUFFICIENT_MATERIAL


def _results_differ(board: chess.Board, reason: Reason, result: float) -> Disagreement:
    expected = _white_gets(board, reason)
    return Disagreement(
        _name(reason), board.fen(), f"White gets {result:g}", f"White gets {expected}"
    )
