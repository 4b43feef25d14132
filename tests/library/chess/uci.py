"""A small UCI engine for tests: plays the first legal move, and fails as asked.

Usage: uci.py FAILURE [NUMBER]: what to do instead at the NUMBER-th move (from 1). One that is
"classical" plays no Chess960; one that is "late" takes half a second for each move. The options it
is given and what it is told to search are appended to the file `heard` in the folder RUNGS_TEST,
where that is set.
"""

import os
import sys
import time
from pathlib import Path

import chess


def fail(failure):
    if failure == "crash":
        sys.exit(3)
    if failure == "hang":
        time.sleep(3600)
    replies = {"illegal": "a1a1", "nonsense": "what", "none": "(none)", "null": "0000", "empty": ""}
    say(f"bestmove {replies.get(failure, 'e' * 10**5)}")


def say(line):
    print(line, flush=True)


def main(failure="", number=1):
    if failure == "mute":
        time.sleep(3600)
    moves, chess960 = 0, False
    for line in sys.stdin:
        word, *rest = line.split()
        if word in ("setoption", "go") and "RUNGS_TEST" in os.environ:
            with Path(os.environ["RUNGS_TEST"], "heard").open("a") as heard:
                heard.write(line)
        if word == "uci":
            say("id name First Mover 1")
            say("option name Hash type spin default 16 min 1 max 64")
            say("option name Move Overhead type spin default 10 min 0 max 5000")
            say("option name Skill Level type spin default 20 min 0 max 20")
            say("option name UCI_LimitStrength type check default false")
            say("option name UCI_Elo type spin default 1350 min 1350 max 2850")
            if failure != "classical":
                say("option name UCI_Chess960 type check default false")
            say("uciok")
        elif word == "isready":
            say("readyok")
        elif word == "setoption" and "UCI_Chess960" in rest:
            chess960 = rest[-1] == "true"
        elif word == "position":
            at = rest.index("moves") if "moves" in rest else len(rest)
            fen = chess.STARTING_FEN if rest[0] == "startpos" else " ".join(rest[1:at])
            board = chess.Board(fen, chess960=chess960)
            for move in rest[at + 1 :]:
                board.push_uci(move)
        elif word == "go":
            moves += 1
            if failure == "late":
                time.sleep(0.5)
            if failure and moves == int(number):
                fail(failure)
            else:
                say(f"bestmove {min(move.uci() for move in board.legal_moves)}")
        elif word == "quit":
            return


main(*sys.argv[1:])
