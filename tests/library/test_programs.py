"""Other programs: those that hang, print any bytes, or can't be run."""

import os
import signal
import subprocess
import sys
from unittest import mock

import pytest

from rungs._src import programs, provenance
from rungs._src.machine import gpu
from rungs._src.native import gpp
from rungs._src.programs import run_program
from rungs.errors import CompilerError, ConfigurationError, UnavailableError
from tests.processes import poll


def script(text):
    def make(path):
        path.write_text(text)
        path.chmod(0o755)

    return make


# What a folder of PATH may hold in a program's place.
UNUSABLE = {
    "nothing": lambda path: None,
    "a text": lambda path: path.write_text("text"),
    "no program": script("\x00\x01"),
    "without its interpreter": script("#!/missing/sh\n"),
    "a folder": lambda path: path.mkdir(),
    "a loop of links": lambda path: path.symlink_to(path),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_what_can_not_be_run_is_not_available(tmp_path, monkeypatch, what):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(provenance, "_git", provenance._git.__wrapped__)  # tests keep its answers
    for name in ("nvidia-smi", "git", "g++"):
        UNUSABLE[what](tmp_path / name)
    assert gpu.name.__wrapped__() is None
    assert provenance.commit() is None
    with pytest.raises(CompilerError, match=r"g\+\+"):
        gpp.version()


@pytest.mark.parametrize("text", ["exec 1>&-", "echo", "kill -SEGV $$", "exit 3"])
def test_a_compiler_that_says_nothing_is_named(tmp_path, monkeypatch, text):
    script(f"#!/bin/sh\n{text}\n")(tmp_path / "g++")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompilerError, match=r"g\+\+ .*(nothing|status -?\d)"):
        gpp.version()


@pytest.mark.parametrize("octal", [r"\377\376", r"\0"])
def test_any_bytes_are_text(tmp_path, monkeypatch, octal):
    script(f"#!/bin/sh\nprintf '{octal}\\n'\n")(tmp_path / "nvidia-smi")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert isinstance(gpu.name.__wrapped__(), str)


@pytest.mark.parametrize("text", ["sleep 600", "sleep 600 & exit", "cat; sleep 600"])
@pytest.mark.parametrize("named", [r"sh .* 0\.2 s", "sh .*thread"])
def test_what_takes_too_long_or_gets_no_thread_is_ended_with_all_that_it_started(
    tmp_path, monkeypatch, text, named
):
    marked = {"env": os.environ | {"RUNGS_TEST": str(tmp_path)}}
    with monkeypatch.context() as patch:
        if "thread" in named:
            refuses = mock.Mock(side_effect=RuntimeError("can't start new thread"))
            patch.setattr(programs.threading.Thread, "start", refuses)
        with pytest.raises(UnavailableError, match=named):
            run_program(["sh", "-c", text], 0.2, "input", **marked)
    if sys.platform == "linux":
        command = f"grep -lsz {tmp_path} /proc/[0-9]*/environ"
        # What was killed may take a moment to be gone.
        poll(lambda: not subprocess.run(["sh", "-c", command], capture_output=True).stdout)


def test_a_command_that_can_not_be_is_an_error():
    for command in (["a\0b"], ["/missing/program"], ["true", "a\0b"]):
        with pytest.raises(UnavailableError, match=command[0].partition("\0")[0]):
            run_program(command, 1.0)
    for name in (None, 5, ["sh"]):
        with pytest.raises(ConfigurationError, match="name="):
            programs.find_program(name)


@pytest.mark.skipif(sys.platform != "linux", reason="yes and setsid are Linux's")
def test_what_prints_without_end_is_read_to_a_limit(monkeypatch):
    monkeypatch.setattr(programs, "_MAX_CHARACTERS", 10_001)
    printed = run_program(["yes"], 60.0)
    assert (len(printed.stdout), printed.returncode) == (10_001, -signal.SIGPIPE)
    with pytest.raises(UnavailableError, match=r"0\.2 s"):  # of another session, with our pipe
        run_program(["sh", "-c", "setsid sleep 5 & exit"], 0.2)
