"""The rung `wasm`: what is its own. What it has in common with others, their tests show."""

import subprocess
import sys

import numpy as np
import pytest

import rungs
from rungs._src import listing
from rungs._src.chess.boards.wasm import WasmBoards
from rungs._src.chess.engine import UciEngine
from rungs._src.native import wasm
from rungs.errors import (
    CompilerError,
    ConfigurationError,
    InvalidStateError,
    UnavailableError,
)
from tests.library.wasm import NEEDS_WASM
from tests.proof.anywhere import games


def compiled(test):
    """Marks a test of what `make test-system` compiles first."""
    return pytest.mark.system(NEEDS_WASM(test))


@compiled
def test_it_plays_the_recorded_games(monkeypatch):
    make = rungs.make

    def make_chess(env_id, rung, num_envs, **settings):
        return make(env_id, rung if env_id == "chess" else "cpp", num_envs, **settings)

    monkeypatch.setattr(games.rungs, "make", make_chess)
    games.play("wasm")


@compiled
def test_seeds_are_any_of_64_bits():
    ours, theirs = (rungs.make("chess", rung, 3, opening_plies=(4, 9)) for rung in ("wasm", "cpp"))
    for seed in (0, 2**63 - 1, 2**63, 2**64 - 1, [1, 2**64 - 1, 7]):
        np.testing.assert_array_equal(ours.reset(seed=seed)[0], theirs.reset(seed=seed)[0])


@compiled
def test_a_damaged_state_is_refused_and_the_board_is_named():
    boards = rungs.make("chess", "wasm", 3, first_board=10, obs="planes").boards
    boards.reset(None, 5, 0)
    state, fens = boards.dump(), boards.fens()
    share = (len(state) - len(state) % 3) // 3
    for wrong in (state[:-1], b"x" + state[1:]):
        with pytest.raises(InvalidStateError):
            boards.load(wrong, 5)
    damaged = state[: -2 * share] + bytes(share // 2) + state[-2 * share + share // 2 :]
    with pytest.raises(InvalidStateError, match=r"^board 1[012] of the state: "):
        boards.load(damaged, 5)
    assert boards.fens() == fens
    boards.load(state, 5)
    assert boards.dump() == state


@compiled
def test_it_has_one_thread_no_engine_and_copies_no_boards():
    with pytest.raises(ConfigurationError, match="no setting threads"):
        rungs.make("chess", "wasm", threads=2)
    with pytest.raises(ConfigurationError, match="an engine can't play on the rung wasm"):
        rungs.make("chess", "wasm", opponent=UciEngine("sh", depth=1))
    env = rungs.make("chess", "wasm", 2)
    env.reset(seed=0)
    with pytest.raises(UnavailableError, match="WasmBoards can't copy boards"):
        env.snapshot()
    library = wasm.Library()
    config = np.zeros(1, library.layouts["rungs_chess_config"])
    config["size"], config["num_envs"], config["num_threads"] = config.nbytes, 4096, 2
    with pytest.raises(UnavailableError, match="gives 1 of 2 threads"):
        library.checked("rungs_chess_create", library.put(config), library.room(4))


@compiled
def test_more_boards_than_its_memory_has_room_for_are_refused():
    settings = rungs.make("chess", "cpp", obs="planes").settings
    buffers = rungs.make("chess", "cpp", 1).boards.buffers  # which no step of it will write to
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WasmBoards, "allocate", lambda self, *boards: buffers)
        with pytest.raises(MemoryError, match="too little memory for 1000000 environments"):
            WasmBoards(1_000_000, 0, settings)


@compiled
@pytest.mark.parametrize("length", [0, 127, 128, 129, 1000])
def test_a_text_is_read_to_its_end_and_no_further(length):
    library = wasm.Library()
    address = library.put(b"x" * length + b"\0yz")
    assert library.text(address) == "x" * length


@compiled
def test_what_is_not_the_c_api_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(wasm, "FILE", tmp_path / "rungs.wasm")
    for content in (b"", b"\0asm\1\0\0\0"):
        wasm.FILE.write_bytes(content)
        wasm._compiled.cache_clear()
        with pytest.raises(CompilerError, match=r"rungs\.wasm"):
            wasm.Library()
    wasm._compiled.cache_clear()


def test_the_list_says_what_is_missing(tmp_path, monkeypatch):
    def missing():
        (found,) = (one.missing for one in rungs.list() if one.rung == "wasm")
        return found

    monkeypatch.setattr(wasm, "FILE", tmp_path / "rungs.wasm")
    find_spec = wasm.importlib.util.find_spec
    without = lambda name: None if name == "wasmtime" else find_spec(name)  # noqa: E731
    monkeypatch.setattr(listing.importlib.util, "find_spec", without)
    assert missing().startswith("wasmtime is not installed: pip install '.[wasm]'")
    with pytest.raises(UnavailableError, match="wasmtime is not installed"):
        rungs.make("chess", "wasm")
    monkeypatch.setattr(listing.importlib.util, "find_spec", lambda name: name)
    assert missing() == "the C API is not compiled to WebAssembly: make wasm, in a clone"
    wasm.FILE.write_bytes(b"")
    assert missing() == ""


@compiled
def test_python_ends_without_a_word():
    code = "import rungs; env = rungs.make('chess', 'wasm'); env.reset(seed=0); print('played')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "played\n", "")
