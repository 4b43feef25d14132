"""The suite says what python-chess says."""

import json

import chess
import pytest

from rungs import conformance
from rungs._src.conformance.environments import PythonChess
from rungs._src.conformance.run import NOT_OFFERED, PASSES
from rungs._src.conformance.suite import load
from rungs.errors import ConfigurationError
from tests.proof.conformance import expected

SUITE = load()
BY_ID = {case.id: case for case in SUITE.cases}
DATA = json.loads(expected.SUITE.read_text())
CASES = {case["id"]: case for group in DATA["groups"] for case in group["cases"]}


def test_all_that_is_expected_follows_from_python_chess():
    assert [name for name, case in CASES.items() if case != expected.expected(case)] == []


def test_a_wrong_expectation_is_derived_otherwise():
    """Each kind of expectation, made wrong, is not what is derived."""
    changes = {
        "ep-white": {"legal": ["e5d6"]},
        "mate-by-white": {"ending": "stalemate"},
        "reward-of-white-mating": {"rewards": [-1, 1]},
        "fen-en-passant": {"position": chess.STARTING_FEN},
        "action-castling": {"actions": {"e1g1": "e1 E3"}},
        "planes-clock": {"planes": {"118": 4}},
        "illegal-pinned": {"illegal": ["e1f1"]},
    }
    changes["fen-no-white-king"] = {"fen": chess.STARTING_FEN}  # which is refused
    for name, values in changes.items():
        case = CASES[name] | values
        assert expected.expected(case) != case, name


def test_the_file_is_as_it_is_written():
    assert expected.SUITE.read_text() == expected.as_text(DATA)


def test_python_chess_behind_the_protocol_passes():
    results = {r.case: r.status for r in conformance.run(PythonChess(), SUITE.cases)}
    assert set(results.values()) == {PASSES, NOT_OFFERED}
    not_offered = {BY_ID[case].group for case in results if results[case] == NOT_OFFERED}
    assert not_offered == {"actions", "planes", "autoreset", "batches", "seeds"}


GROUP = {"name": "a", "kind": "law", "source": "", "what": ""}
CASE = {"id": "x", "why": ""}


def suite_of(*cases, **group):
    return {"schema": 1, "version": 1, "groups": [GROUP | group | {"cases": list(cases)}]}


WRONG = {"legall": [], "ending": "lost", "autoreset": "never", "drawn": "often"}


def test_a_malformed_suite_is_refused(tmp_path):
    path = tmp_path / "suite.json"
    for says, suite in (
        ("groups", {"schema": 1, "version": 1}),
        ("schema 2", suite_of(CASE) | {"schema": 2}),
        ("'x'", suite_of(CASE, CASE)),
        ("'odd'", suite_of(kind="odd")),
        *((value or name, suite_of(CASE | {name: value})) for name, value in WRONG.items()),
    ):
        path.write_text(json.dumps(suite))
        with pytest.raises(ConfigurationError, match=says):
            load(path)
    path.write_text("{")
    with pytest.raises(ConfigurationError, match=r"suite\.json"):
        load(path)


def test_an_unknown_group_is_named():
    assert {case.group for case in SUITE.of_groups(["limits"]).cases} == {"limits"}
    with pytest.raises(ConfigurationError, match="castles"):
        SUITE.of_groups(["castles"])
