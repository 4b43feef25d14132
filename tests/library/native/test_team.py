"""The rung `threads` on PyTorch's threads: the same boards, once it is imported and after forks."""

import sys

import pytest

from tests.processes import succeed

PLAYED = """
import os
import signal
import sys
import rungs
{first}
envs = [rungs.make("chess", "cpp", 512), rungs.make("chess", "threads", 512, threads=2)]
for env in envs:
    env.reset(seed=7)

def play(steps):
    for _ in range(steps):
        for env in envs:
            env.step(env.sample_actions(0))
    assert envs[0].get_state() == envs[1].get_state()
    return envs[1].boards._team.arguments()[0]

team = play(4)
assert "torch" in sys.modules or not team
import torch
torch.set_num_threads(2)
torch.ones(1 << 20).exp()
print(bool(play(100)))
child = os.fork()
if not child:
    signal.alarm(60)  # ends a child that waits for threads that it hasn't
    play(4)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
play(4)
"""


@pytest.mark.parametrize("first", ["", "import torch"])
def test_a_step_may_be_made_by_the_threads_of_pytorch(first):
    """Equal to one thread's before, with and after them, and in a forked child."""
    assert succeed([sys.executable, "-c", PLAYED.format(first=first)], timeout=300) == "True\n"
