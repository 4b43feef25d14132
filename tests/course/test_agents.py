"""Agents of this repository: which are known, and that recording others loses none."""

import dataclasses
import shutil

import pytest
import torch

from rungs._src.selfplay import agent as files
from rungs.errors import ConfigurationError, InvalidStateError, StorageError
from rungs_course import agents
from tests.library.selfplay.test_agents import FACTS, made, same


def test_two_trained_ones_are_below_3_mb_and_as_they_were_within_a_128th(tmp_path):
    agent = made()
    torch.manual_seed(0)
    for weight in agent.network.parameters():
        torch.nn.init.normal_(weight, std=0.15)
    files.save(agent, tmp_path / "it.pt")
    (path,) = agents.record([tmp_path / "it.pt"], tmp_path)
    assert agents.MAX_RECORDED * path.stat().st_size < 3_000_000
    for rounded, weight in zip(
        files.load(path).network.parameters(), agent.network.parameters(), strict=True
    ):
        assert (rounded * 64 == (rounded * 64).round()).all()
        assert (rounded - weight).abs().max() < 1 / 120  # half precision rounds, too


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
    with pytest.raises(ConfigurationError, match="3 agents: at most 2"):
        agents.record(pool, tmp_path)
    with pytest.raises(ConfigurationError, match="there is no"):
        agents.record([tmp_path / "none.pt"], tmp_path)
    assert len(list(agents.recorded_in(tmp_path).glob("*.pt"))) == 1


@pytest.fixture
def recorded(tmp_path):
    """Two recorded agents with the games that they played; returns the root, and all bytes."""
    pool = tmp_path / "run" / agents.POOL
    for number in (0, 1):
        files.save(made(number), pool / f"{number:06}.pt")
        games = tmp_path / "run" / agents.MATCHES / f"{number:06}.pgn"
        games.parent.mkdir(exist_ok=True)
        games.write_text(f"1. e{3 + number} *")
    agents.record(sorted(pool.iterdir()), tmp_path)
    return tmp_path, kept(tmp_path)


def kept(root):
    return {path.name: path.read_bytes() for path in sorted(agents.recorded_in(root).iterdir())}


@pytest.mark.parametrize("wrong", ["seconds", "kind", "text", "corrupt", "a folder"])
def test_what_was_recorded_stays_where_others_cannot_be(recorded, wrong):
    root, before = recorded
    path = root / "new.pt"
    facts = {"kind": FACTS, "seconds": {"kind": "self-play"}, "text": FACTS | {"seconds": "long"}}
    facts["kind"] = {"seconds": "90"}
    files.save(dataclasses.replace(made(), provenance=facts.get(wrong, FACTS)), path)
    if wrong == "corrupt":
        path.write_bytes(path.read_bytes()[:-100])
    if wrong == "a folder":
        path.unlink()
        path.mkdir()
    with pytest.raises((ConfigurationError, InvalidStateError), match=r"new\.pt"):
        agents.record([root / "run" / agents.POOL / "000000.pt", path], root)
    assert kept(root) == before


def test_what_was_recorded_stays_where_the_disk_is_full(recorded, monkeypatch):
    root, before = recorded
    save, calls = files.save, []

    def full(agent, path):
        calls.append(path)
        if len(calls) == 2:
            raise StorageError(f"{path} can't be written: No space left on device")
        save(agent, path)

    monkeypatch.setattr(files, "save", full)
    with pytest.raises(StorageError):
        agents.record(sorted((root / "run" / agents.POOL).iterdir(), reverse=True), root)
    assert kept(root) == before


def test_recorded_agents_are_recorded_again_with_their_games(recorded):
    root, before = recorded
    folder = agents.recorded_in(root)
    (folder / "mine.pt").write_text("precious")
    agents.record([folder / "1.pt", folder / "0.pt"], root)
    after = kept(root)
    assert (after["0.pgn"], after["1.pgn"]) == (before["1.pgn"], before["0.pgn"])
    assert (after["0.pt"], after["1.pt"]) == (before["1.pt"], before["0.pt"])
    agents.record([folder / "1.pt"], root)
    assert kept(root) == {"0.pt": after["1.pt"], "0.pgn": after["1.pgn"], "mine.pt": b"precious"}


def test_agents_of_the_same_name_are_all_known(tmp_path):
    for number in (0, 1):
        files.save(made(), agents.recorded_in(tmp_path) / f"{number}.pt")
    assert list(agents.known(tmp_path)) == ["it", "it (0.pt)", "untrained"]


def test_what_is_no_agent_is_left_out_and_the_others_are_known(recorded):
    root, _ = recorded
    (agents.recorded_in(root) / "notes.pt").write_text("precious")
    pool = root / "data" / "run" / "mine" / agents.POOL
    files.save(made(), pool / "000020.pt")
    shutil.copy(pool / "000020.pt", pool / "0000020.pt")
    for name in ("notes.pt", "1e3.pt", "٣.pt"):
        (pool / name).write_text("precious")
    (pool / "000040.pt").write_text("corrupt")
    with pytest.warns(RuntimeWarning, match=r"left out: .*notes\.pt"):
        known = agents.known(root)
    selves = ["mine, update 40", "mine, update 20"]
    kept = ["self-play, 2 min", "self-play, 2 min (0.pt)"]
    assert list(known) == [*kept, *selves, "untrained"]
    assert same(known["mine, update 20"](), made())
    with pytest.raises(InvalidStateError, match=r"000040\.pt"):
        known["mine, update 40"]()


def test_what_is_recorded_can_be_played_against():
    """Of this repository."""
    for name, load in agents.known().items():
        assert load().name, name
