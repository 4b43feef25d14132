"""Notebook 06: what a GPU's threads would do, computed on the host."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rungs.errors import ConfigurationError
from rungs_course.notebooks import nb06_cuda


def test_a_warp_takes_as_long_as_its_longest_lane():
    loops = {"keys": [1, 3, 0, 0], "planes": [2, 2, 4, 1], "ended": [0, 0, 0, 1]}
    followed = pd.DataFrame({"ply": 0, "board": range(4)} | loops)
    table = nb06_cuda.at_work(followed, lanes=2).set_index("loop")
    assert table.loc["keys"].tolist() == pytest.approx([1, 1.5, 2 / 3])
    assert table.loc["planes", "warp"] == pytest.approx(3)
    assert table.loc["ended", "at_work"] == pytest.approx(0.5)


def test_games_are_followed_by_their_loops():
    followed = nb06_cuda.follow(8, 60, seed=0)
    assert len(followed) == 8 * 60
    assert followed["planes"].between(1, 73).all()
    first = followed.query("ply < 3")
    assert (first["keys"] <= first["ply"] + 1).all()
    # A clock goes on by one or begins again.
    clocks = followed.pivot(index="ply", columns="board", values="keys").to_numpy()
    assert ((np.diff(clocks, axis=0) == 1) | (clocks[1:] == 0)).all()


def test_words_of_neighbours_lie_side_by_side_or_a_board_apart():
    counts = nb06_cuda.fetched().groupby("layout")[["line", "sector"]].nunique()
    lines = {"array of structures": 32, "structure of arrays": 2, "blocks of eight": 4}
    assert counts["line"].to_dict() == lines
    # Of a block's eight words both sectors are wanted whole.
    sectors = counts["sector"]
    assert sectors["blocks of eight"] == sectors["structure of arrays"] == 8


KERNELS = """
extern "C" __global__ void few(float* x) { x[threadIdx.x] *= 2; }
extern "C" __global__ void array(const int* at, int* out) {
  int kept[100];
  for (int i = 0; i < 100; ++i) kept[i] = at[i] * i;
  out[threadIdx.x] = kept[at[threadIdx.x] % 100];
}
extern "C" __global__ void many(const float* in, float* out) {
  float v[150];
  for (int i = 0; i < 150; ++i) v[i] = in[i * 32 + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 150; ++i) out[i * 32 + threadIdx.x] = v[149 - i];
}
"""


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_kernels_say_what_their_threads_need(arch):
    cuda = pytest.importorskip("cuda.core")
    program = cuda.Program(KERNELS, "c++", cuda.ProgramOptions(arch=arch))
    table = nb06_cuda.resources(bytes(program.compile("cubin").code), 128).set_index("kernel")
    few, array, many = (table.loc[name] for name in ("few", "array", "many"))
    assert (few["stack bytes"], few["occupancy"]) == (0, 1)
    assert array["stack bytes"] >= 400  # its index isn't known when it is compiled
    assert 150 <= many["registers"] <= 255
    assert many["warps"] * 32 * many["registers"] <= 65_536
    assert many["warps"] % 4 == 0  # whole blocks
    assert many["occupancy"] < few["occupancy"]


def test_a_program_of_the_host_has_no_kernels():
    with pytest.raises(ConfigurationError, match="kernels"):
        nb06_cuda.resources(Path(sys.executable).read_bytes(), 128)
