"""The doctor goes on whatever is broken, and says what is."""

import itertools

import pytest

from rungs._src import registry
from rungs._src.native import cling
from rungs.errors import MismatchError, UnavailableError
from rungs_course import cli, doctor
from rungs_course.doctor import Finding

FINDINGS = [
    Finding("OpenMP", True, True, "a team of 2 threads"),
    Finding("chess on python", True, True, "40 plies"),
    Finding("chess on cpp", True, True, "40 plies"),
    Finding("chess on mpi", False, False, "no MPI"),
    Finding("Stockfish", False, False, "for an opponent: apt-get install stockfish"),
]
BROKEN = Finding("chess on openmp", False, True, "no such thing")


@pytest.mark.system
def test_all_that_is_needed_works_here():
    findings = {finding.what: finding for finding in doctor.examine()}
    needed = [finding for finding in findings.values() if finding.needed]
    assert len(needed) >= 8
    assert all(finding.works for finding in needed), needed
    assert {"chess on cuda", "two MPI ranks", "hardware counters", "GPU", "Pgx"} <= findings.keys()
    assert all(finding.detail for finding in findings.values())


@pytest.mark.parametrize("error", [UnavailableError("no such thing"), OSError("no such thing")])
def test_whatever_breaks_is_said_and_the_rest_goes_on(monkeypatch, error):
    make = registry.make

    def broken(env_id, rung, num_envs):
        if rung == "multiprocessing":
            raise error
        return make(env_id, rung, num_envs)

    monkeypatch.setattr(registry, "make", broken)
    monkeypatch.setattr(cling, "load", lambda: None)  # which takes 20 s
    findings = doctor._examine_quickly()
    for finding in findings:
        if finding.what == "chess on multiprocessing":
            assert finding.needed
            assert not finding.works
            assert "no such thing" in finding.detail
            break
    rest = {finding.what: finding for finding in itertools.islice(findings, 2)}
    assert rest["chess on cpp"] == Finding(
        "chess on cpp", True, True, "40 plies, as python-chess plays them"
    )


@pytest.mark.parametrize(("findings", "status"), [(FINDINGS, 0), ([*FINDINGS, BROKEN], 1)])
def test_the_command_says_what_was_found(monkeypatch, capsys, findings, status):
    monkeypatch.setattr(doctor, "examine", lambda: iter(findings))
    assert cli.main(["doctor"]) == status
    _, *lines = capsys.readouterr().out.splitlines()
    assert lines[0].split(maxsplit=2) == ["works", "OpenMP", "a team of 2 threads"]
    assert lines[3].startswith("not here  chess on mpi")
    assert [line[:6] for line in lines[5:]] == ["BROKEN"] * status


def test_the_summary_says_what_works_and_what_is_not_here(monkeypatch):
    monkeypatch.setattr(doctor, "_examine_quickly", lambda: iter(FINDINGS))
    works, missing = doctor.summary().splitlines()
    assert works == "works: chess on python, cpp; OpenMP"
    assert "chess on mpi (no MPI)" in missing
    monkeypatch.setattr(doctor, "_examine_quickly", lambda: iter([*FINDINGS, BROKEN]))
    with pytest.raises(UnavailableError, match="broken: chess on openmp: no such thing"):
        doctor.summary()


@pytest.mark.system
def test_a_compiler_whose_code_plays_other_games_is_found(monkeypatch):
    assert doctor._compilers() == "40 steps, the same by g++ and cling"
    make = registry.make

    def shorter(env_id, rung, num_envs, compiler, **settings):
        if (env_id, compiler) == ("cartpole", "g++"):
            settings["max_episode_steps"] = 3
        return make(env_id, rung, num_envs, compiler=compiler, **settings)

    monkeypatch.setattr(registry, "make", shorter)
    with pytest.raises(MismatchError, match=r"cling: .* in step"):
        doctor._compilers()


def test_a_rung_that_plays_other_games_is_found(monkeypatch):
    make = registry.make

    def shorter(env_id, rung, num_envs):
        return make(env_id, rung, num_envs, **({"max_plies": 3} if rung == "cpp" else {}))

    monkeypatch.setattr(registry, "make", shorter)
    with pytest.raises(MismatchError, match=r"cpp: .* in step"):
        doctor._play("cpp")
