"""The learner in C++: exact in double precision, the same bits with any threads."""

import copy
import functools
import math

import numpy as np
import pytest
import torch

from rungs._src.chess.actions import target_of
from rungs._src.search.search import Search
from rungs._src.train import learners
from rungs._src.train.cpp import CppBackend, CppPpo
from rungs._src.train.cpp_network import CppNetwork
from rungs._src.train.legal_actions import Positions
from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.ppo import Batch
from rungs._src.train.ranks import Ranks
from rungs.errors import ConfigurationError, DivergedError
from tests.library.search.sameness import assert_same
from tests.library.train import batches
from tests.library.train.test_learners import HOW, SETTINGS, available
from tests.library.train.test_learners import weights as flat
from tests.tiers import system_tier


def network(seed, spread=1.0):
    """A network whose every weight is drawn, also those that begin as ones and zeros."""
    torch.manual_seed(seed)
    model = PolicyValueNetwork().double()
    with torch.no_grad():
        for weights in model.parameters():
            weights += spread * 0.1 * torch.randn_like(weights)
    return model


def agent(model, **settings):
    return CppPpo(copy.deepcopy(model), SETTINGS, **HOW, **settings)


def half(model, unit):
    """An agent whose products one unit multiplies, which is not the best here perhaps."""
    learner = available(agent, copy.deepcopy(model).float(), bfloat16=True)
    if unit == "AMX" and learner.bfloat16_unit != unit:
        pytest.skip("this processor, or its system, has no AMX")
    learner.memory._model.amx = unit == "AMX"
    return learner


UNITS = ("AMX", "AVX512-BF16")


@pytest.fixture(scope="module")
def float32():
    """A network whose weights no test changes."""
    return network(0).float()


def reference(model, name="torch"):
    return learners.kind(name).make(copy.deepcopy(model), SETTINGS, **HOW)


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", ["games", *batches.STARTS])
@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_exact_in_double_precision(name, seed):
    """Networks of all sizes of weights; the last one is sure of almost everything."""
    model = network(seed, spread=(0.3, 1.0, 3.0)[seed])
    played = batches.played("list", name, 64, torch.float64)
    exact = batches.played("bits", name, 64, torch.float64)
    rows = torch.randperm(64, generator=torch.Generator().manual_seed(seed))[:50]
    gradients, parts = agent(model).gradients(played, rows)
    wanted, wanted_parts = reference(model).gradients(exact, rows)
    for weights, gradient in wanted.items():
        error = (gradients[weights] - gradient).norm()
        assert error < 1e-9 * gradient.norm() + 1e-15, f"{weights}: {error:.1e}"
    for part, value in wanted_parts.items():
        assert parts[part].item() == pytest.approx(value.item(), rel=1e-9, abs=1e-12), part


def test_updates_are_exact_in_double_precision():
    model = network(3)
    learner, exact_learner = agent(model), reference(model)
    for update in range(3):
        rows = torch.randperm(96, generator=torch.Generator().manual_seed(update)).view(4, 24)
        parts = learner.improve(batches.played("list", "games", 96, torch.float64), rows)
        exact = exact_learner.improve(batches.played("bits", "games", 96, torch.float64), rows)
        assert parts == pytest.approx(exact, rel=1e-7)
    moved = flat(exact_learner) - flat(reference(model))
    assert (flat(learner) - flat(exact_learner)).norm() < 1e-7 * moved.norm()


# A bfloat16 has 8 bits: a factor is off by 2^-9 at most, and six layers of products, forward and
# backward, add up.
HALF = 2**-9 * 6


def autocast(model):
    return reference(model.float(), "flat-bfloat16")


