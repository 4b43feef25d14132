"""Provenance that can't be lost, and tables that come back as they were saved."""

import os

import pandas as pd
import pytest

from rungs import __version__
from rungs._src import provenance
from rungs.errors import ConfigurationError
from rungs.machine import describe
from rungs_course.machine import naming
from rungs_course.measure import results
from rungs_course.measure.peaks import core_speed


def test_a_result_says_where_it_comes_from(tmp_path):
    frame = pd.DataFrame({"rung": ["python", "cpp"], "seconds": [0.5, 1 / 3]})
    path = tmp_path / "new" / "x.csv"
    results.save(frame, path, {"size": "smoke", "seed": 4})
    loaded = results.load(path)
    pd.testing.assert_frame_equal(loaded, frame)
    facts = loaded.attrs["provenance"]
    assert facts["seed"] == "4"
    for fact in ("numpy", "torch", "cppyy", "g++", "commit", "date"):
        assert facts[fact] not in ("", "None")
    here = describe() | core_speed()
    for name in (*naming.SAME, *core_speed()):
        assert facts[name] == str(here[name])


@pytest.mark.parametrize("values", [["Qh7#", "# x: y", "e4"], ["null", "NA", "cpp"]])
def test_a_hash_is_no_comment_and_a_racer_called_null_is_not_missing(tmp_path, values):
    frame = pd.DataFrame({"name": values, "seconds": [1.0, None, 3.0]})
    results.save(frame, tmp_path / "x.csv", {"seed": 0})
    loaded = results.load(tmp_path / "x.csv")
    pd.testing.assert_frame_equal(loaded, frame, check_dtype=False)
    assert "x" not in loaded.attrs["provenance"]


@pytest.mark.parametrize("parameters", [{"cores": 64}, {"commit": "x"}, {"note": "a\nb"}])
def test_a_parameter_that_would_spoil_the_provenance_is_refused(tmp_path, parameters):
    (name,) = parameters
    with pytest.raises(ConfigurationError, match=name):
        results.save(pd.DataFrame({"a": [1]}), tmp_path / "x.csv", parameters)
    assert not list(tmp_path.iterdir())


def test_a_package_that_is_not_installed_is_no_error(monkeypatch):
    monkeypatch.setattr(provenance, "_PACKAGES", ("numpy", "no-such-package"))
    facts = provenance.provenance({})
    assert facts["no-such-package"] is None
    assert facts["numpy"]
    assert facts["rungs"] == __version__


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\xff\xfe\x80",
        b"a\n1\n",
        b"# some numbers\na\n1\n",
        b"# machine: x\n\xff\xfe",
        b"# machine: x\n",
        b"# machine: x\na\n1\n2,3\n",
        b"# machine: A\n# machine: B\na\n1\n",
        os.mkfifo,
        os.mkdir,
        lambda path: None,
    ],
)
def test_what_is_no_table_with_provenance_is_named(tmp_path, content):
    path = tmp_path / "x.csv"
    content(path) if callable(content) else path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"x\.csv"):
        results.load(path)


def test_recorded_results_of_this_machine_come_first(tmp_path):
    recorded = tmp_path / "data" / "recorded"
    assert results.recorded_folders(tmp_path) == []
    for name in ("zzz", "aaa", naming.slug()):
        (recorded / name).mkdir(parents=True)
    names = [path.name for path in results.recorded_folders(tmp_path)]
    assert names == [naming.slug(), "aaa", "zzz"]


FEATURES = {"fpu hypervisor": True, "fpu sse": False, "fp asimd": None, "": None}


@pytest.mark.parametrize(("features", "virtual"), FEATURES.items())
def test_virtual_only_where_the_system_tells(monkeypatch, features, virtual):
    monkeypatch.setattr("rungs._src.machine.describe.cpu_features", lambda: features)
    assert describe()["virtual"] is virtual
