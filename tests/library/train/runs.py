"""Runs in folders, of PPO or of self-play: started as processes, and compared."""

import csv
import os
import subprocess

import torch

from tests.quick_start import QUICK_START

# What the clock says, in a run's tables.
TIMES = {"seconds", "generate", "transfer", "infer", "backward", "play", "learn"}


def start(command):
    """Starts a process, to be killed with all that it starts; its stdout is piped, as text."""
    return subprocess.Popen(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | QUICK_START,
    )


def table(path):
    """The rows of a run's table, without what the clock said."""
    with path.open(newline="") as file:
        return [
            {name: value for name, value in row.items() if name not in TIMES}
            for row in csv.DictReader(file)
        ]


def assert_same(ours, theirs, names, network):
    """Tables are the same, but for times, and so are the weights that `network(folder)` returns."""
    for name in names:
        assert table(ours / name) == table(theirs / name), name
    torch.testing.assert_close(network(ours), network(theirs), rtol=0, atol=0)
