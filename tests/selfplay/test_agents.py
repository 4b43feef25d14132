"""Agents in files: the same network comes out, and what is none is named."""

import pytest
import torch

from rungs.errors import ConfigurationError, InvalidStateError
from rungs.selfplay import agent as files
from rungs.selfplay import agents
from rungs.train.network import PolicyValueNetwork

FACTS = {"kind": "self-play", "seconds": "90"}


def made(seed=0, **sizes):
    torch.manual_seed(seed)
    return files.freeze(PolicyValueNetwork(**sizes), "it", FACTS | {"seconds": str(90 + 60 * seed)})


def same(ours, theirs):
    theirs = theirs.network.state_dict()
    return all(torch.equal(each, theirs[name]) for name, each in ours.network.state_dict().items())


@pytest.mark.parametrize("sizes", [{}, {"width": 16, "blocks": 0, "keys": 8}, {"blocks": 3}])
def test_an_agent_is_read_as_it_was_frozen(tmp_path, sizes):
    agent = made(**sizes)
    files.save(agent, tmp_path / "it.pt")
    read = files.load(tmp_path / "it.pt")
    assert same(read, agent)
    assert (read.name, read.provenance) == (agent.name, agent.provenance)


def test_two_of_them_are_below_3_mb(tmp_path):
    files.save(made(), tmp_path / "it.pt")
    assert agents.MOST_RECORDED * (tmp_path / "it.pt").stat().st_size < 3_000_000


def test_what_is_no_agent_is_named(tmp_path):
    path = tmp_path / "it.pt"
    with pytest.raises(ConfigurationError, match=r"there is no .*it\.pt"):
        files.load(path)
    files.save(made(), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidStateError, match=r"it\.pt is corrupt"):
        files.load(path)
    torch.save({"tool": "rungs"}, path)
    with pytest.raises(ConfigurationError, match="no agent of this version"):
        files.load(path)
    files._FILE.save(path, {"name": "it", "weights": {"a": torch.ones(1)}, "provenance": {}})
    with pytest.raises(InvalidStateError, match="of another network"):
        files.load(path)


def test_recorded_ones_come_first_and_the_untrained_last(tmp_path):
    pool = tmp_path / "data" / "run" / "mine" / agents.POOL
    for number in (0, 20):
        files.save(made(number), pool / f"{number:06}.pt")
    (pool.parent / agents.MATCHES).mkdir()
    (pool.parent / agents.MATCHES / "000020.pgn").write_text("1. e4 *")
    assert list(agents.known(tmp_path)) == ["mine, update 20", "mine, update 0", "untrained"]
    agents.record([pool / "000000.pt", pool / "000020.pt"], tmp_path)
    known = agents.known(tmp_path)
    assert list(known)[:2] == ["self-play, 22 min", "self-play, 2 min"]
    assert same(known["mine, update 20"](), made(20))
    games = {path.name: path.read_text() for path in agents.recorded_in(tmp_path).glob("*.pgn")}
    assert games == {"1.pgn": "1. e4 *"}
    agents.record([pool / "000000.pt"], tmp_path)
    assert [path.name for path in agents.recorded_in(tmp_path).iterdir()] == ["0.pt"]


def test_recording_refuses_too_many_and_keeps_what_was(tmp_path):
    pool = [tmp_path / f"{number}.pt" for number in range(3)]
    for path in pool:
        files.save(made(), path)
    agents.record(pool[:1], tmp_path)
    with pytest.raises(ConfigurationError, match="3 agents are more than 2"):
        agents.record(pool, tmp_path)
    with pytest.raises(ConfigurationError, match="there is no"):
        agents.record([tmp_path / "none.pt"], tmp_path)
    assert len(list(agents.recorded_in(tmp_path).glob("*.pt"))) == 1


def test_what_is_recorded_can_be_played_against():
    """Of this repository."""
    for name, load in agents.known().items():
        assert load().name, name
