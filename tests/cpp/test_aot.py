"""The same header by another compiler, ahead of time."""

import rungs
from rungs import aot
from tests import lockstep


def test_g_plus_plus_gives_the_same_games_as_cling():
    by_gpp = rungs.make("chess", "cpp", 64, opponent="random", api=aot.load())
    by_cling = rungs.make("chess", "cpp", 64, opponent="random")
    reasons = lockstep.play(by_gpp, by_cling, seed=3, steps=500)
    assert sum(reasons.values()) > 10