@pytest.mark.parametrize(
    ("make", "bound"),
    # PyTorch also rounds what it multiplied.
    [*((functools.partial(half, unit=unit), HALF) for unit in UNITS), (autocast, 2 * HALF)],
    ids=[*UNITS, "PyTorch"],
)
@pytest.mark.parametrize("name", ["games", *batches.STARTS])
def test_bfloat16_products_are_off_by_their_rounding(name, make, bound):
    """The network is far from all outcomes, so that positions' gradients add up.

    Where they cancel out, what is left may be as small as what was rounded away.
    """
    model = network(0)
    with torch.no_grad():
        model.value.bias += 10
    played, rows = batches.played("list", name, 61), torch.arange(61)
    gradients, parts = make(copy.deepcopy(model)).gradients(played, rows)
    exact = batches.played("bits", name, 61, torch.float64)
    wanted, wanted_parts = reference(model).gradients(exact, rows)
    rounded = torch.cat([gradients[weights].flatten() for weights in wanted]).double()
    unrounded = torch.cat([gradient.flatten() for gradient in wanted.values()])
    assert 1e-5 < (rounded - unrounded).norm() / unrounded.norm() < bound
    near = {"rel": bound, "abs": 1e-3}
    assert parts["entropy"].item() == pytest.approx(wanted_parts["entropy"].item(), **near)


# float32, and bfloat16 by each unit.
MAKERS = {None: lambda model: agent(model.float())}
MAKERS |= {unit: functools.partial(half, unit=unit) for unit in UNITS}
EACH_MAKER = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


@EACH_MAKER
def test_any_number_of_threads_gives_the_same_bits(threads, make):
    played = batches.played("list", "games", 700)
    results = []
    for number in (1, 2, 3):
        threads(number)
        learner = make(network(6))
        chosen = learner.sample(played.positions, torch.Generator().manual_seed(1))
        parts = learner.improve(played, torch.arange(700).view(2, 350))
        results.append((*chosen, flat(learner), torch.tensor(list(parts.values()))))
    for other in results[1:]:
        assert all(map(torch.equal, results[0], other))


def assert_same_in_any_place(evaluate, given, threads):
    """Asserts that positions are evaluated the same, bit for bit, whatever is beside them."""
    logits, values = evaluate(*given)
    places = (slice(0, 1), slice(3, 36), slice(63, None), slice(None, None, -1))
    for count, rows in enumerate(places, 1):
        threads(count)
        some_logits, some_values = evaluate(*(array[rows] for array in given))
        assert_equal(some_values, values[rows])
        legal = np.arange(some_logits.shape[1]) < given[2][rows][:, None]
        assert_equal(some_logits[legal], logits[rows, : some_logits.shape[1]][legal])


def arrays_of_games(count):
    return [array.numpy() for array in batches.played("list", "games", count).positions]


@EACH_MAKER
def test_a_position_is_evaluated_the_same_in_any_place_of_a_batch(make, threads):
    assert_same_in_any_place(make(network(6)).evaluate, arrays_of_games(100), threads)


def test_weights_are_the_networks_and_go_both_ways():
    learner = agent(network(7).float())
    played = batches.played("list", "games")
    before = learner.values(played.positions.observation)
    others = network(8).float()
    learner.network.load_state_dict(others.state_dict())
    after = learner.values(played.positions.observation)
    assert not torch.equal(before, after)
    with torch.no_grad():
        wanted = others.values(played.positions.observation)
    torch.testing.assert_close(after, wanted, rtol=1e-4, atol=1e-5)
    rows = torch.arange(48).view(2, 24)
    learner.improve(played, rows)
    saved = copy.deepcopy(learner.state_dict())
    torch_agent = learners.kind("torch").make(PolicyValueNetwork(), SETTINGS, **HOW)
    torch_agent.load_state_dict(saved)
    assert torch.equal(flat(torch_agent), flat(learner))
    again = agent(network(9).float())
    again.load_state_dict(torch_agent.state_dict())
    assert again.improve(played, rows) == learner.improve(played, rows)
    assert torch.equal(flat(again), flat(learner))


def test_positions_that_cannot_be_learnt_are_refused(float32):
    learner = agent(float32)
    played = batches.played("list", "games")
    bits = batches.played("bits", "games")
    none = played.positions._replace(action_count=played.positions.action_count * 0)
    before = flat(learner).clone()
    for positions in (bits.positions, none):
        with pytest.raises(ConfigurationError):
            learner.sample(positions, torch.Generator())
    with pytest.raises(ConfigurationError, match="choice"):
        learner.gradients(played._replace(choice=played.choice + 218), torch.arange(4))
    for rows in (torch.tensor([48]), torch.tensor([-1]), torch.arange(0)):
        with pytest.raises(ConfigurationError, match="rows"):
            learner.gradients(played, rows)
    assert torch.equal(flat(learner), before)


