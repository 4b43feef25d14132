"""Provenance that can't be lost, and tables that come back as they were saved."""

import platform

import pandas as pd
import pytest

from rungs import __version__
from rungs.errors import ConfigurationError
from rungs.machine import describe as machine
from rungs.measure import results


def test_a_hash_in_a_value_is_no_comment(tmp_path):
    frame = pd.DataFrame({"move": ["Qh7#", "# x: y", "e4"], "games": [1, 2, 3]})
    results.save(frame, tmp_path / "x.csv", {"seed": 0})
    loaded = results.load(tmp_path / "x.csv")
    pd.testing.assert_frame_equal(loaded, frame)
    assert "x" not in loaded.attrs["provenance"]


def test_a_racer_called_null_is_not_missing(tmp_path):
    frame = pd.DataFrame({"racer": ["null", "NA", "cpp"], "seconds": [1.0, None, 3.0]})
    results.save(frame, tmp_path / "x.csv", {"seed": 0})
    pd.testing.assert_frame_equal(results.load(tmp_path / "x.csv"), frame, check_dtype=False)


@pytest.mark.parametrize("parameters", [{"cores": 64}, {"commit": "x"}, {"note": "a\nb"}])
def test_a_parameter_that_would_spoil_the_provenance_is_refused(tmp_path, parameters):
    (name,) = parameters
    with pytest.raises(ConfigurationError, match=name):
        results.save(pd.DataFrame({"a": [1]}), tmp_path / "x.csv", parameters)
    assert not list(tmp_path.iterdir())


def test_a_package_that_is_not_installed_is_no_error(monkeypatch):
    monkeypatch.setattr(results, "_PACKAGES", ("numpy", "no-such-package"))
    facts = results.provenance({})
    assert facts["no-such-package"] is None
    assert facts["numpy"]
    assert facts["rungs"] == __version__


def test_a_comment_is_no_provenance(tmp_path):
    (tmp_path / "x.csv").write_text("# some numbers\na\n1\n")
    with pytest.raises(ConfigurationError, match=r"x\.csv"):
        results.load(tmp_path / "x.csv")


@pytest.mark.parametrize(
    ("features", "virtual"),
    [("fpu hypervisor", True), ("fpu sse", False), (platform.machine(), None)],
)
def test_virtual_only_where_the_system_tells(monkeypatch, features, virtual):
    monkeypatch.setattr(machine, "cpu_features", lambda: features)
    assert machine.describe()["virtual"] is virtual
