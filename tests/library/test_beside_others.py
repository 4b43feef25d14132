"""Beside libraries with threads of their own, imported before and after, and in other processes."""

import sys
from pathlib import Path

import pytest

from tests.processes import succeed

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]

# What is imported of each, and what it computes between two steps, on threads of its own.
OTHERS = {
    "torch": ("torch", "torch.ones(300, 300) @ torch.ones(300, 300)"),
    "jax": ("jax", "jax.numpy.ones((300, 300)) @ jax.numpy.ones((300, 300))"),
    "sklearn": ("sklearn.metrics", "sklearn.metrics.pairwise_distances_argmin(rows, rows)"),
    "envpool": ("envpool.classic_control.registration", "carts.step(np.zeros(64, int))"),
}

BESIDE = f"""
import importlib, sys, types, warnings
import numpy as np

sys.modules["envpool.entry"] = types.ModuleType("envpool.entry")  # which wants data of games
modules = {{name: module for name, (module, _) in {OTHERS}.items()}}
for name in sys.argv[2:]:
    importlib.import_module(modules.get(name, name))
import envpool, jax, sklearn, torch
from tests.proof.anywhere import games

rows = np.random.default_rng(0).random((300, 30))
carts = envpool.make_gymnasium("CartPole-v1", num_envs=64, num_threads=2)
carts.reset()
warnings.simplefilter("error")  # also of more threads than cores
games.play(sys.argv[1], lambda: ({", ".join(work for _, work in OTHERS.values())}))
"""


ORDERS = [["rungs", *OTHERS], [*OTHERS, "rungs"], ["torch", "jax", "rungs", "sklearn", "envpool"]]
ORDERS += [["envpool", "sklearn", "rungs", "jax", "torch"]]


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_no_order_of_imports_changes_a_game(order):
    succeed([sys.executable, "-c", BESIDE, "threads", *order], cwd=ROOT, timeout=300)
