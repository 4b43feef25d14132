"""Two searches side by side: the same results and the same trees, visit for visit."""

import numpy as np

from rungs._src.chess.actions import from_uci
from rungs._src.search.search import Search


def assert_same(actual, expected):
    """Every array of two results, or two trees, is equal to the last bit."""
    for name, array in vars(expected).items():
        assert getattr(actual, name).dtype == array.dtype, name
        np.testing.assert_array_equal(getattr(actual, name), array, name)


def assert_same_lines(fast, slow, rng):
    """Both find the same along a line of each game, and nothing behind its end."""
    for game in range(fast.num_games):
        path = []
        while True:
            found, expected = fast.look(game, path), slow.look(game, path)
            assert_same(found, expected)
            if not (count := found.counts[game]):
                break
            visited = found.actions[game, :count][found.visits[game, :count] > 0]
            path.append(int(rng.choice(visited)))


def lead(search, moves):
    """Plays moves, as UCI writes them, in the first game."""
    for uci in moves:
        actions = np.full(search.num_games, -1)
        actions[0] = from_uci(uci, search.fens()[0])
        search.advance(actions)


def search_both(games, evaluate, rng, *, plies, simulations, cpp, moves=(), **settings):
    """Searches and plays games on both rungs; returns how many nodes ended for each reason.

    `rng` chooses the games that are searched, and now and then another action than the search's.
    `cpp` are settings of C++'s rung alone; `moves` are played in the first game at first.
    """
    settings |= {"simulations": simulations}
    fast = Search(len(games), **settings, **cpp)
    slow = Search(len(games), rung="python", batches=1, **settings)
    reasons = np.zeros(8, np.int64)
    with fast, slow:
        for search in (fast, slow):
            search.begin(games)
            lead(search, moves)
        for ply in range(plies):
            which = rng.random(len(games)) < 0.9
            number = int(rng.integers(1, simulations + 1))
            results = [search.run(evaluate, which, number) for search in (fast, slow)]
            assert_same(*results)
            assert_same_lines(fast, slow, rng)
            for game in range(len(games)):
                tree = slow.tree(game)
                if (game + ply) % 2 == 0:  # to look at a tree opens its leaves: see those kept, too
                    assert_same(fast.tree(game), tree)
                reasons += np.bincount(tree.reason, minlength=8)
            actions = results[0].chosen.copy()
            for game in np.flatnonzero((actions >= 0) & (rng.random(len(games)) < 0.3)):
                actions[game] = rng.choice(results[0].actions[game, : results[0].counts[game]])
            for search in (fast, slow):
                search.advance(actions)
            assert fast.fens() == slow.fens()
            np.testing.assert_array_equal(fast.reasons, slow.reasons)
    return reasons
