"""The suite's results, and their texts."""

import json
import sys

import pytest

from rungs import __version__
from rungs._src import cli
from rungs._src.conformance import environments, report
from rungs._src.conformance.environment import Outcome
from rungs._src.conformance.environments import PythonChess, RungEnvironment
from rungs._src.conformance.run import FAILS, NOT_OFFERED, PASSES, check, run
from rungs._src.conformance.suite import load
from rungs._src.threads import openmp
from rungs.errors import ConfigurationError, UnavailableError, UnsupportedError
from rungs_course import peers
from rungs_course.peers.ours import OurChess

SUITE = load()
BY_ID = {case.id: case for case in SUITE.cases}


@pytest.mark.parametrize("rung", ["cpp", "python"])
def test_a_rung_passes(rung):
    results = run(RungEnvironment(rung), SUITE.cases)
    assert [result for result in results if result.status != PASSES] == []


def test_a_rung_that_is_not_here_is_no_environment(monkeypatch):
    def absent(_calls):
        raise UnavailableError("no OpenMP")

    monkeypatch.setattr(openmp, "load", absent)
    with pytest.raises(UnavailableError):
        RungEnvironment("openmp")


def test_a_peer_with_one_board_is_asked_as_it_is_raced():
    results = run(OurChess(), SUITE.cases)
    assert {result.status for result in results} == {PASSES, NOT_OFFERED}
    passed = {result.case for result in results if result.status == PASSES}
    assert {"castle-king-returned", "ep-black", "reward-of-black-mating"} <= passed
    at_its_next_game = [result.case for result in results if "next game has begun" in result.found]
    assert at_its_next_game == ["mask-after-mate", "mask-after-repetition"]


class Cut(PythonChess):
    """Lists two hundred moves at most."""

    def legal_moves(self):
        return super().legal_moves()[:200]


class StalemateWins(PythonChess):
    """Gives a win for a stalemate, and knows no draws."""

    def outcome(self):
        outcome = super().outcome()
        if outcome.reason == "stalemate":
            white = -1 if self._board.turn else 1
            return Outcome(terminated=True, rewards=(white, -white))
        return outcome if outcome.reason == "checkmate" else Outcome()


class EarlyClaim(PythonChess):
    """Ends a game a ply before its draw, as a player may claim it."""

    def outcome(self):
        claim = self._board.can_claim_draw()
        return Outcome(terminated=True, rewards=(0, 0)) if claim else super().outcome()


class Terminates(PythonChess):
    """Calls a limit an end of the game."""

    def outcome(self):
        outcome = super().outcome()
        return Outcome(outcome.over, False, outcome.rewards)


class FromTheStart(PythonChess):
    """Begins nowhere else."""

    def begin(self, fen=None, chess960=False, max_plies=None):
        if fen:
            raise UnsupportedError("a position to begin with")
        super().begin(fen, chess960, max_plies)


class Forgets(PythonChess):
    """Takes every FEN and move, and writes the positions it began at."""

    def begin(self, fen=None, chess960=False, max_plies=None):
        super().begin(fen, chess960, max_plies)
        self._first = self._board.copy()

    def fen(self):
        return self._first.fen()

    def refuses_fen(self, fen):
        return False

    def refuses_move(self, move):
        return False


class Faulty(RungEnvironment):
    """A rung behind answers that are wrong in many ways."""

    def __init__(self):
        super().__init__("cpp")

    def action(self, move):
        return super().action(move).replace("N", "S")

    def planes(self):
        return super().planes()[:, ::-1]

    def batch(self, games, autoreset, max_plies=None):
        return super().batch(games, "disabled", max_plies)

    def drawn(self, seed, games):
        return super().drawn(seed % 2**31 + games, games)


class Raises(PythonChess):
    """Can't play."""

    def play(self, move):
        raise RuntimeError("no piece\nthere")


WRITTEN = ["FEN refused", "FEN written", "illegal moves", "many moves"]
CLAIMS = ["repetition", "fifty moves", "mate and stalemate"]
# By a fault: groups of cases, some that fail, and some that pass; "" for all others of the groups.
FAULTS = {
    Cut: (["many moves"], "most-moves-white most-moves-black", ""),
    Terminates: (["limits"], "limit-truncates limit-of-one limit-odd", ""),
    StalemateWins: (
        [*CLAIMS, "dead positions"],
        "stalemate-of-black repetition-third fifty-moves dead-kings",
        "mate-by-white",
    ),
    EarlyClaim: (
        CLAIMS,
        "repetition-not-yet fifty-moves-not-yet",
        "mate-by-white stalemate-of-white",
    ),
    Faulty: (
        ["actions", "planes", "autoreset", "batches", "seeds"],
        "action-of-the-start planes-own-at-the-start same-step-mate next-step-begins seed-large "
        "seed-batch-size",
        "seed-again seed-boards-differ batch-beside-others",
    ),
}


def failed(environment, groups):
    results = run(environment, SUITE.of_groups(groups).cases)
    return {result.case for result in results if result.status == FAILS}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_found_by_the_cases_about_it(fault):
    groups, *named = FAULTS[fault]
    found, (fails, passes) = failed(fault(), groups), ({*names.split()} for names in named)
    assert fails <= found
    assert not found & (passes or found - fails)


