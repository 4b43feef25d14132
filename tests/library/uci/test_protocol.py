"""The engine answers a controller: by the protocol's grammar, whatever it is sent."""

import io
import os
import re
import threading

import chess
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rungs._src.chess.actions import from_uci, to_uci
from rungs._src.search.search import Search, uniform
from rungs._src.selfplay.players import NOISELESS
from rungs._src.uci.protocol import Engine
from rungs._src.uci.request import OPTIONS
from rungs._src.uci.thinking import Thinker
from rungs.errors import ConfigurationError
from tests.library.search.made_up import evaluate

MOVE = r"[a-h][1-8][a-h][1-8][nbrq]?"
MATE = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"
# What an engine may say, by the protocol's description.
GRAMMAR = re.compile(
    rf"id (name|author) \S.*|uciok|readyok|bestmove ({MOVE}|\(none\))|info string \S.*"
    r"|option name \S.* type (check default (true|false)|spin default \d+ min \d+ max \d+"
    r"|combo default \w+( var \w+)+)"
    r"|info depth 0 score (cp|mate) 0"
    r"|info depth \d+ seldepth \d+ multipv \d+ score cp -?\d+( wdl \d+ \d+ \d+)? nodes \d+ nps \d+ "
    rf"time \d+ pv {MOVE}( {MOVE})*"
)


class Session:
    """A controller's view of an engine in another thread."""

    def __init__(self, evaluate=evaluate):
        read, write = os.pipe()
        self._lines = os.fdopen(write, "wb", buffering=0)
        answers, out = os.pipe()
        self._answers = os.fdopen(answers)
        pipes = os.fdopen(read, "rb"), os.fdopen(out, "w")
        engine = Engine("it", lambda say: Thinker(evaluate, say), *pipes)
        self._thread = threading.Thread(target=engine.run, daemon=True)
        self._thread.start()

    def send(self, *lines):
        for line in lines:
            self._lines.write(f"{line}\n".encode())

    def until(self, word):
        """All answers up to the next that begins with a word."""
        answers = []
        while not answers or not answers[-1].startswith(word):
            answers.append(self._answers.readline().removesuffix("\n"))
            assert GRAMMAR.fullmatch(answers[-1]), answers[-1]
        return answers

    def ask(self, *lines):
        """The move, and the reports before it."""
        self.send(*lines)
        *reports, best = self.until("bestmove")
        return best.split()[1], reports

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._lines.close()
        self._thread.join(60)
        assert not self._thread.is_alive()


@pytest.fixture
def session():
    with Session() as session:
        yield session


def number(report, name):
    return int(re.search(rf" {name} (?:cp )?(-?\d+)", report)[1])


def line_of(report):
    return report.partition(" pv ")[2].split()


def test_it_introduces_itself_and_is_ready(session):
    session.send("uci")
    answers = session.until("uciok")
    assert [line for line in answers if line.startswith("id name")]
    declared = {line.split(" type ")[0] for line in answers if line.startswith("option")}
    assert declared == {f"option name {name}" for name in OPTIONS}
    session.send("isready")
    session.until("readyok")


def test_it_searches_as_many_nodes_as_it_is_told(session):
    for count in (1, 2, 300, 1500):
        move, reports = session.ask("ucinewgame", "position startpos", f"go nodes {count}")
        assert number(reports[-1], "nodes") == count
        assert line_of(reports[-1])[0] == move
        assert number(reports[-1], "depth") == len(line_of(reports[-1]))
        assert number(reports[-1], "seldepth") >= number(reports[-1], "depth")


@pytest.mark.parametrize("rule", ["gumbel", "puct"])
def test_it_plays_what_the_search_by_its_rule_chooses(session, rule):
    session.send(f"setoption name Rule value {rule}")
    for count in (16, 700):
        with Search(1, simulations=count, policy=NOISELESS[rule]) as search:
            chosen = int(search.run(evaluate).chosen[0])
        move, _ = session.ask("ucinewgame", "position startpos", f"go nodes {count}")
        assert move == to_uci(chosen, chess.STARTING_FEN)


