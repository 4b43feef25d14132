"""The labs' oracles, and their comparisons, are right themselves."""

import types

import numpy as np
import pytest
import torch

from rungs._src.train import ppo
from rungs_course.labs import arrays, lab
from rungs_course.labs.inside import wire
from rungs_course.labs.inside.building import build
from rungs_course.labs.tasks import advantages, bottleneck, clipped_loss, puct
from rungs_course.labs.tasks.bottleneck import Stage, System
from rungs_course.measure.link import Link
from rungs_course.notebooks import nb14_cost_model as nb14


def baseline(name) -> types.ModuleType:
    """Returns the functions that answers to a lab are compared with."""
    task = lab.find(name)
    return build(task, {"baseline": task.code("baseline")})["baseline"]


def compared(got, expected=((1.0, 2.0), (3.0, 4.0)), **settings):
    return arrays.compare(got, expected, lambda *at: str(at), array_label="all", **settings)


def test_numbers_are_compared_one_by_one():
    assert compared([[1, 2], [3, 4 + 1e-9]]) is None
    assert compared([[1, 0], [3, 0]]).output == "(0, 1)"
    assert compared([[1, 0], [3, 0]], last=True).output == "(1, 1)"
    assert compared([[1, float("nan")], [3, 4]]).got == "nan"
    assert "(2, 2)" in compared([1, 2]).expected
    assert compared(None).got == "None"
    assert compared("no number").output == "all"
    assert compared(2.0, 2.0) is None
    assert compared(3.0, 2.0).output == "()"


def as_received(value):
    """Returns what a judge receives for an answer's result."""
    _, text, *blobs = wire.encode(value)
    return wire.decode(text, np.frombuffer(bytearray(b"".join(blobs)), np.uint8))


class Like:
    """A tensor, to NumPy."""

    def __array__(self, *_, **__):
        return np.ones(2)


NUMBERS = [[1, 1], [1.0, 1.0], [True, True], np.ones(2, np.float32), np.ones(2, object)]
LIKE_ARRAYS = [torch.ones(2), Like(), memoryview(np.ones(2)), iter([1, np.longdouble(1)])]


@pytest.mark.parametrize("answer", [*NUMBERS, *LIKE_ARRAYS])
def test_real_numbers_of_any_type_and_what_numpy_takes_for_them_are_right(answer):
    received = as_received(answer)
    assert compared(received, np.ones(2)) is None
    assert arrays.same([], received, np.ones(2))


NO_NUMBERS = [np.array([1 + 5j, 1]), [1 + 0j, 1], ["1", "1"], [b"1", 1], [None, 1], [[1], [1, 1]]]
MASKED = [np.ma.masked_array(np.ones(2), mask=[True, False]), [1, np.ma.masked]]
NAMED = [np.ones(2, [("x", float)]), np.ones(2, "m8[s]")]


@pytest.mark.parametrize("answer", [*NO_NUMBERS, *MASKED, *NAMED])
def test_what_is_no_real_number_or_hides_it_is_wrong_in_a_check_and_in_a_race(answer):
    received = as_received(answer)
    assert compared(received, np.ones(2)).output == "all"
    assert not arrays.same([], received, np.ones(2))
    assert not arrays.same([], received, np.ones(2, np.int64))


KEYS = [1, 1 << 63, (1 << 62) + 1]


@pytest.mark.parametrize(
    "got",
    [[1, 1 << 63, 1 << 62], [1, 1 << 63, 2.0**62], [*map(float, KEYS)], np.array(KEYS, float)],
)
def test_integers_of_64_bits_are_compared_exactly_in_a_race(got):
    assert not arrays.same([], got, KEYS)
    assert not arrays.same([], [got], [KEYS])
    assert arrays.same([], np.array(KEYS, np.uint64), KEYS)
    assert arrays.same([], list(KEYS), KEYS)


NO_REPLIES = [
    *("{}", "[", "[" * 10**5, '{"tuple": 1}', '{"object": 1}', '{"bytes": []}', '{"bytes": {}}'),
    *('{"array": {}}', '{"array": ["f8", [-1], true]}', '{"array": ["f8", [1e9], true]}'),
    *('{"array": ["O", [1], 1]}', '{"array": [",", [1], true]}', '{"list": {"array": 1}}'),
    *('{"list": {}}', '{"dict": [[1]]}', '{"dict": [[[], 1]]}', '{"a": 1, "b": 2}'),
]


@pytest.mark.parametrize("text", NO_REPLIES, ids=lambda text: text[:30])
def test_what_is_no_message_is_garbage(text):
    with pytest.raises(wire.GarbageError):
        wire.decode(text.encode(), np.empty(0, np.uint8))


