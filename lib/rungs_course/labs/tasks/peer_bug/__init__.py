"""Lab 12: a peer's bug, found by lockstep."""

import random

from rungs_course.labs.lab import Difference, Lab
from rungs_course.labs.tasks.peer_bug.games import PEERS, Game, TooLongError

_MAX_PLIES = 5000  # plies of a search
_SEEDS = range(1, 5)


def _judge(functions) -> Difference | None:
    for number, (peer, start) in enumerate(PEERS):
        try:
            played = Game(start, _MAX_PLIES), peer(start, _MAX_PLIES)
            moves = functions.find(*played, random.Random(0))
        except TooLongError:
            what = f"plies until a bug of peer {number} was found"
            return Difference(what, f"at most {_MAX_PLIES:,}", "more", start)
        found = _replayed(number, Game(start), peer(start), moves)
        if found:
            return found
    return None


def _replayed(number: int, ours: Game, peer: Game, moves) -> Difference | None:
    """Returns what is wrong with moves that are to lead to the first difference of two games."""
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
        return Difference(f"what find returns of peer {number}", "moves", f"{moves!r:.200}")
    where = f"peer {number}, {' '.join(moves[-4:])} at the end of {len(moves)} moves"
    for ply, move in enumerate(moves):
        if differing := _differ(ours, peer):
            return Difference(
                f"the ply after which our game and that of peer {number} first differ",
                f"{ply}, in {differing}",
                f"{len(moves)}",
                ours.board,
            )
        if move not in ours.legal:
            what = f"move {ply} of those returned for peer {number}"
            return Difference(what, "a legal one", repr(move), ours.board)
        ours.step(move)
        peer.step(move)
    if not _differ(ours, peer):
        return Difference(
            f"what differs after the moves returned ({where})",
            "the board, the legal moves or the result",
            "nothing: all three are the same",
            ours.board,
        )
    return None


def _differ(ours: Game, peer: Game) -> str:
    """Returns what differs, in words, or nothing."""
    if ours.board != peer.board:
        return "the board"
    if ours.result != peer.result:
        return f"the result ({ours.result or 'none'} and {peer.result or 'none'})"
    only = set(ours.legal) ^ set(peer.legal)
    return f"the legal moves ({', '.join(sorted(only))})" if only else ""


def _work(functions):
    def plies() -> float:
        count = 0
        for peer, start in PEERS:
            for seed in _SEEDS:
                played = Game(start, _MAX_PLIES), peer(start, _MAX_PLIES)
                functions.find(*played, random.Random(seed))
                count += played[1].plies
        return float(count)

    return plies


LAB = Lab(
    name="12",
    defines=("find",),
    judge=_judge,
    work=_work,
    target=0.5,
    language="python",
    unit="plies",
)
