"""The known agents, and their recording, which loses none."""

import dataclasses
import shutil
from unittest import mock

import pytest
import torch

from rungs._src.selfplay import agent as files
from rungs._src.train.network import PolicyValueNetwork
from rungs.errors import ConfigurationError, InvalidStateError, StorageError
from rungs_course import agents, rating
from tests.saved import contents

FACTS = {"kind": "self-play", "seconds": "90"}
RATINGS = [{"search": "PUCT, 8 simulations", "elo": 123.4, "low": -5, "high": 250}]


def tiny_agent(number=0):
    """An agent that trained a minute longer than the one before."""
    torch.manual_seed(number)
    facts = FACTS | {"seconds": str(90 + 60 * number)}
    return files.freeze(PolicyValueNetwork(16, 1, 8), "it", facts)


@pytest.fixture
def root(tmp_path):
    """Two recorded agents with their games, and the pool of the run that they are from."""
    pool = tmp_path / "data" / "run" / "mine" / agents.POOL
    games = pool.parent / agents.MATCHES
    games.mkdir(parents=True)
    for number in (0, 20):
        files.save(tiny_agent(number), pool / f"{number:06}")
        (games / f"{number:06}.pgn").write_text(f"1. e4 *; update {number}")
    agents.record(sorted(pool.iterdir()), tmp_path)
    return tmp_path


def recorded(root):
    return contents(agents.recorded_in(root))


def test_recorded_weights_are_as_they_were_within_a_128th(root):
    networks = files.load(agents.recorded(root)[0]).network, tiny_agent().network
    for rounded, weight in zip(*(one.parameters() for one in networks), strict=True):
        assert (rounded * 64 == (rounded * 64).round()).all()
        assert (rounded - weight).abs().max() < 1 / 120  # half precision rounds, too


def test_recorded_ones_come_first_and_the_untrained_last(root):
    known = agents.known(root)
    names = ["self-play, 22 min", "self-play, 2 min", "mine, update 20", "mine, update 0"]
    assert list(known) == [*names, "untrained"]
    loaded, saved = known["mine, update 20"]().network, tiny_agent(20).network
    assert all(map(torch.equal, loaded.parameters(), saved.parameters()))
    assert recorded(root)["1/games.pgn"] == b"1. e4 *; update 20"


def test_agents_take_the_place_of_others_with_their_games_and_of_no_other_file(root):
    before, folder = recorded(root), agents.recorded_in(root)
    (folder / "mine").write_text("precious")
    agents.record([folder / "1", folder / "0"], root)
    after = recorded(root)
    for name in ("agent.pt", "games.pgn", "README.md"):
        assert after[f"0/{name}"] == before[f"1/{name}"]
        assert after[f"1/{name}"] == before[f"0/{name}"]
    agents.record([folder / "1" / "agent.pt"], root, lambda agent: RATINGS)
    assert {*recorded(root)} == {"0/agent.pt", "0/README.md", "mine"}
    assert recorded(root)["0/agent.pt"] == after["1/agent.pt"]
    assert b"PUCT, 8 simulations | 123 | -5 to 250" in recorded(root)["0/README.md"]


@pytest.mark.parametrize(
    "facts",
    [{"seconds": "90"}, {"kind": "self-play"}, {"kind": "self-play", "seconds": "long"}, None],
    ids=["no kind", "no seconds", "seconds that are no number", "missing"],
)
def test_what_can_not_be_recorded_is_named_and_what_was_stays(root, facts):
    before, path = recorded(root), root / "new"
    if facts:
        files.save(dataclasses.replace(tiny_agent(), provenance=facts), path)
    with pytest.raises((ConfigurationError, InvalidStateError), match="new"):
        agents.record([agents.recorded_in(root) / "1", path], root)
    with pytest.raises(ConfigurationError, match="3 agents"):
        agents.record([path] * 3, root)
    assert recorded(root) == before


def test_what_was_recorded_stays_where_the_second_can_not_be_written(root):
    before, folder = recorded(root), agents.recorded_in(root)
    ratings = mock.Mock(side_effect=[[], OSError("the disk is full")])
    with pytest.raises(StorageError):
        agents.record([folder / "1", folder / "0"], root, ratings)
    assert recorded(root) == before


def test_what_is_no_agent_is_left_out_and_those_of_the_same_name_are_known(root):
    folder, pool = agents.recorded_in(root), root / "data" / "run" / "mine" / agents.POOL
    shutil.copy(folder / "1" / files.WEIGHTS, folder / "0")
    for name in ("0000020", "notes", "1e3", "٣"):
        shutil.copytree(pool / "000020", pool / name)
    (folder / "notes").mkdir()
    (folder / "notes" / files.WEIGHTS).write_text("precious")
    (pool / "notes.pt").write_text("precious")
    (pool / "000040.pt").write_text("corrupt")  # a file, as in runs of Rungs 0.3
    with pytest.warns(RuntimeWarning, match="notes"):
        known = agents.known(root)
    names = ["self-play, 22 min", "self-play, 22 min (0)"]
    names += [f"mine, update {update}" for update in (40, 20, 0)]
    assert list(known) == [*names, "untrained"]
    with pytest.raises(InvalidStateError, match=r"000040\.pt"):
        known["mine, update 40"]()


def test_this_repositorys_agents_are_small_and_have_cards_with_their_recorded_ratings():
    assert agents.recorded()
    for folder in agents.recorded():
        assert (folder / files.WEIGHTS).stat().st_size < 1_500_000
        agent = files.load(folder)
        ratings = rating.recorded(agent)
        assert ratings
        assert (folder / files.CARD).read_text() == files.card(agent, ratings)
    assert not rating.recorded(dataclasses.replace(agent, provenance={"commit": "another"}))
