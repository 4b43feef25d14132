"""Engines that start processes: those end with the engine, however that ends."""

import os
import signal
import subprocess
import sys
import time

import pytest

import rungs
from rungs._src.chess.engine import UciEngine
from rungs.errors import EngineError
from tests.library.chess.test_engine import SCRIPT, fake  # noqa: F401 (a fixture)

# The fake engine, with a child that has its input and output and ignores the end of both.
WITH_A_CHILD = "(trap '' HUP INT TERM; sleep 1000) & exec "


@pytest.fixture
def parent(fake):  # noqa: F811
    """Writes the fake engine's program, with a child, and says which processes are running."""
    write = fake.__call__

    class Parent(type(fake)):
        def __call__(self, *failure, **settings):
            engine = write(*failure, **settings)
            program = self.program.read_text()
            marked = f"export RUNGS_TEST={self.program.parent}\n" + WITH_A_CHILD
            self.program.write_text(
                program.replace(f"RUNGS_TEST={self.program.parent} exec ", marked)
            )
            return engine

    return Parent()


def started(parent, most_seconds=60):
    """Waits until engine and child are both seen."""
    end = time.monotonic() + most_seconds
    while len(parent.running()) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    return len(parent.running()) >= 2


def opened(engine):
    env = rungs.make("chess", "cpp", 2, opponent=engine)
    env.reset()
    return env


@pytest.mark.parametrize("how", ["closed", "forgotten"])
def test_an_engines_children_end_with_the_environment(parent, how):
    env = opened(parent())
    assert started(parent)
    if how == "closed":
        env.close()
    del env
    assert parent.all_gone()


# That it crashed is seen only when it is late, as its child has its output.
@pytest.mark.parametrize("failure", ["nonsense", pytest.param("crash", marks=pytest.mark.system)])
def test_an_engines_children_end_when_it_fails(parent, failure):
    env = opened(parent(failure, "2"))
    assert started(parent)
    with pytest.raises(EngineError):
        env.step([env.legal_moves(0)["e2e4"], env.legal_moves(1)["e7e5"]])
    assert parent.all_gone()
    env.close()


@pytest.mark.system
@pytest.mark.parametrize("how", ["exits", "raises", "killed"])
def test_an_engines_children_end_with_the_process(parent, how):
    engine = parent()
    done = subprocess.run([sys.executable, "-c", SCRIPT, engine.path, how], timeout=60)
    assert done.returncode == {"exits": 0, "raises": 1, "killed": -signal.SIGKILL}[how]
    assert parent.all_gone()


def test_what_keeps_the_group_is_gone_as_well():
    engine = UciEngine(sys.executable, timeout=0.5)  # no engine at all
    before = children()
    env = rungs.make("chess", "cpp", 2, opponent=engine)
    with pytest.raises(EngineError):
        env.reset()
    env.close()
    assert children() == before


def children():
    listed = f"/proc/{os.getpid()}/task"
    return {
        child
        for task in os.listdir(listed)
        for child in open(f"{listed}/{task}/children").read().split()
    }