def test_it_finds_a_mate_by_a_clock(session):
    for go in ("go movetime 300", "go wtime 9000 btime 1 winc 10 binc 10 movestogo 5"):
        move, reports = session.ask("ucinewgame", f"position fen {MATE}", go)
        assert move == "d1d8"
        assert number(reports[-1], "score") == 10_000


def test_it_is_ready_while_it_thinks_and_stops_when_it_is_told(session):
    session.send("position startpos", "go infinite", "isready")
    before = session.until("readyok")
    assert not [line for line in before if line.startswith("bestmove")]
    move, _ = session.ask("stop")
    assert chess.Move.from_uci(move) in chess.Board().legal_moves
    session.send("stop", "isready")
    assert session.until("readyok") == ["readyok"]


def test_an_infinite_search_waits_for_stop_though_nothing_is_left_to_search(session):
    session.send("setoption name Simulations value 4", "position startpos", "go infinite")
    session.until("info depth")
    for _ in range(50):
        session.send("isready")
        assert not [line for line in session.until("readyok") if line.startswith("bestmove")]
    session.ask("stop")


def test_the_tree_is_kept_from_move_to_move(session):
    _, reports = session.ask("position startpos", "go nodes 400")
    moves = " ".join(line_of(reports[-1])[:2])
    _, kept = session.ask(f"position startpos moves {moves}", "go nodes 1")
    assert number(kept[-1], "nodes") == 1
    _, new = session.ask("ucinewgame", f"position startpos moves {moves}", "go nodes 1")
    assert len(line_of(kept[-1])) > len(line_of(new[-1])) == 1


def test_a_game_that_is_over_has_no_move(session):
    mate, stalemate = "3R2k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
    for fen, score in ((mate, "mate 0"), (stalemate, "cp 0")):
        for go in ("go nodes 9", "go movetime 100"):
            move, reports = session.ask(f"position fen {fen}", go)
            assert (move, reports) == ("(none)", [f"info depth 0 score {score}"])


def test_a_draw_that_nobody_claims_goes_on(session):
    shuffle = "g1f3 g8f6 f3g1 f6g8 " * 3
    for position in (
        f"startpos moves {shuffle}",
        f"startpos moves {shuffle} e2e4",
        "fen 7k/8/8/8/8/8/R7/K7 w - - 100 90",
        "fen 7k/8/8/8/8/8/R7/K7 w - - 99 90 moves a2a3",
        "fen 7k/8/8/8/8/8/R7/K7 w - - 99 90 moves a2a3 h8g8 a1a2",
        "fen 7k/8/8/8/8/8/8/K6b w - - 0 90",  # nothing can mate
        "fen 7k/8/8/8/8/8/NNNNNNNN/NNN4K w - - 0 1",  # more than promotions make
    ):
        move, _ = session.ask(f"position {position}", "go nodes 30")
        assert re.fullmatch(MOVE, move), position


def test_castling_in_chess960_is_the_king_onto_its_rook(session):
    def only(observation, actions, counts):
        logits, values = uniform(observation, actions, counts)
        return np.where(actions == castling, 1e3, logits).astype(np.float32), values

    start = "4k2r/8/8/8/8/8/8/4K2R w Kk - 0 1"
    castling = from_uci("e1g1", start)
    with Session(only) as session:
        for option, expected in (("false", "e1g1"), ("true", "e1h1")):
            session.send(f"setoption name UCI_Chess960 value {option}", f"position fen {start}")
            assert session.ask("go nodes 20")[0] == expected


def test_moves_are_drawn_at_a_temperature_by_a_seed(session):
    def moves(seed):
        session.send("setoption name Temperature value 300")
        session.send("setoption name Seed value 0", f"setoption name Seed value {seed}")
        session.ask("position startpos", "go nodes 1")
        return [session.ask("ucinewgame", "go nodes 100")[0] for _ in range(6)]

    first = moves(1)
    assert len({*first}) > 1
    assert first != moves(2)


