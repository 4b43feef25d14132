"""Agents in files: the same network comes out, and what is none is named."""

import os

import pytest
import torch
import yaml

from rungs._src.selfplay import agent as files
from rungs._src.train.network import PolicyValueNetwork
from rungs.errors import ConfigurationError, InvalidStateError


def new_agent(**sizes):
    torch.manual_seed(0)
    return files.freeze(PolicyValueNetwork(**sizes), "it", {"kind": "self-play", "seconds": "90"})


@pytest.mark.parametrize("sizes", [{}, {"width": 16, "blocks": 0, "keys": 8}, {"blocks": 3}])
def test_an_agent_is_read_as_it_was_frozen(tmp_path, sizes):
    agent = new_agent(**sizes)
    files.save(agent, tmp_path / "it")
    for read in (files.load(f"{tmp_path}/it"), files.load(tmp_path / "it" / "agent.pt")):
        weights = read.network.state_dict(), agent.network.state_dict()
        torch.testing.assert_close(*map(dict, weights), rtol=0, atol=0)
        assert (read.name, read.provenance) == (agent.name, agent.provenance)


def test_a_model_hub_reads_an_agents_card(tmp_path):
    facts = {"setting seed": 3, "commit": "abc", "g++": "a | b"}
    agent = files.freeze(PolicyValueNetwork(16, 0, 8), 'the "best": 1', facts)
    rating = {"search": "Gumbel, 32 simulations", "elo": 1246.4, "low": 1081.6, "high": 1411}
    files.save(agent, tmp_path, [rating])
    _, front, text = (tmp_path / "README.md").read_text().split("---\n", 2)
    (model,) = yaml.safe_load(front)["model-index"]
    (metric,) = model["results"][0]["metrics"]
    assert (model["name"], metric["value"]) == (agent.name, 1246)
    assert metric["name"] == "Elo above random play, Gumbel, 32 simulations"
    rows = ("32 simulations | 1246 | 1082 to 1411 |", "seed | 3 |", "commit | abc |", r"a \| b")
    assert all(row in text for row in rows)
    files.save(agent, tmp_path)
    assert "elo" not in (tmp_path / "README.md").read_text().lower()


def test_what_is_no_agent_is_named(tmp_path):
    path = tmp_path / "agent.pt"

    def assert_refused(error):
        with pytest.raises(error, match=r"agent\.pt"):
            files.load(tmp_path)

    assert_refused(ConfigurationError)  # there is none
    files.save(new_agent(width=16, keys=8), tmp_path)
    path.write_bytes(path.read_bytes()[:-1000])
    assert_refused(InvalidStateError)
    torch.save({"tool": "rungs"}, path)
    assert_refused(ConfigurationError)
    files._FILE.write(path, {"name": "it", "weights": {"a": torch.ones(1)}, "provenance": {}})
    assert_refused(InvalidStateError)
    path.unlink()
    os.mkfifo(path)  # reading it would wait
    assert_refused(ConfigurationError)


def test_weights_that_no_network_has_are_refused(tmp_path):
    path = tmp_path / "it.pt"
    weights = {name: tensor.half() for name, tensor in new_agent().network.state_dict().items()}
    for name, wrong in (
        ("value.bias", torch.tensor([float("nan")])),
        ("squares.weight", torch.zeros(1).expand(10**9, 848)),
        ("squares.weight", torch.zeros(10**6, 1)),
        ("squares.weight", torch.tensor(1.0)),
        ("value.weight", torch.zeros(1, 128).to_sparse()),
        (7, torch.zeros(1)),
    ):
        saved = {"name": "it", "weights": weights | {name: wrong}, "provenance": {}}
        files._FILE.write(path, saved)
        with pytest.raises(InvalidStateError, match=r"it\.pt"):
            files.load(path)


@pytest.mark.parametrize("weight", [1e5, float("nan")])
def test_weights_that_half_precision_has_not_are_not_frozen(weight):
    network = PolicyValueNetwork(width=8, keys=4)
    with torch.no_grad():
        network.value.bias.fill_(weight)
    with pytest.raises(ConfigurationError, match=r"value\.bias"):
        files.freeze(network, "large", {})
