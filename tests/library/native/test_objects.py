"""Sources compiled by g++ into objects, which libraries share."""

import threading
import time
from pathlib import Path

import pytest

from rungs._src import paths
from rungs._src.native import gpp, headers
from rungs.errors import CompilerError

FLAGS = ["-std=c++20", "-shared", "-fPIC", f"-I{paths.CPP}"]
SOURCE = """#include "bindings/abi.hpp"
#include "number.hpp"
RUNGS_FUNCTION(std::int64_t, {name}, std::int64_t added) {{ return NUMBER + added; }}
"""


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A folder of small sources, `a.cpp` to `c.cpp`, in the place of ours, and an empty cache."""
    folder = tmp_path / "cpp"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.cpp").write_text(SOURCE.format(name=name))
    (folder / "number.hpp").write_text("#ifndef NUMBER\n#define NUMBER 1\n#endif\n")
    monkeypatch.setattr(paths, "CPP", folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    gpp._version()  # which is asked for once in a process
    return folder


@pytest.fixture
def commands(monkeypatch):
    """The commands that are run, as they begin."""
    begun, run = [], gpp.run

    def noted(command):
        begun.append(command)
        return run(command)

    monkeypatch.setattr(gpp, "run", noted)
    return begun


def compiled(commands):
    """Returns the sources that were compiled since the last call."""
    made = sorted(Path(word).name for each in commands for word in each if word.endswith(".cpp"))
    commands.clear()
    return made


def test_libraries_share_what_is_compiled_of_their_sources(sources, commands):
    library = gpp.loaded("ab", ["a.cpp", "b.cpp"], FLAGS)
    assert (library.a(1), library.b(2)) == (2, 3)
    assert compiled(commands) == ["a.cpp", "b.cpp"]
    other = gpp.loaded("ac", ["a.cpp", "c.cpp"], FLAGS, ["-DNUMBER=5"])
    assert (other.a(1), other.c(1)) == (2, 6)
    assert compiled(commands) == ["c.cpp"]
    assert gpp.loaded("ba", ["b.cpp", "a.cpp"], FLAGS) is not library
    assert not compiled(commands)
    assert gpp.loaded("a", ["a.cpp"], [*FLAGS, "-DNUMBER=7"]).a(0) == 7
    assert compiled(commands) == ["a.cpp"]
    assert gpp.loaded("a", ["a.cpp"], FLAGS).a(0) == 1
    assert not compiled(commands)


def test_two_are_compiled_at_a_time(sources, monkeypatch):
    both, run = threading.Barrier(2), gpp.run

    def waiting(command):
        if "-c" in command:
            both.wait(timeout=60)
        return run(command)

    monkeypatch.setattr(gpp, "run", waiting)
    assert gpp.loaded("ab", ["a.cpp", "b.cpp"], FLAGS).b(0) == 1


def test_a_source_that_is_refused_is_named_and_mended(sources, commands):
    whole = (sources / "b.cpp").read_text()
    (sources / "b.cpp").write_text("this is no C++")
    with pytest.raises(CompilerError, match=r"b\.cpp:1"):
        gpp.loaded("ab", ["a.cpp", "b.cpp"], FLAGS)
    assert not list(sources.parent.glob("cache/rungs/ab-*-*"))
    (sources / "b.cpp").write_text(whole)
    headers._fingerprint_at.cache_clear()
    assert gpp.loaded("ab", ["a.cpp", "b.cpp"], FLAGS).b(0) == 1


def test_an_edited_file_is_found_soon(sources):
    before = gpp.loaded("a", ["a.cpp"], FLAGS)
    (sources / "number.hpp").write_text("#define NUMBER 3\n")
    time.sleep(headers._LOOKS_EVERY)
    assert gpp.loaded("a", ["a.cpp"], FLAGS).a(0) == 3
    assert before.a(0) == 1
