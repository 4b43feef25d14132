"""The doctor goes on whatever is broken, and says what is."""

import pytest

import rungs
from rungs._src.native import cling
from rungs.errors import UnavailableError
from rungs_course import cli, doctor
from rungs_course.doctor import Finding

FINDINGS = [
    Finding("chess on cpp", True, True, "40 plies"),
    Finding("chess on mpi", False, False, "no MPI"),
]
BROKEN = Finding("chess on openmp", False, True, "no such thing")


@pytest.mark.system
def test_all_that_is_needed_works_here():
    findings = {finding.name: finding for finding in doctor.examine()}
    assert all(finding.works for finding in findings.values() if finding.needed), findings
    assert all(finding.detail for finding in findings.values())
    needed = {name for name, finding in findings.items() if finding.needed}
    assert needed >= {"C++", "compilers", "chess on python", "chess on cpp"}
    assert {"chess on cuda", "two MPI ranks", "hardware counters", "GPU", "Pgx"} <= findings.keys()


@pytest.mark.parametrize(
    ("error", "named"),
    [(UnavailableError("no MPI"), "no MPI"), (OSError("no pipe"), "no pipe"), (None, "in step")],
    ids=["unavailable", "broken", "other games"],
)
def test_whatever_breaks_is_said_and_the_rest_goes_on(monkeypatch, error, named):
    make = rungs.make

    def break_one(env_id, rung, num_envs):
        if rung != "multiprocessing":
            return make(env_id, rung, num_envs)
        if error:
            raise error
        return make(env_id, rung, num_envs, max_plies=3)

    monkeypatch.setattr(rungs, "make", break_one)
    monkeypatch.setattr(cling, "load", lambda: None)  # which takes 20 s
    findings = {}
    for finding in doctor._examine_quickly():
        findings[finding.name] = finding
        if finding.name == "chess on cpp":
            break
    broken = findings["chess on multiprocessing"]
    assert (broken.works, broken.needed) == (False, True)
    assert named in broken.detail
    assert (finding.works, finding.needed) == (True, True)


@pytest.mark.parametrize("options", [[], ["--brief"]])
@pytest.mark.parametrize("broken", [[], [BROKEN]])
def test_the_command_fails_where_something_needed_is_broken(monkeypatch, capsys, options, broken):
    for examine in ("examine", "_examine_quickly"):
        monkeypatch.setattr(doctor, examine, lambda: iter([*FINDINGS, *broken]))
    assert bool(cli.main(["doctor", *options])) == bool(broken)
    printed = "".join(capsys.readouterr())
    assert all(finding.detail in printed for finding in broken or FINDINGS[-1:])