def test_arrays_are_compared_exactly():
    expected = np.array([1, 1 << 63], np.uint64)
    assert compared(expected.copy(), expected, exact=True) is None
    assert compared(expected + np.uint64(1), expected, exact=True).output == "(0,)"
    for got in (np.array([1.0, 2.0**63]), [1, 1 << 63]):
        assert compared(got, expected, exact=True).output == "all"


def test_what_is_given_to_a_student_can_not_be_written_to():
    assert not arrays.fixed([1, 2]).flags.writeable


def test_advantages_are_those_of_ppo():
    for rollout in advantages.CASES.values():
        arrays = [torch.tensor(array) for array in rollout[:3]]
        ppo_advantages = ppo.advantages(*arrays, *rollout[3:]).numpy()
        lab_advantages = baseline("15a").advantages(*rollout)
        np.testing.assert_allclose(lab_advantages, ppo_advantages, atol=1e-6)


def test_the_clipped_loss_has_the_gradient_of_autograd():
    for new, old, advantage, clip in clipped_loss.cases():
        old, advantage = torch.tensor(old), torch.tensor(advantage)
        variable = torch.tensor(new, requires_grad=True)
        ratio = (variable - old).exp()
        # Schulman et al., 2017, equation 7.
        clipped = ratio.clamp(1 - clip, 1 + clip)
        expected = -torch.minimum(ratio * advantage, clipped * advantage).mean()
        loss, gradient = baseline("15b").clipped_loss(new, old.numpy(), advantage.numpy(), clip)
        assert loss == pytest.approx(expected.item())
        (autograd_gradient,) = torch.autograd.grad(expected, variable)
        np.testing.assert_allclose(gradient, autograd_gradient.numpy(), atol=1e-12)


def test_raced_actions_must_be_legal_and_at_random():
    random_legal, rng = lab.find("00"), np.random.default_rng(1)
    calls = random_legal.race(rng) * 4
    actions = [baseline("00").random_actions(*call.args) for call in calls]
    assert random_legal.agrees(calls, actions, None)
    assert not random_legal.agrees(calls, [call.args[0].argmax(axis=1) for call in calls], None)
    assert not random_legal.agrees(calls, [call.args[0].argmin(axis=1) for call in calls], None)


def test_seconds_of_training_by_hand():
    seconds = baseline("07").training_seconds
    assert seconds(3, 1, 1, False) == seconds(3, 1, 1, True) == 4
    assert seconds(3, 1, 10, False) == 40
    assert seconds(3, 1, 10, True) == seconds(1, 3, 10, True) == 31


def test_games_of_a_loop_are_played_one_ply_at_a_time():
    boards = np.random.default_rng(0).integers(0, 2**64, 40, dtype=np.uint64)
    plies, ends = np.arange(40, dtype=np.int32), np.empty_like(boards)
    won = baseline("04a").run(boards, plies, ends, 40, 1)
    for ply in range(40):
        played = (boards ^ boards >> np.uint64(29)) * np.uint64(0x9E3779B97F4A7C15)
        boards = np.where(plies > ply, played, boards)
    np.testing.assert_array_equal(ends, boards)
    assert won == sum(int(board) >= 1 << 63 for board in boards)


def test_scores_by_hand():
    scores = [baseline("16").scores(*nodes).tolist() for nodes in puct.CASES.values()]
    assert scores[0] == [pytest.approx([0.5 + 0.5 * 2 / 2, -0.3 + 0.5 * 2 / 4])]
    assert scores[1] == [pytest.approx([0.5 + 0.9 * 2 / 5, 0.1 * 2])]
    assert scores[2] == [[0, 0]]


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
    order = [(0, address) for address in addresses]
    assert baseline("09").simulated(order, 1, 1, line, sets, ways) == misses


@pytest.mark.parametrize("processes", [2, 8, 32])
@pytest.mark.parametrize("algorithm", ["ring", "halving"])
def test_an_all_reduce_takes_as_long_as_in_notebook_14(processes, algorithm):
    args, link = (processes, 64_000), Link(latency=3e-6, bandwidth=2e9)
    seconds = getattr(baseline("14"), algorithm)(*args, link.latency, link.bandwidth)
    assert seconds == pytest.approx(nb14.all_reduce_seconds(*args, link, algorithm=algorithm))


def test_stages_take_their_time():
    stages = {
        "generate": Stage(3.0, runs_on="beside"),
        "infer": Stage(2.0, runs_on="device"),
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
        without = {name: bottleneck.seconds_without(stages, name) for name in stages}
        least, second, *_ = sorted(without.values())
        assert least < 0.9 * second
        limits.add(min(without, key=without.get))
    assert limits == set(bottleneck.STAGES)
