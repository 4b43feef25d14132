"""Faults in what is drawn at random, and for what."""

from tests.mutants.mutant import Mutant

ANSWERS = ("tests/core/test_philox.py",)
LOCKSTEP = ("tests/chess/test_sameness.py::test_cpp_is_python_from_adversarial_starts",)

MUTANTS = [
    Mutant(
        "philox-constant",
        "lib/rungs/core/philox.py",
        "0xCD9E8D57 * c2",
        "0xCD9E8D59 * c2",
        "Philox multiplies by another number",
        ANSWERS,
    ),
    Mutant(
        "philox-seed-halved",
        "lib/rungs/core/philox.py",
        "seed >> 32 & _WORD",
        "0",
        "only half of a seed's bits count",
        ANSWERS,
    ),
    Mutant(
        "philox-rounds",
        "cpp/env/philox.hpp",
        "for (int round = 0; round < 10; ++round)",
        "for (int round = 0; round < 9; ++round)",
        "Philox has nine rounds in C++",
        LOCKSTEP,
    ),
    Mutant(
        "philox-seed-halved-in-cpp",
        "cpp/env/philox.hpp",
        "{seed & kLow, seed >> 32}",
        "{seed & kLow, 0}",
        "only half of a seed's bits count in C++",
        ("tests/chess/test_sameness.py::test_all_bits_of_a_seed_count_on_both_rungs",),
    ),
    Mutant(
        "below-is-modulo",
        "lib/rungs/core/philox.py",
        "return bits * n >> 32",
        "return bits % n",
        "Python chooses by the low bits, C++ by the high ones",
        LOCKSTEP,
    ),
    Mutant(
        "board-left-out",
        "cpp/env/chess_env.hpp",
        "philox(config.seed, board, episode, ply, purpose)",
        "philox(config.seed, 0, episode, ply, purpose)",
        "all boards draw the same numbers",
        LOCKSTEP,
    ),
    Mutant(
        "purpose-reused",
        "cpp/env/chess_env.hpp",
        "config.opponent == Opponent::RANDOM ? random_action(config, Purpose::OPPONENT)",
        "config.opponent == Opponent::RANDOM ? random_action(config, Purpose::OPENING)",
        "the opponent's replies use the numbers of openings",
        LOCKSTEP,
    ),
    Mutant(
        "streams-in-another-order",
        "lib/rungs/core/philox.py",
        "    START = 1\n    OPENING_LENGTH = 2\n",
        "    START = 2\n    OPENING_LENGTH = 1\n",
        "Python draws starts with the numbers that C++ has for openings' lengths",
        LOCKSTEP,
    ),
    Mutant(
        "poles-actions-repeat",
        "cpp/rungs/cartpole.hpp",
        "if (fresh || drawn % 128 == 0) {",
        "if (fresh) {",
        "random actions of CartPole come again after 128",
        ("tests/cartpole/test_sameness.py::test_many_steps_at_once_are_as_many_steps",),
    ),
    Mutant(
        "poles-actions-of-half-the-words",
        "lib/rungs/cartpole/carts/carts.py",
        "drawn_words[bit // 32] >> bit % 32 & 1",
        "drawn_words[bit // 32 % 2] >> bit % 32 & 1",
        "half of the random actions of CartPole are the other half again",
        ("tests/cartpole/test_sameness.py::test_many_steps_at_once_are_as_many_steps",),
    ),
    Mutant(
        "poles-draws-forgotten",
        "lib/rungs/cartpole/vector_env.py",
        "self._drawn += some if actions is None else 0",
        "self._drawn += 0",
        "each call of step_many draws the same random actions",
        ("tests/cartpole/test_sameness.py::test_random_actions_are_bits_of_philox",),
    ),
]
