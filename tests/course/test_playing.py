"""Agents that play one game at a time, in native code."""

import numpy as np
import pytest

from rungs._src.selfplay.agent import untrained
from rungs._src.train.cpp_network import flat_weights
from rungs.errors import ConfigurationError, InvalidFenError
from rungs_course.playing.agent import Agent

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"


@pytest.fixture(scope="module")
def weights():
    return flat_weights(untrained().network).astype(np.float16)


def test_an_agent_finds_a_mate_and_says_so(weights):
    with Agent(weights, nodes=2000, simulations=512) as agent:
        agent.begin(MATE_IN_ONE, [])
        agent.think(200)
        thoughts = agent.thoughts()
        mate = thoughts["candidates"][0]
        assert agent.tree(3, 0.02)[0].keys() == {"action", "visits", "value", "children"}
        with pytest.raises(ConfigurationError, match="over"):
            agent.begin(MATE_IN_ONE, [mate["action"]])
        with pytest.raises(InvalidFenError):
            agent.begin("no position", [])
        for action in (4000, -1):
            with pytest.raises(ConfigurationError, match=str(action)):
                agent.begin(START, [action])
    assert thoughts["line"] == [thoughts["chosen"]] == [mate["action"]]
    assert mate["value"] == 1
    assert sum(move["visits"] for move in thoughts["candidates"]) == thoughts["simulations"] == 200
    assert sum(move["prior"] for move in thoughts["candidates"]) == pytest.approx(1, abs=1e-5)
