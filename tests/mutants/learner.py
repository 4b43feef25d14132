"""Faults in the learner of `cpp/learn`: in its products, its gradients and its optimizer."""

from tests.mutants.mutant import Mutant

GRADIENTS = ("tests/train/learners/test_cpp.py::test_gradients_are_exact_in_double_precision",)
UPDATES = ("tests/train/learners/test_cpp.py::test_updates_are_exact_in_double_precision",)

MUTANTS = [
    Mutant(
        "last-rows-of-a-product",
        "cpp/learn/product.hpp",
        "if constexpr (tile_rows > 1)",
        "if constexpr (tile_rows > 3)",
        "rows that fill no tile are left out of a product",
        ("tests/studies/test_products.py", *GRADIENTS),
    ),
    Mutant(
        "empty-squares-gradient",
        "cpp/learn/gradient.hpp",
        "if (kind != kEmpty) rest -= load(",
        "if (kind > kEmpty) rest -= load(",
        "an empty square learns from their pieces on it, too",
        GRADIENTS,
    ),
    Mutant(
        "beta-in-weights-gradient",
        "cpp/learn/gradient.hpp",
        "to[at] = sums[at] * gamma[i] + bias[output] * gamma[kWidth + i];",
        "to[at] = sums[at] * gamma[i];",
        "weights behind a LayerNorm don't learn from its beta",
        GRADIENTS,
    ),
    Mutant(
        "normalised-along-nothing",
        "cpp/learn/backward.hpp",
        "everywhere(-sum(along) / kWidth)",
        "everywhere(sum(along) * 0)",
        "a LayerNorm's gradient is as if its scale were fixed",
        GRADIENTS,
    ),
    Mutant(
        "clip-that-never-holds",
        "cpp/learn/ppo.hpp",
        "clipped < gain ? 0 : -gain * each",
        "-gain * each",
        "a probability moves on where the clip should hold it",
        GRADIENTS,
    ),
    Mutant(
        "entropy-without-its-mean",
        "cpp/learn/ppo.hpp",
        "p * (by_entropy * (logp + entropy) - by_chosen)",
        "p * (by_entropy * logp - by_chosen)",
        "the entropy's gradient is another",
        GRADIENTS,
    ),
    Mutant(
        "taking-is-not-learnt",
        "cpp/learn/gradient.hpp",
        "store<T>(load(taking + p * kLanes<T>) + more, taking + p * kLanes<T>);",
        "",
        "who moves and what is taken are not learnt",
        GRADIENTS,
    ),
    Mutant(
        "units-that-fall-asleep",
        "cpp/learn/adam.hpp",
        "if (here != 0) all.awake[unit] = true;",
        "all.awake[unit] = here != 0;",
        "weights whose gradient is 0 for once lose their momentum",
        UPDATES,
    ),
    Mutant(
        "moments-that-stay-asleep",
        "lib/rungs/train/learners/compiled.py",
        "        self.api.rungs_learn_wake(self.memory.address)\n",
        "",
        "weights go on without the momentum that was loaded",
        ("tests/train/learners/test_cpp.py::test_weights_are_the_networks_and_go_both_ways",),
    ),
    Mutant(
        "weights-that-are-not-seen-to-change",
        "lib/rungs/train/learners/compiled.py",
        "if changes != self._prepared:",
        "if self._prepared < 0:",
        "a network that was given other weights plays by its old ones",
        ("tests/train/learners/test_cpp.py::test_weights_are_the_networks_and_go_both_ways",),
    ),
]
