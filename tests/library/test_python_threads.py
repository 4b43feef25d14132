"""Environments and searches that several of Python's threads make and step at the same time."""

import sys

import pytest

from tests.processes import succeed

# In a process of its own, in which nothing has been loaded or compiled before: all threads ask for
# everything first.
PROGRAM = """
import hashlib, threading
import numpy as np
import rungs
from rungs.search import Search, uniform

def play(env_id, rung):
    digest, how = hashlib.sha256(), {"threads": 2} if rung == "threads" else {}
    env = rungs.make(env_id, rung, 7, **how)
    observation, info = env.reset(seed=3)
    for step in range(40):
        chosen = env.sample_actions(step) if env_id == "chess" else observation[:, 2] > 0
        observation, reward, *_ = env.step(chosen.astype(np.int64))
        digest.update(observation.tobytes() + reward.tobytes())
    env.close()
    return digest.hexdigest()

def search(*_):
    with Search(3, simulations=16, seed=1, threads=2) as games:
        return [str(games.run(uniform).visits)]

WORK = [
    (play, "chess", "python"),
    (play, "chess", "cpp"),
    (play, "chess", "threads"),
    (play, "cartpole", "threads"),
    (search,),
]

def work(number):
    ready.wait()
    for i in range(number, number + len(WORK)):  # each thread begins with another
        function, *arguments = WORK[i % len(WORK)]
        found[number, i % len(WORK)] = function(*arguments)

found, ready = {}, threading.Barrier(4)
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
[each.start() for each in threads]
[each.join() for each in threads]
for i in range(len(WORK)):
    assert all(found[number, i] == found[0, i] for number in range(4)), WORK[i]
assert found[0, 0] == found[0, 1] == found[0, 2] != found[0, 3]
"""


@pytest.mark.parametrize("time", range(2))
def test_they_play_the_same_games(time):
    # With an error, too, where an import takes the interpreter's lock.
    succeed([sys.executable, "-W", "error::RuntimeWarning", "-c", PROGRAM])