def test_an_environment_that_forgets_is_found_by_all_cases_of_what_it_forgets():
    cases = SUITE.of_groups(WRITTEN).cases
    about = {c.id for c in cases if c.refused or c.illegal or (c.position and c.moves)}
    assert failed(Forgets(), WRITTEN) == about


def test_a_failure_names_the_position_and_both_sides():
    result = check(EarlyClaim(), BY_ID["repetition-third"])
    assert result.fen.endswith("/RNBQKBNR b KQkq - 7 4")
    result = check(StalemateWins(), BY_ID["stalemate-of-white"])
    assert ("0" in result.expected, "-1" in result.found) == (True, True)
    result = check(Raises(), BY_ID["mate-by-white"])
    assert result.status == FAILS
    assert "RuntimeError: no piece there" in result.found


def test_what_is_not_offered_is_no_failure():
    groups = ["many moves", "limits", "FEN refused", "illegal moves", "actions", "planes"]
    cases = SUITE.of_groups(groups).cases
    results = run(FromTheStart(), cases)
    assert {result.status for result in results} == {PASSES, NOT_OFFERED}
    others = ("refused", "actions", "planes")  # python-chess has no actions and planes
    given = {c.id for c in cases if c.fen and not any(getattr(c, o) for o in others)}
    not_offered = {result.case: result.found for result in results if result.status == NOT_OFFERED}
    assert given <= set(not_offered)
    assert {case for case in not_offered if "to begin with" in not_offered[case]} == given


def test_a_report_counts_what_holds():
    suite = SUITE.of_groups(["many moves"])
    played = {"A": run(Cut(), suite.cases), "B": run(FromTheStart(), suite.cases)}
    assert report.summary(suite, played)[:2] == [
        ("group", "kind", "A", "B"),
        ("many moves", "law", "3 of 5", "2 of 2"),
    ]


YOURS = """
import os
from rungs._src.conformance.environments import PythonChess

class Mine(PythonChess):
    pass

class Crashes(PythonChess):
    def play(self, move):
        os._exit(3)
"""


def test_a_missing_module_of_ours_is_a_fault_and_not_an_installation(tmp_path):
    (tmp_path / "mine.py").write_text("import rungs.nothing\n")
    (tmp_path / "theirs.py").write_text("import nothing_of_anyone\n")
    with pytest.raises(ModuleNotFoundError, match="nothing"):
        environments.make(f"{tmp_path}/mine.py:Mine")
    with pytest.raises(UnavailableError, match="nothing_of_anyone"):
        environments.make(f"{tmp_path}/theirs.py:Theirs")


class TestCommand:
    @pytest.fixture
    def file(self, tmp_path):
        (tmp_path / "mine.py").write_text(YOURS)
        return tmp_path / "mine.py"

    def test_a_class_of_yours_joins(self, file, capsys):
        arguments = ["conformance", f"{file}:Mine", "--group", "limits", "--group", "check"]
        assert cli.main(arguments) == 0
        table = capsys.readouterr().out
        assert "limits" in table
        assert "9 of 9" in table

    def test_a_crash_is_a_failure_and_the_next_case_is_played(self, file, tmp_path):
        out = tmp_path / "table.json"
        arguments = ["conformance", f"{file}:Crashes", "--group", "check", "--group", "limits"]
        assert cli.main([*arguments, "--format", "json", "--out", str(out)]) == 1
        read = json.loads(out.read_text())
        assert read["suite"] == SUITE.version
        (entry,) = read["environments"].values()
        by_case = {result["case"]: result for result in entry["results"]}
        assert by_case["check-pinned-pieces"]["status"] == PASSES
        crash = by_case["limit-at-mate"]
        assert (crash["status"], crash["expected"]) == (FAILS, "no crash")
        assert "worker 0" in crash["found"]

    def test_what_is_not_there_is_named(self, file, capsys):
        for name, says in (
            ("Fritz", "'Fritz'"),
            (f"{file}:Yours", "Yours"),
            ("nowhere.py:Mine", "nowhere.py"),
        ):
            assert cli.main(["conformance", name, "--group", "limits"]) == 2
            assert says in capsys.readouterr().err

    def test_what_is_not_here_cannot_be_asked(self, monkeypatch, capsys):
        def play(name, cases):
            if name not in ("python", "cpp"):
                raise UnavailableError(f"{name} needs a package")
            return run(RungEnvironment(name), cases)

        monkeypatch.setattr(sys.modules["rungs._src.conformance.run"], "run_aside", play)
        assert cli.main(["conformance", "rungs", "--group", "limits"]) == 0
        said = capsys.readouterr().out
        assert f"python {__version__}, cpp {__version__}" in said
        assert said.count("needs a package") == len(environments.rung_names()) - 2
        assert cli.main(["conformance", "openmp", "--group", "limits"]) == 2  # asked for by name
        assert "openmp needs a package" in capsys.readouterr().err

    def test_names_that_stand_for_several(self):
        assert environments.named(["rungs", "cpp"])["cpp"] == ("cpp", False)
        projects = [name for name in peers.CHESS if name != "rungs"]
        assert [*peers.to_be_asked(["peers"])] == [environments.PYTHON_CHESS, *projects]
        name, may_lack = peers.to_be_asked(["peers", "Pgx", "peers"])["Pgx"]
        assert (name, may_lack) == ("rungs_course.peers.pgx:PgxChess", False)
        with pytest.raises(ConfigurationError, match="others"):
            environments.named(["others"])
