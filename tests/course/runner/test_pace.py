"""How long a run will take: where that is taken from, and how it is said."""

import pytest

from rungs_course.measure import results
from rungs_course.runner import manifest as manifests
from rungs_course.runner import pace, progress
from rungs_course.runner.progress import Progress, in_words

NAMES = ["01_a", "02_b", "03_c"]


def run(size, seconds, status="done"):
    """A manifest."""
    notebooks = {name: {"status": status, "seconds": took} for name, took in seconds.items()}
    settings = {"size": size, "parameters": {}, "cell_seconds": 600}
    facts = {
        "commit": "abc",
        "started": "2026-01-01",
        "sources": {},
        "expected": {},
        "versions": {},
    }
    facts |= {"machine": {"machine": "x", "cores": 1, "gpu": None}}
    return facts | {"settings": settings, "notebooks": notebooks}


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""

    class Clock:
        now = 0.0

    monkeypatch.setattr(progress.time, "monotonic", lambda: Clock.now)
    return Clock


def test_what_is_left_follows_how_the_run_has_fared(clock):
    said = []
    told = Progress(NAMES, {"01_a": 10.0, "02_b": 20.0, "03_c": 270.0}, said.append)
    told.begins("01_a")
    clock.now = 20
    told.ends("01_a", 20.0, "")
    told.begins("02_b")
    clock.now = 40  # twice as long as expected, then as long as that
    told.ends("02_b", 20.0, "")
    told.begins("03_c")
    clock.now = 400
    told.ends("03_c", 360.0, "")
    assert said == [
        "[1/3] 01_a … about 10 s; about 5 min left",
        "[1/3] 01_a: 20.0 s; 20 s so far, about 10 min left",
        "[2/3] 02_b … about 40 s; 20 s so far, about 10 min left",
        "[2/3] 02_b: 20.0 s; 40 s so far, about 6 min left",
        "[3/3] 03_c … about 6 min; 40 s so far, about 6 min left",
        "[3/3] 03_c: 360.0 s; 7 min so far",
    ]
    assert told.elapsed() == 400


def test_only_what_is_known_is_said(clock):
    said = []
    told = Progress(NAMES, {"02_b": 20.0}, said.append)
    told.done_before("01_a", 3.25)
    told.begins("02_b")
    clock.now = 5
    told.ends("02_b", 5.0, "no such card")
    told.begins("03_c")
    assert said == [
        "[1/3] 01_a: done before, 3.2 s",
        "[2/3] 02_b … about 20 s",
        "[2/3] 02_b: unavailable here: no such card; 5 s so far",
        "[3/3] 03_c … 5 s so far",
    ]


def test_a_notebook_that_is_unavailable_says_nothing_about_the_pace(clock):
    said = []
    told = Progress(NAMES[:2], {"01_a": 100.0, "02_b": 20.0}, said.append)
    told.begins("01_a")
    clock.now = 1
    told.ends("01_a", 1.0, "no such card")
    assert said[-1].endswith("1 s so far, about 20 s left")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5400, "90 min")]
)
def test_times_are_said_as_one_waits_for_them(seconds, words):
    assert in_words(seconds) == words
    assert in_words(7200) == "2.0 h"


def test_the_last_run_comes_first_then_this_machine_then_any(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "slug", lambda: "here")
    out, recorded = tmp_path / "run", tmp_path / "data" / "recorded"

    def expected(size="quick"):
        return pace.expect(size, ["01_a"], out, tmp_path).seconds.get("01_a")

    assert expected() is None
    pace.record(run("quick", {"01_a": 1.0}), recorded / "another")
    assert expected() == 1
    pace.record(run("quick", {"01_a": 2.0}), recorded / "here")
    assert expected() == 2
    pace.record(run("quick", {"02_b": 4.0}), recorded / "here")
    assert expected() == 2
    manifests.write(run("quick", {"01_a": 3.0}), out)
    assert expected() == 3
    assert expected("full") is None
    assert pace.expect("quick", ["01_a", "02_b"], out, tmp_path).seconds == {"01_a": 2, "02_b": 4}
    assert " of " in pace.expect("quick", ["01_a", "02_b"], out, tmp_path).source
    manifests.write(run("quick", {"01_a": 3.0}, status="failed"), out)
    assert expected() == 2


def test_recorded_seconds_say_where_they_come_from(tmp_path):
    path = pace.record(run("smoke", {"01_a": 1.26}), tmp_path)
    table = results.load(path)
    assert table.to_dict("records") == [
        {"size": "smoke", "notebook": "01_a", "seconds": 1.3, "commit": "abc", "date": "2026-01-01"}
    ]
    assert int(table.attrs["provenance"]["cores"]) >= 1
