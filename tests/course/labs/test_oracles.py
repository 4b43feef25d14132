"""What judges the labs is right itself."""

import itertools

import chess
import numpy as np
import pytest

from rungs._src.train import ppo
from rungs_course import nb14_cost_model as nb14
from rungs_course.labs import numeric
from rungs_course.labs.tasks import advantages, bottleneck
from rungs_course.labs.tasks.all_reduce import network
from rungs_course.labs.tasks.bottleneck.system import Stage, System
from rungs_course.labs.tasks.cache_misses.cache import Cache
from rungs_course.labs.tasks.peer_bug.games import PEERS, Game


def test_numbers_are_compared_one_by_one():
    def compared(got, expected=((1.0, 2.0), (3.0, 4.0)), **how):
        return numeric.first_difference(got, expected, lambda *at: str(at), whole="all", **how)

    assert compared([[1, 2], [3, 4 + 1e-9]]) is None
    assert compared([[1, 0], [3, 0]]).what == "(0, 1)"
    assert compared([[1, 0], [3, 0]], last=True).what == "(1, 1)"
    assert compared([[1, float("nan")], [3, 4]]).got == "nan"
    assert compared([1, 2]).expected == "an array of shape (2, 2)"
    assert compared(None).what == "all"
    assert compared("no number").what == "all"
    assert compared(2.0, 2.0) is None
    assert compared(3.0, 2.0).what == "()"


def test_what_is_given_to_a_student_can_not_be_written_to():
    array = numeric.fixed([1, 2])
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 3


def test_advantages_by_definition_are_those_of_ppo():
    import torch

    for rollout in advantages.cases().values():
        arrays = [torch.tensor(array) for array in rollout[:3]]
        theirs = ppo.advantages(*arrays, *rollout[3:]).numpy()
        np.testing.assert_allclose(advantages.by_definition(rollout), theirs, atol=1e-6)


@pytest.mark.parametrize(
    ("line", "sets", "ways", "addresses", "misses"),
    [
        (64, 1, 2, [0, 63, 1], 1),  # one line
        (64, 1, 2, [0, 64, 0, 128, 0], 3),  # 64 was used longest ago
        (64, 1, 2, [0, 64, 0, 128, 64], 4),
        (64, 2, 1, [0, 64, 0, 64], 2),  # a set each
        (64, 2, 1, [0, 128, 0, 128], 4),  # one set for both
        (32, 4, 1, [0, 32, 64, 96, 128, 0], 6),
    ],
)
def test_the_cache_keeps_what_was_used_last(line, sets, ways, addresses, misses):
    cache = Cache(line, sets, ways)
    for address in addresses:
        cache.touch(address)
    assert cache.misses == misses


def test_a_cache_of_one_set_misses_what_lies_too_far_back():
    # With one set a line is there if fewer than `ways` others came since.
    numbers = np.random.default_rng(0).integers(0, 12, 500).tolist()
    cache = Cache(1, 1, 8)
    for number in numbers:
        cache.touch(number)
    far = 0
    for at, number in enumerate(numbers):
        since = list(itertools.takewhile(lambda n, own=number: n != own, reversed(numbers[:at])))
        far += number not in numbers[:at] or len(set(since)) >= 8
    assert cache.misses == far


@pytest.mark.parametrize("processes", [2, 4, 8, 32])
@pytest.mark.parametrize("way", ["ring", "halving"])
def test_messages_take_what_the_model_says(processes, way):
    link = nb14.Link(latency=3e-6, bandwidth=2e9)
    simulated = getattr(network, way)(processes, 64_000, link.latency, link.bandwidth)
    said = nb14.all_reduce_seconds(processes, 64_000, link, algorithm=way)
    assert simulated == pytest.approx(said)


def test_an_all_reduce_that_forgets_a_message_is_noticed():
    net = network.Network(3, 30, 1e-6, 1e9)
    net.exchange([(0, 1, np.array([0]))], add=True)
    with pytest.raises(AssertionError):
        net.finish()


def test_stages_take_their_time():
    stages = {
        "generate": Stage(3.0, where="beside"),
        "infer": Stage(2.0, where="device"),
        "learn": Stage(1.0, first=10.0),
        "log": Stage(4.0, every=2),
    }
    system = System(stages)
    # Nothing was generated ahead; the device is done long before learning is.
    assert system.update() == {"generate": 0, "infer": 0, "learn": 11, "log": 4}
    # The device took longer than learning, and was waited for.
    assert system.update() == {"generate": 0, "infer": 0, "learn": 1, "log": 1}
    assert system.clock() == 17
    assert system.update("log") == {"generate": 1, "infer": 0, "learn": 1, "log": 1}
    assert system.updates == 3


def test_every_stage_is_a_bottleneck_somewhere_and_by_far():
    limits = set()
    for stages in bottleneck.CASES.values():
        without = {name: bottleneck.broken.long_run(stages, name) for name in stages}
        least, second, *_ = sorted(without.values())
        assert least < 0.9 * second
        limits.add(min(without, key=without.get))
    assert limits == set(bottleneck.broken.STAGES)


@pytest.mark.parametrize("number", range(len(PEERS)))
def test_every_peer_has_its_bug(number):
    peer, _ = PEERS[number]
    shows = {
        "NoEnPassant": ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", {"e5d6"}),
        "PawnsJump": ("4k3/8/8/8/8/4n3/4P3/4K3 w - - 0 1", {"e2e4"}),
        "CastlesThroughCheck": ("3rk3/8/8/8/8/8/8/R3K2R w KQ - 0 1", {"e1c1"}),
        "QueensOnly": ("8/4P3/8/8/8/k7/8/K7 w - - 0 1", {"e7e8r", "e7e8b", "e7e8n"}),
        "EnPassantForAll": ("4k3/8/8/K2pP2r/8/8/8/8 w - d6 0 1", {"e5d6"}),
    }
    name = peer.__name__
    if name in shows:
        fen, moves = shows[name]
        assert set(Game(fen).legal) ^ set(peer(fen).legal) == moves
        assert Game(fen).board == peer(fen).board
    elif name == "KnightsAreBishops":
        game = peer("8/4P3/8/8/8/k7/8/K7 w - - 0 1")
        game.step("e7e8n")
        assert game.board.startswith("4B3")
    elif name == "StalemateLoses":
        assert peer("k7/2Q5/8/8/8/8/8/K7 b - - 0 1").result == "1-0"
    else:
        assert name == "NeverTooFew"
        assert peer("k7/8/8/8/8/8/8/K7 w - - 0 1").result == ""
    start = peer(chess.STARTING_FEN)
    assert (start.legal, start.result) == (Game().legal, "")
