"""How long a run will take: where that is taken from, and how it is printed."""

import pytest

from rungs_course.measure import results
from rungs_course.runner import manifest as manifests
from rungs_course.runner import pace


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


def test_what_is_left_is_what_it_took_before():
    expected = {"01_a": 10.0, "02_b": 200.0}
    assert pace.about(expected, ["01_a"]) == "about 10 s"
    assert pace.about(expected, expected) == "about 4 min"
    assert pace.about({}, ["01_a"]) == ""


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5400, "90 min")]
)
def test_times_are_written_for_a_reader_who_waits(seconds, words):
    assert pace.in_words(seconds) == words
    assert pace.in_words(7200) == "2.0 h"


def test_the_last_run_comes_first_then_this_machine_then_any(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "slug", lambda: "here")
    out, recorded = tmp_path / "run", tmp_path / "data" / "recorded"

    def expected(size="quick"):
        return pace.expect(size, ["01_a"], out, tmp_path).get("01_a")

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
    assert pace.expect("quick", ["01_a", "02_b"], out, tmp_path) == {"01_a": 2, "02_b": 4}
    manifests.write(run("quick", {"01_a": 3.0}, status="failed"), out)
    assert expected() == 2


def test_recorded_seconds_say_where_they_come_from(tmp_path):
    path = pace.record(run("smoke", {"01_a": 1.26}), tmp_path)
    table = results.load(path)
    assert table.to_dict("records") == [
        {"size": "smoke", "notebook": "01_a", "seconds": 1.3, "commit": "abc", "date": "2026-01-01"}
    ]
    assert int(table.attrs["provenance"]["cores"]) >= 1
