"""The doctor goes on whatever is broken, and says what is."""

import pytest

from rungs import cli, doctor, registry
from rungs.errors import SamenessError, UnavailableError


def broken(error):
    def make(env_id, rung, num_envs):
        if rung == "cpp":
            raise error
        return registry_make(env_id, rung, num_envs)

    registry_make = registry.make
    return make


def test_all_that_is_needed_works_here():
    findings = {finding.what: finding for finding in doctor.examine()}
    needed = [finding for finding in findings.values() if finding.needed]
    assert len(needed) >= 8
    assert all(finding.works for finding in needed), needed
    assert {"chess on cuda", "two MPI ranks", "hardware counters", "GPU", "Pgx"} <= findings.keys()
    assert all(finding.detail for finding in findings.values())


@pytest.mark.parametrize("error", [UnavailableError("no such thing"), OSError("no such thing")])
def test_what_is_broken_is_said_and_the_rest_goes_on(monkeypatch, capsys, error):
    monkeypatch.setattr(registry, "make", broken(error))
    assert cli.main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Rungs ")
    (line,) = [line for line in lines if "chess on cpp" in line]
    assert line.startswith("BROKEN")
    assert "no such thing" in line
    assert any(line.startswith("works     chess on openmp") for line in lines)


def test_a_rung_that_plays_other_games_is_found(monkeypatch):
    make = registry.make

    def shorter(env_id, rung, num_envs):
        return make(env_id, rung, num_envs, **({"max_plies": 3} if rung == "cpp" else {}))

    monkeypatch.setattr(registry, "make", shorter)
    with pytest.raises(SamenessError, match="other games"):
        doctor._play("cpp")
