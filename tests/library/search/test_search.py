"""What a search finds, takes and refuses."""

import chess
import numpy as np
import pytest

import rungs
from rungs._src.chess.actions import to_uci
from rungs._src.chess.reason import Reason
from rungs._src.search.search import RefreshedEvaluator, Search, uniform
from rungs._src.search.settings import Gumbel, Puct
from rungs.errors import ConfigurationError
from tests.library.search.made_up import evaluate
from tests.library.search.sameness import assert_same

QUIET = {"gumbel": Gumbel(considered=40, scale=0.0), "puct": Puct(fraction=0.0, temperature=0.0)}
MATE = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"


@pytest.fixture(params=["threads", "python"])
def rung(request):
    return request.param


@pytest.mark.parametrize("policy", QUIET)
def test_it_finds_a_mate_and_leaves_no_chance(rung, policy):
    with Search(1, simulations=120, policy=QUIET[policy], rung=rung) as search:
        search.begin(MATE)
        result = search.run(uniform)
        assert to_uci(int(result.chosen[0]), MATE) == "d1d8"
        place = result.actions[0].tolist().index(result.chosen[0])
        assert result.action_values[0, place] == 1.0
        assert result.visits[0, place] == result.visits[0].max()
        search.advance(result.chosen)
        assert search.reasons[0] == Reason.CHECKMATE
        over = search.run(uniform)
        assert over.chosen[0] == -1
        assert not over.visits.any()
        search.begin(MATE)
        assert search.reasons[0] == 0


@pytest.mark.parametrize("policy", ["gumbel", "puct"])
def test_a_result_is_about_its_root(rung, policy):
    fens = [chess.STARTING_FEN, MATE]
    with Search(2, simulations=20, policy=policy, rung=rung) as search:
        search.begin(fens)
        result = search.run(evaluate)
    env = rungs.make("chess", "cpp", 1, mask="list", start_fens=fens[:1])
    _, info = env.reset()
    np.testing.assert_array_equal(result.actions[0], info["action_mask"][0])
    assert result.counts[0] == info["action_count"][0]
    np.testing.assert_array_equal(result.visits.sum(1), 20)
    np.testing.assert_allclose(result.policy.sum(1), 1, rtol=1e-6)
    np.testing.assert_allclose(result.priors.sum(1), 1, rtol=1e-6)
    for array in (result.visits, result.policy, result.priors, result.action_values):
        assert not array[result.actions < 0].any()
    for game in range(2):
        assert result.chosen[game] in result.actions[game, : result.counts[game]]


def test_what_visits_found_along_a_path_is_that_of_the_tree(rung):
    seen = []

    def watched(observation, actions, counts):
        seen.append(int(search.look(1).visits.sum()))
        return evaluate(observation, actions, counts)

    with Search(2, simulations=60, policy=QUIET["puct"], rung=rung) as search:
        assert not search.look().counts.any()
        result = search.run(watched, np.array([False, True]))
        assert seen == [0, *range(60)]
        assert not search.look(0).counts.any()
        root = search.look(1)
        for name in ("actions", "counts", "visits", "priors", "action_values", "value"):
            np.testing.assert_array_equal(getattr(root, name), getattr(result, name))
        best = int(root.actions[1, root.visits[1].argmax()])
        found, tree = search.look(1, [best]), search.tree(1)
        child = tree.edge_child[np.flatnonzero(tree.edge_action[: tree.count[0]] == best)[0]]
        edges = slice(tree.first[child], tree.first[child] + tree.count[child])
        assert sorted(tree.edge_visits[edges]) == sorted(found.visits[1, : found.counts[1]])
        assert found.visits[1].sum() == root.visits[1].max() - 1
        assert found.value[1] == np.float32(tree.value[child])
        search.advance([-1, best])
        np.testing.assert_array_equal(search.look(1).visits, found.visits)
        assert not search.look(1, [0, 0]).counts.any()
        for arguments in ((2,), (0, [-1]), (0, [10**6]), (0, [0.5])):
            with pytest.raises(ConfigurationError):
                search.look(*arguments)


def test_games_that_are_not_chosen_stay_as_they_are(rung):
    with Search(3, simulations=4, rung=rung) as search:
        which = np.array([True, False, True])
        result = search.run(evaluate, which, simulations=2)
        assert (result.chosen >= 0).tolist() == which.tolist()
        assert result.visits.sum(1).tolist() == [2, 0, 2]
        actions = np.where(which, result.chosen, -1)
        search.advance(actions)
        assert [fen == chess.STARTING_FEN for fen in search.fens()] == [False, True, False]
        search.begin(None, np.array([True, False, False]))
        assert [fen == chess.STARTING_FEN for fen in search.fens()] == [True, True, False]


def test_noise_is_a_function_of_seed_game_episode_and_ply(rung):
    def episodes(seed):
        with Search(2, simulations=16, seed=seed, rung=rung) as search:
            first = search.run(uniform)
            search.begin()
            return first, search.run(uniform)

    first, second = episodes(3)
    assert (first.visits[0] != first.visits[1]).any()
    assert (first.visits != second.visits).any()
    assert_same(episodes(3)[0], first)
    assert (episodes(4)[0].visits != first.visits).any()


def test_an_evaluator_that_raises_ends_the_search_alone(rung):
    def interrupted(*leaves):
        if search.look().visits.any():
            raise KeyboardInterrupt
        return evaluate(*leaves)

    with Search(4, simulations=8, rung=rung) as search:
        with pytest.raises(KeyboardInterrupt):
            search.run(interrupted)
        search.begin()
        assert search.run(evaluate).visits.sum() == 32


@pytest.mark.parametrize("batches", [1, 2])
def test_an_evaluator_is_refreshed_once_in_each_run_and_before_each_other_call(rung, batches):
    calls = []

    def noted(*leaves):
        calls.append("evaluate")
        return evaluate(*leaves)

    refreshed = RefreshedEvaluator(lambda: calls.append("refresh"), noted)
    with Search(4, simulations=8, rung=rung, batches=batches) as search:
        for _ in range(2):
            calls.clear()
            search.begin()
            search.run(refreshed)
            assert calls == ["refresh"] + ["evaluate"] * (len(calls) - 1)
    leaf = np.zeros((1, 72), np.int8), np.zeros((1, 218), np.int16), np.ones(1, np.int16)
    calls.clear()
    for _ in range(2):
        refreshed(*leaf)
    assert calls == ["refresh", "evaluate"] * 2


def test_memory_bytes_are_reported():
    with Search(8, simulations=16) as small, Search(8, simulations=64) as large:
        assert 0 < small.memory_bytes() < large.memory_bytes()