LEAVES = 100  # more than a chunk


def leaves():
    """Positions as a search gives them, read by C++: each test may spoil its own."""
    return [array.numpy() for array in batches.positions("list", None, LEAVES)]


def assert_equal(actual, expected):
    assert all((a == b).all() for a, b in zip(actual, expected, strict=True))


def evaluated_as_it_is(compiled):
    """What it says of leaves, which is what a new one of the same weights says."""
    answer = compiled.evaluate(*leaves())
    assert_equal(answer, CppNetwork(copy.deepcopy(compiled.network)).evaluate(*leaves()))
    return answer


def as_data(parameter, values):
    parameter.data.copy_(values)


def as_array(parameter, values):
    parameter.detach().numpy()[...] = values


@pytest.mark.parametrize("change", [as_data, as_array])
@pytest.mark.parametrize("part", ["squares", "blocks", "norm", "query", "key", "attacked", "value"])
def test_weights_are_evaluated_as_they_are_however_they_were_changed(change, part):
    compiled = CppNetwork(network(3, spread=0.3).float())  # whose values are within -1 and 1
    before = compiled.evaluate(*leaves())
    for name, parameter in compiled.network.named_parameters():
        if part in name:
            change(parameter, parameter.detach() * 1.5 + 0.01)
    after = evaluated_as_it_is(compiled)
    assert not all((new == old).all() for new, old in zip(after, before, strict=True))


@pytest.mark.parametrize("change", [as_data, as_array])
@pytest.mark.parametrize("learns", [False, True])
def test_a_search_sees_weights_as_they_are_in_each_run_and_a_frozen_network_as_they_were(
    change, learns
):
    """Networks that are compared in each call, once in a run, and never: the same trees."""
    model = network(3, spread=0.3).float()
    compiled = CppBackend(model, 1e-3, 0.5) if learns else CppNetwork(model)
    frozen = CppNetwork(model, frozen=True)

    def searched(evaluate):
        with Search(LEAVES, simulations=6, seed=1) as search:
            return search.run(evaluate)

    def results():
        evaluators = (
            lambda *leaves: compiled.evaluate(*leaves),
            compiled.evaluate,
            frozen.evaluate,
        )
        return map(searched, evaluators)

    first, *others = results()
    for result in others:
        assert_same(result, first)
    for parameter in model.parameters():
        change(parameter, parameter.detach() * 1.5 + 0.01)
    in_each_call, once, never = results()
    assert_same(once, in_each_call)
    assert_same(once, searched(CppNetwork(copy.deepcopy(model)).evaluate))
    assert (once.value != first.value).any()
    assert_same(never, first)


@pytest.mark.parametrize("unit", UNITS)
def test_a_frozen_network_in_bfloat16_is_off_by_the_rounding_of_its_first_layer_too(unit, threads):
    model, given = network(3, spread=0.3), arrays_of_games(200)
    exact, _ = CppNetwork(model).evaluate(*given)
    half(model, unit)  # skips where the unit isn't here
    rounded = CppNetwork(model.float(), bfloat16=True, frozen=True)
    rounded.memory._model.amx = unit == "AMX"
    legal = np.arange(exact.shape[1]) < given[2][:, None]
    logits, _ = rounded.evaluate(*given)
    off = logits[legal] - exact[legal]
    assert 1e-4 < np.linalg.norm(off) / np.linalg.norm(exact[legal]) < HALF
    assert_same_in_any_place(rounded.evaluate, given, threads)


def transpose(first, second):
    first.data = first.data.T


def exchange(first, second):
    first.data, second.data = second.data, first.data


@pytest.mark.parametrize("holds", range(3))
@pytest.mark.parametrize("move", [transpose, exchange])
def test_weights_that_were_moved_in_memory_keep_their_values(move, holds):
    model = network(3).float()
    compiled = CppBackend(model, 1e-3, 0.5) if holds else CppNetwork(model)
    move(*(model.blocks[0].change[k].weight for k in (1, 3)))
    other = copy.deepcopy(model)
    if holds > 1:
        compiled._adopt_parameters()
    evaluated_as_it_is(compiled)
    for parameter, copied in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(parameter, copied)


