"""Who compiles the C++ that a rung runs, and which of a wheel's code a processor gets."""

import re

import pytest

import rungs
from rungs.compile import cling, library, loader
from rungs.compile.variants import VARIANTS, file_name, of_machine
from rungs.errors import ConfigurationError, UnavailableError, install_hint

BEST_FIRST = of_machine("x86_64")


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """An installation that holds code for every processor of a family, and what processors have."""
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    for variant in BEST_FIRST:
        (tmp_path / file_name(variant)).touch()
    return lambda features: monkeypatch.setattr(library, "cpu_features", lambda: features)


@pytest.mark.parametrize("variant", BEST_FIRST, ids=lambda variant: variant.name)
def test_a_processor_gets_the_best_that_it_can_run(wheel, variant):
    wheel(" ".join((*variant.features, "and", "others")))
    assert library.chosen() is variant
    # Whatever one of its instruction sets is missing, it is not run.
    for missing in variant.features:
        wheel(" ".join(each for each in variant.features if each != missing))
        worse = BEST_FIRST[BEST_FIRST.index(variant) + 1 :]
        able = [each for each in worse if missing not in each.features]
        if able:
            assert library.chosen() is able[0]
        else:
            with pytest.raises(UnavailableError, match="does not run on this processor"):
                library.chosen()


def test_of_an_unknown_processor_the_least_is_assumed_but_where_one_is_asked_for(
    wheel, monkeypatch
):
    wheel("")
    assert library.chosen() is BEST_FIRST[-1]
    monkeypatch.setenv("RUNGS_ISA", "x86-64-v3")
    assert library.chosen().name == "x86-64-v3"


def test_one_can_be_forced(wheel, monkeypatch):
    wheel(" ".join(BEST_FIRST[1].features))
    monkeypatch.setenv("RUNGS_ISA", "x86-64-v2")
    assert library.chosen().name == "x86-64-v2"
    monkeypatch.setenv("RUNGS_ISA", "x86-64-v4-bits")
    with pytest.raises(UnavailableError, match="this processor lacks avx512_bitalg"):
        library.chosen()
    monkeypatch.setenv("RUNGS_ISA", "z80")
    with pytest.raises(UnavailableError, match="'z80' is none of what is compiled here: x86-64-v4"):
        library.chosen()


def test_a_wheel_s_code_comes_first(wheel, monkeypatch):
    monkeypatch.delenv("RUNGS_COMPILER", raising=False)
    assert loader.chosen() == "wheel"
    monkeypatch.setattr(library, "is_here", lambda: False)
    assert loader.chosen() == "cling"
    monkeypatch.setattr(cling, "is_here", lambda: False)
    assert loader.chosen() == "g++"


def test_who_compiles_can_be_said(monkeypatch):
    monkeypatch.setenv("RUNGS_COMPILER", "g++")
    assert loader.chosen() == "g++"
    assert loader.chosen("cling") == "cling"
    monkeypatch.setenv("RUNGS_COMPILER", "tcc")
    with pytest.raises(ConfigurationError, match="RUNGS_COMPILER='tcc'"):
        loader.chosen()
    for name in ("chess", "cartpole"):
        with pytest.raises(ConfigurationError, match="compiler='tcc'"):
            rungs.make(name, "cpp", 1, compiler="tcc")


def test_a_source_tree_holds_no_compiled_code():
    assert not library.is_here()
    with pytest.raises(UnavailableError):
        library.load()
    assert len({variant.name for variant in VARIANTS}) == len(VARIANTS)


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.setattr(cling, "is_here", lambda: False)
    monkeypatch.setattr(cling, "_loaded", None)
    with pytest.raises(UnavailableError, match=re.escape(install_hint("cling"))):
        cling.load()
