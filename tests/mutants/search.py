"""Faults in the search."""

from tests.mutants.mutant import Mutant

TREES = ("tests/search/test_sameness.py::test_the_same_trees",)
THREADS = ("tests/search/test_sameness.py::test_threads_and_batches_change_nothing",)
RULES = (
    "tests/search/test_sameness.py::test_repetitions_are_seen_in_the_tree",
    "tests/search/test_sameness.py::test_repetitions_fifty_moves_and_mates_on_the_path",
)
FOUND = ("tests/search/test_search.py",)
POLICY = ("tests/search/test_improved_policy.py",)
NUMBERS = ("tests/search/test_numbers.py",)

MUTANTS = [
    Mutant(
        "sign-kept",
        "cpp/search/tree.hpp",
        "value = -value;",
        "",
        "what is good for one side is good for the other",
        TREES,
    ),
    Mutant(
        "mate-is-a-draw",
        "cpp/search/game_tree.hpp",
        "path.game.reason == chess::Reason::CHECKMATE ? -1 : 0",
        "0.0F",
        "a mate in the tree is worth nothing",
        FOUND,
    ),
    Mutant(
        "path-forgotten",
        "cpp/search/game_tree.hpp",
        "    game.past[game.num_past++] = game.now;\n    if (node.position.halfmove == 0)",
        "    if (node.position.halfmove == 0)",
        "repetitions on the path of the tree don't count",
        RULES,
    ),
    Mutant(
        "past-forgotten",
        "cpp/search/game_tree.hpp",
        "    game.num_past = root.num_past;",
        "    game.num_past = 0;",
        "repetitions of what the game has had don't count",
        RULES,
    ),
    Mutant(
        "irreversible-ply-missed",
        "cpp/search/game_tree.hpp",
        "    if (node.position.halfmove == 0) game.num_past = 0;\n",
        "",
        "positions before a capture are kept, beyond their room",
        ("tests/search/test_sameness.py::test_a_pawn_moves_after_many_plies_without_one",),
    ),
    Mutant(
        "unvisited-is-lost",
        "cpp/search/select.hpp",
        "edge.visits ? edge.value_sum / edge.visits : 0.0",
        "edge.visits ? edge.value_sum / edge.visits : -1.0",
        "PUCT takes an action without visits for lost",
        TREES,
    ),
    Mutant(
        "mixed-value-is-raw",
        "cpp/search/select.hpp",
        "values.mixed = (node.raw_value + visits * mean) / (visits + 1);",
        "values.mixed = node.raw_value;",
        "q is completed with the evaluator's value alone",
        TREES,
    ),
    Mutant(
        "rest-left-out",
        "cpp/search/select.hpp",
        "values.rest = limit < node.count ? node.rest : rest;",
        "values.rest = 0;",
        "actions without visits have no share of the improved policy",
        TREES,
    ),
    Mutant(
        "rest-taken-from-one",
        "cpp/search/select.hpp",
        "values.rest = limit < node.count ? node.rest : rest;",
        "values.rest = std::max(0.0, 1.0 - probability);",
        "what unvisited actions weigh is lost in rounding, and the policy does not sum to 1",
        POLICY,
    ),
    Mutant(
        "rest-not-kept-up",
        "cpp/search/tree.hpp",
        "for (int i = node.opened; i < node.count; ++i) node.rest +=",
        "for (int i = 0; i < node.count; ++i) node.rest +=",
        "below the root, actions count as unvisited after they were visited",
        TREES,
    ),
    Mutant(
        "kept-visits-count",
        "cpp/search/select.hpp",
        "if (edges[i].visits - before[i] != visits) continue;",
        "if (edges[i].visits != visits) continue;",
        "the schedule of halving counts visits of searches before",
        TREES,
    ),
    Mutant(
        "equal-priors-by-place",
        "cpp/search/tree.hpp",
        "if (edges[i].prior > edges[best].prior) best = i;",
        "if (edges[i].prior >= edges[best].prior) best = i;",
        "of equal priors the last action comes first",
        ("tests/search/test_sameness.py::test_equal_evaluations_are_told_apart_alike",),
    ),
    Mutant(
        "kept-to-the-brim",
        "cpp/search/tree.hpp",
        "used.nodes < room.nodes && used.edges",
        "used.edges",
        "a kept tree leaves no room for a search",
        TREES,
    ),
    Mutant(
        "noise-of-one-game",
        "cpp/search/noise.hpp",
        "env::philox_words<std::uint64_t>(seed, game, episode,",
        "env::philox_words<std::uint64_t>(seed, 0, episode,",
        "all games draw the same noise",
        TREES,
    ),
    Mutant(
        "rows-not-gathered",
        "cpp/search/forest.hpp",
        "    if (next < i) {",
        "    if (next > i) {",
        "leaves behind a game that has none stay where they were",
        TREES,
    ),
    Mutant(
        "batches-mixed-up",
        "lib/rungs/search/search.py",
        "growing = helper.submit(self._trees.grow, batch, evaluation)",
        "growing = helper.submit(self._trees.grow, 1 - batch, evaluation)",
        "one half's evaluation goes into the other half's trees",
        THREADS,
    ),
    Mutant(
        "nan-taken",
        "cpp/search/forest.hpp",
        "bool right = value >= -kMost && value <= kMost;",
        "bool right = true;",
        "a value that is no number goes into the tree",
        FOUND,
    ),
    Mutant(
        "gamma-not-boosted",
        "lib/rungs/search/noise.py",
        "(exp(log(boost) / alpha) if alpha < 1 else 1.0)",
        "1.0",
        "noise with a small alpha is not concentrated",
        NUMBERS,
    ),
]
