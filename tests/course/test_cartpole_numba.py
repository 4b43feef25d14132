"""The CUDA kernel as far as no GPU is needed: what Numba compiles it to, and whom it refuses."""

import importlib.util
import os
import re
import sys

import pytest

import rungs
from rungs.errors import ConfigurationError, UnavailableError
from tests.processes import succeed

pytestmark = pytest.mark.skipif(
    not importlib.util.find_spec("numba_cuda"), reason="numba-cuda is not installed"
)

# In a process of its own, as here Numba's simulator takes the compiler's place. A device's
# functions are compiled for a device, which there is none of: only its capability is asked for.
_COMPILE = """
import sys
from types import SimpleNamespace
from gymnasium.vector import AutoresetMode
from numba import cuda, types
from numba.cuda import dispatcher
from rungs_course.cartpole import kernel

size, mode, random_actions, many, capability = eval(sys.argv[1])
dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
real = types.float64 if size == 8 else types.float32
rows, flags = types.float32[:, ::1], types.boolean[::1]
signature = (
    types.int64, types.int64[::1],
    types.int64, types.int64, types.int64, types.int64, types.int64,
    types.int64[:, ::1], real[:, ::1], types.int32[::1], types.int64[::1], rows,
    types.float32[::1], flags, flags, flags, rows, types.float32[::1], types.int32[::1],
)
source = kernel.source(size, AutoresetMode[mode], random_actions, many)
ptx, _ = cuda.compile(source, signature, device=False, abi="numba", cc=capability, output="ptx")
print(ptx)
"""


@pytest.mark.system
@pytest.mark.parametrize(
    "kind",
    [
        (8, "SAME_STEP", False, False, (9, 0)),
        (4, "SAME_STEP", False, False, (8, 0)),
        (8, "NEXT_STEP", True, True, (8, 0)),
        (4, "SAME_STEP", True, True, (9, 0)),
        (8, "DISABLED", False, False, (9, 0)),
    ],
    ids=str,
)
def test_the_compiled_kernel_fuses_nothing_and_keeps_to_registers(kind):
    command = [sys.executable, "-c", _COMPILE, repr(kind)]
    code = succeed(command, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "0"})
    major, minor = kind[-1]
    assert f".target sm_{major}{minor}" in code
    number = f"f{8 * kind[0]}"
    assert len(re.findall(rf"\bmul\.rn\.{number}", code)) > 15
    assert not re.search(rf"\bfma\.\w+\.{number}", code)
    # ptxas may fuse a sum with a product that does not say how it is rounded.
    products = set(re.findall(rf"\bmul\.{number}\s+(%\w+)", code))
    for sum_of in re.findall(rf"\b(?:add|sub)\.{number}\s+%\w+, (.*);", code):
        assert products.isdisjoint(sum_of.split(", "))
    assert not re.search(r"\b(ld|st)\.local", code)
    # Once in the physics, and once, in double precision, for how long a substep is.
    assert len(re.findall(r"\bdiv\.rn\.f64", code)) == (2 if kind[0] == 8 else 1)
    assert len(re.findall(r"\bdiv\.rn\.f32", code)) == (0 if kind[0] == 8 else 1)


def test_without_a_gpu_or_a_simulator_it_says_so(monkeypatch):
    from rungs_course.cartpole import numba

    monkeypatch.setattr(numba.cuda, "is_available", lambda: False)
    with pytest.raises(UnavailableError, match="GPU"):
        rungs.make("cartpole", "numba", 4)


def test_without_validation_nothing_is_waited_for():
    env = rungs.make("cartpole", "numba", 3, validate=False)
    env.reset()
    *_, info = env.step([0, 1, 1])
    assert not info["_final_obs"].any()


@pytest.mark.parametrize(
    "settings",
    [
        {"validate": False, "autoreset_mode": "DISABLED"},
        {"threads_per_block": 0},
        {"threads_per_block": 1025},
    ],
)
def test_wrong_settings_are_named(settings):
    with pytest.raises(ConfigurationError, match=next(iter(settings))):
        rungs.make("cartpole", "numba", 3, **settings)