def test_memory_that_others_have_is_left_where_it_is():
    model = network(3).float().share_memory()
    at = [weights.data_ptr() for weights in model.parameters()]
    compiled = CppNetwork(model)
    model.value.bias.data.fill_(0.25)
    evaluated_as_it_is(compiled)
    assert [weights.data_ptr() for weights in model.parameters()] == at


OFF_THE_BOARD = next(action for action in range(4672) if target_of(action) is None)


NONE = [(1, (19,), action) for action in (-1, -32768, 4672, 32767, OFF_THE_BOARD)]
NONE += [(0, (8,), piece) for piece in (7, -7, 127, -128)]
NONE += [(2, (), count) for count in (219, 32767, -1)]


@pytest.mark.parametrize("row", [0, LEAVES - 1])
@pytest.mark.parametrize(("array", "place", "value"), NONE)
def test_positions_that_there_are_not_are_refused_everywhere(float32, array, place, value, row):
    given = leaves()
    given[array][(row, *place)] = value
    learner = agent(float32)
    before = flat(learner).clone()
    positions = Positions(*map(torch.from_numpy, given))
    played = Batch(positions, torch.zeros(LEAVES, dtype=torch.int64), *torch.randn(3, LEAVES))
    readers = [
        lambda: CppNetwork(copy.deepcopy(float32)).evaluate(*given),
        lambda: learner.sample(positions, torch.Generator()),
        lambda: learner.improve(played, [torch.arange(LEAVES)]),
    ]
    if array == 0:
        readers.append(lambda: learner.values(positions.observation))
    for reader in readers:
        with pytest.raises(ConfigurationError):
            reader()
    assert torch.equal(flat(learner), before)


def test_arrays_of_something_else_are_refused_and_nothing_behind_a_list_is_read(float32):
    compiled, given = CppNetwork(copy.deepcopy(float32)), leaves()
    wanted = compiled.evaluate(*given)
    for which, array in enumerate(leaves()):
        for other in (None, "", array[0], array[:-1], array[..., :50], array.astype(np.int64)):
            with pytest.raises(ConfigurationError):
                compiled.evaluate(*given[:which], other, *given[which + 1 :])
    given[1][:, 20:] = 32767
    assert_equal(compiled.evaluate(*given), wanted)


def test_a_gradient_that_is_not_finite_moves_nothing():
    compiled = CppBackend(network(0).float(), 1e-3, 0.5)
    before = copy.deepcopy(compiled.state_dict())
    compiled.memory.gradients["norm.bias"][3] = math.inf
    with pytest.raises(DivergedError):
        compiled._descend()
    torch.testing.assert_close(compiled.state_dict(), before, rtol=0, atol=0)
    assert not any(moment.any() for moment in compiled.memory.first_moments.values())


@pytest.mark.parametrize("compiler", [*system_tier("g++"), *system_tier("cling", release=True)])
def test_every_compiler_makes_the_same_learner(compiler):
    model = network(2)
    played = batches.played("list", "games", 64, torch.float64)
    gradients, _ = agent(model, compiler=compiler).gradients(played, torch.arange(64))
    wanted, _ = agent(model).gradients(played, torch.arange(64))
    for weights, gradient in wanted.items():
        np.testing.assert_allclose(gradients[weights], gradient, rtol=1e-9, atol=1e-12)


CHANGES = [
    lambda model: model.to("meta"),
    lambda model: model.half(),
    lambda model: model.blocks[0].change.__setitem__(2, torch.nn.GELU()),
    lambda model: setattr(model.norm, "eps", 1.0),
    lambda model: setattr(model.query.bias, "data", model.query.bias.data[:32]),
    lambda model: model.value.register_forward_hook(lambda *_: None),
]


def test_other_networks_and_devices_are_refused():
    for change in CHANGES:
        model = PolicyValueNetwork()
        change(model)
        with pytest.raises(ConfigurationError):
            CppNetwork(model)
    for other in ("network", torch.nn.Linear(2, 2), PolicyValueNetwork(width=64)):
        with pytest.raises(ConfigurationError):
            CppPpo(other, SETTINGS, **HOW)
    with pytest.raises(ConfigurationError):
        CppPpo(None, SETTINGS, device=torch.device("cuda"), ranks=Ranks())
