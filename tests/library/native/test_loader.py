"""Which compiler is used, and which of a wheel's libraries a processor gets."""

import hashlib
import platform
import re
import resource
import subprocess

import pytest

import rungs
from rungs._src import paths
from rungs._src.native import cling, gpp, headers, loader, wheel
from rungs._src.native.variants import file_name, for_processor, of_machine
from rungs.errors import CompilerError, ConfigurationError, UnavailableError, install_hint
from tests.tiers import system_tier

BEST_FIRST = of_machine("x86_64")


@pytest.fixture
def processor(tmp_path, monkeypatch):
    """An installation that holds code for every processor of a family, and what processors have."""
    monkeypatch.setattr(wheel, "FOLDER", tmp_path)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.delenv("RUNGS_ISA", raising=False)
    for variant in BEST_FIRST:
        file = tmp_path / file_name(variant)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return lambda features: monkeypatch.setattr(wheel, "cpu_features", lambda: features)


@pytest.mark.parametrize("variant", BEST_FIRST, ids=lambda variant: variant.name)
def test_a_processor_gets_the_best_that_it_can_run(processor, variant):
    processor(" ".join((*variant.features, "and", "others")))
    assert wheel.chosen() is variant
    compiled = for_processor(BEST_FIRST, {*variant.features})
    assert compiled == [variant, BEST_FIRST[-1]][: 1 + (variant is not BEST_FIRST[-1])]
    # It is not run where any of its instruction sets is missing.
    for missing in variant.features:
        processor(" ".join(each for each in variant.features if each != missing))
        worse = BEST_FIRST[BEST_FIRST.index(variant) + 1 :]
        able = [each for each in worse if missing not in each.features]
        if able:
            assert wheel.chosen() is able[0]
        else:
            with pytest.raises(UnavailableError, match="this processor"):
                wheel.chosen()


def test_a_wheels_code_comes_first(processor, monkeypatch):
    monkeypatch.delenv("RUNGS_COMPILER", raising=False)
    assert loader.chosen() == "wheel"
    monkeypatch.setattr(wheel, "is_here", lambda: False)
    assert loader.chosen() == "g++"
    monkeypatch.setattr(gpp, "is_here", lambda: False)
    assert loader.chosen() == "cling"
    monkeypatch.setattr(cling, "is_here", lambda: False)
    assert loader.chosen() == "g++"  # which says what to install


def test_a_wheels_loops_with_openmp_come_first_where_it_has_them(processor, tmp_path, monkeypatch):
    monkeypatch.delenv("RUNGS_COMPILER", raising=False)
    for name in loader.COMPILERS:
        monkeypatch.setitem(loader._OPENMP, name, lambda name=name: name)
    assert loader.load_openmp() == "g++"
    (tmp_path / file_name(wheel.chosen(), openmp=True)).touch()
    assert loader.load_openmp() == "wheel"
    assert loader.load_openmp("cling") == "cling"


def test_a_compiler_can_be_chosen(monkeypatch):
    monkeypatch.setenv("RUNGS_COMPILER", "g++")
    assert loader.chosen() == "g++"
    assert loader.chosen("cling") == "cling"
    monkeypatch.setenv("RUNGS_COMPILER", "tcc")
    with pytest.raises(ConfigurationError, match="RUNGS_COMPILER='tcc'"):
        loader.chosen()
    for name in ("chess", "cartpole"):
        with pytest.raises(ConfigurationError, match="compiler='tcc'"):
            rungs.make(name, "cpp", 1, compiler="tcc")


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setattr(cling, "is_here", lambda: False)
    monkeypatch.setattr(cling, "_compile", cling._compile.__wrapped__)
    with pytest.raises(UnavailableError, match=re.escape(install_hint("cling"))):
        cling.load()


def compile_to(path, code):
    command = ["g++", "-std=c++20", "-shared", "-fPIC", f"-I{paths.CPP}", "-x", "c++", "-"]
    subprocess.run([*command, "-o", str(path)], input=code, text=True, check=True)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The bytes of a library with one function."""
    path = tmp_path_factory.mktemp("library") / "made"
    compile_to(
        path,
        '#include "bindings/abi.hpp"\n'
        "RUNGS_FUNCTION(std::int64_t, rungs_answer, std::int64_t question) { return question; }",
    )
    return path.read_bytes()


@pytest.fixture
def installed(library, processor):
    """A wheel's library, and what lists its sum, as `setup.py` does."""
    processor("")
    made = wheel.path(wheel.chosen())

    def list_sums():
        line = f"{hashlib.sha256(made.read_bytes()).hexdigest()}  "
        (wheel.FOLDER / "sha256sums").write_text(f"{line}{made.relative_to(wheel.FOLDER.parent)}\n")

    made.write_bytes(library)
    list_sums()
    return made, list_sums


def test_a_whole_library_is_loaded(installed):
    assert wheel.load().rungs_answer(2**40) == 2**40


@pytest.mark.parametrize("compiler", ["g++", *system_tier("cling")])
def test_a_system_that_opens_no_more_files_is_named(compiler):
    loader.load(compiler)
    headers._fingerprint_at.cache_clear()  # so that it looks at the files
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(CompilerError, match="open files"):
            loader.load(compiler)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    loader.load(compiler)


def test_a_damaged_library_is_refused(installed):
    file, _ = installed
    data = file.read_bytes()
    zeroed, flipped = data[:40] + bytes(len(data) - 40), bytes([data[0] ^ 1]) + data[1:]
    for damaged in (b"", data[:-1], zeroed, flipped):
        file.write_bytes(damaged)
        with pytest.raises(CompilerError, match=file.name):
            wheel.load()


def test_a_library_that_is_whole_and_wrong_is_refused(installed):
    made, list_sums = installed
    compile_to(made, 'extern "C" int rungs_answer() { return 42; }')
    list_sums()
    with pytest.raises(CompilerError, match="rungs_abi"):
        wheel.load()
    made.unlink()  # as what is loaded must not change
    made.write_bytes(b"no library")
    list_sums()
    with pytest.raises(CompilerError, match=made.name):
        wheel.load()
    (wheel.FOLDER / "sha256sums").unlink()
    with pytest.raises(CompilerError, match="sha256sums"):
        wheel.load()


def test_one_can_be_forced_and_an_unknown_processor_gets_the_least(processor, monkeypatch):
    processor("")
    assert wheel.chosen() is BEST_FIRST[-1]
    monkeypatch.setenv("RUNGS_ISA", "x86-64-v3")  # as nothing is known
    assert wheel.chosen().name == "x86-64-v3"
    processor(" ".join(BEST_FIRST[1].features))
    monkeypatch.setenv("RUNGS_ISA", "x86-64-v2")
    assert wheel.chosen().name == "x86-64-v2"
    for isa, why in (("x86-64-v4-bf16", "avx512_bf16"), ("z80", "'z80'.*x86-64-v4")):
        monkeypatch.setenv("RUNGS_ISA", isa)
        with pytest.raises(UnavailableError, match=why):
            wheel.chosen()