NO_OPTIONS = (
    "", "Hash", "name", "name value", "name Nonsense value 1", "name Hash", "name Hash value 16",
    "name Hash value x", "name Threads value 2", "name UCI_ShowWDL value 1", "name Rule value best",
    "name Seed value -1", "value 3 name Hash",
)  # fmt: skip
NO_POSITIONS = ("", "e2e4", "fen", "fen 8/8/8/8/8/8/8/8 w - - 0 1", "startpos e2e4")
NO_MOVES = ("e2e5", "0000", "e2e4 moves")


def test_what_is_wrong_is_named_and_changes_nothing(session):
    wrong = ["nonsense", "go ponder", "ponderhit", *(f"setoption {words}" for words in NO_OPTIONS)]
    for line in wrong:
        session.send(line, "isready")
        told, _ = session.until("readyok")
        assert told.startswith("info string "), line
    assert session.ask("go nodes 3")[0] != "(none)"
    for position in (*NO_POSITIONS, *(f"startpos moves {moves}" for moves in NO_MOVES)):
        move, told = session.ask(f"position {position}", "go nodes 3")
        assert (move, len(told)) == ("(none)", 2), position  # each line has its own
    assert session.ask("position startpos moves e2e4", "go nodes 3")[0] != "(none)"


class Closed(io.StringIO):
    """A pipe that its reader has closed."""

    def write(self, text):
        raise BrokenPipeError


def test_a_closed_pipe_ends_it():
    for text in (b"uci\n", b"go nodes 1\nisready\n", b"go infinite\nquit\n"):
        engine = Engine("it", lambda say: Thinker(uniform, say), io.BytesIO(text), Closed())
        with pytest.raises(BrokenPipeError):
            engine.run()


def test_what_ends_the_thinking_is_raised():
    def broken(observation, actions, counts):
        logits, values = uniform(observation, actions, counts)
        return logits * np.nan, values

    text = io.BytesIO(b"go infinite\nposition startpos\nisready\n")
    out = io.StringIO()
    with pytest.raises(ConfigurationError):
        Engine("it", lambda say: Thinker(broken, say), text, out).run()
    told = out.getvalue().splitlines()
    assert told[-1] == "bestmove (none)"
    assert told[-2].startswith("info string ConfigurationError")


TOKENS = """
    uci isready ucinewgame stop quit debug register ponderhit position startpos fen moves go nodes
    movetime wtime btime winc binc movestogo infinite ponder depth mate searchmoves setoption name
    value true gumbel puct e2e4 e7e5 e1g1 0000 8 -1 0 1000000000000000000000
"""
WORDS = st.sampled_from([*TOKENS.split(), *OPTIONS, *chess.STARTING_FEN.split(), *MATE.split()])
COMMANDS = st.sampled_from(
    [
        "go", "go nodes 3", "go infinite", "go movetime 1", "go wtime 10 btime 10 winc 1 binc 1",
        "position startpos moves e2e4", f"position fen {MATE}", "setoption name MultiPV value 9",
        "setoption name Rule value gumbel", "setoption name Temperature value 1", "stop",
        "setoption name UCI_Chess960 value true",
    ]
)  # fmt: skip
LINES = st.lists(
    st.binary(max_size=40) | (COMMANDS | st.lists(WORDS, max_size=8).map(" ".join)).map(str.encode),
    max_size=12,
)


@settings(max_examples=150)
@given(LINES)
def test_it_answers_by_the_grammar_whatever_it_is_sent(lines):
    sent = [line for line in b"\n".join(lines).split(b"\n") if line.split()[:1] != [b"quit"]]
    sent += [b"isready", b"setoption name UCI_Chess960 value false", b"position startpos", b"go"]
    out = io.StringIO()
    text = io.BytesIO(b"\n".join(sent))
    Engine("it", lambda say: Thinker(uniform, say), text, out).run()
    answers = out.getvalue().splitlines()
    for answer in answers:
        assert GRAMMAR.fullmatch(answer), answer
    assert "readyok" in answers
    moves = [answer.split()[1] for answer in answers if answer.startswith("bestmove")]
    accepted = [
        words for line in sent if (words := line.split())[:1] == [b"go"] and b"ponder" not in words
    ]
    assert len(moves) == len(accepted)
    assert chess.Move.from_uci(moves[-1]) in chess.Board().legal_moves
