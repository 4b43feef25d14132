"""Faults in the learner of `cpp/learn`: in its products, its gradients and its optimizer."""

from tests.mutants.mutant import Mutant

GRADIENTS = ("tests/train/learners/test_cpp.py::test_gradients_are_exact_in_double_precision",)
UPDATES = ("tests/train/learners/test_cpp.py::test_updates_are_exact_in_double_precision",)

CPP = "tests/train/learners/test_cpp.py::"
LEARNERS = "tests/train/learners/test_learners.py::"

MUTANTS = [
    Mutant(
        "last-rows-of-a-product",
        "cpp/learn/bf16_gemm.hpp",
        "if constexpr (tile_rows > 1)",
        "if constexpr (tile_rows > 3)",
        "rows that fill no tile are left out of a product",
        ("tests/studies/test_products.py", *GRADIENTS),
    ),
    Mutant(
        "empty-squares-gradient",
        "cpp/learn/backward.hpp",
        "if (kind != kEmpty) rest -= load(",
        "if (kind > kEmpty) rest -= load(",
        "an empty square learns from their pieces on it, too",
        GRADIENTS,
    ),
    Mutant(
        "beta-in-weights-gradient",
        "cpp/learn/backward.hpp",
        "to[at] = sums[at] * gamma[i] + bias[output] * gamma[kWidth + i];",
        "to[at] = sums[at] * gamma[i];",
        "weights behind a LayerNorm don't learn from its beta",
        GRADIENTS,
    ),
    Mutant(
        "normalised-along-nothing",
        "cpp/learn/backward.hpp",
        "broadcast(-reduce_add(projection) / kWidth)",
        "broadcast(reduce_add(projection) * 0)",
        "a LayerNorm's gradient is as if its scale were fixed",
        GRADIENTS,
    ),
    Mutant(
        "clip-that-never-holds",
        "cpp/learn/losses.hpp",
        "clipped < surrogate ? 0 : -surrogate * inverse_rows",
        "-surrogate * inverse_rows",
        "a probability moves on where the clip should hold it",
        GRADIENTS,
    ),
    Mutant(
        "entropy-without-its-mean",
        "cpp/learn/losses.hpp",
        "p * (entropy_scale * (logp + entropy) - chosen_gradient)",
        "p * (entropy_scale * logp - chosen_gradient)",
        "the entropy's gradient is another",
        GRADIENTS,
    ),
    Mutant(
        "taking-is-not-learnt",
        "cpp/learn/backward.hpp",
        "store<T>(load(capture_key + p * kLanes<T>) + more, capture_key + p * kLanes<T>);",
        "",
        "who moves and what is taken are not learnt",
        GRADIENTS,
    ),
    Mutant(
        "units-that-fall-asleep",
        "cpp/learn/train_step.hpp",
        "if (here != 0) all.touched[unit] = true;",
        "all.touched[unit] = here != 0;",
        "weights whose gradient is 0 for once lose their momentum",
        UPDATES,
    ),
    Mutant(
        "moments-that-stay-asleep",
        "lib/rungs/train/learners/compiled.py",
        "        self.api.rungs_learn_mark_touched(self.memory.address)\n",
        "",
        "weights go on without the momentum that was loaded",
        ("tests/train/learners/test_cpp.py::test_weights_are_the_networks_and_go_both_ways",),
    ),
    Mutant(
        "weights-that-are-not-seen-to-change",
        "lib/rungs/train/learners/compiled.py",
        "        self._call(self.api.rungs_learn_refresh)\n",
        "        if not hasattr(self, 'once'):\n"
        "            self.once = self._call(self.api.rungs_learn_refresh)\n",
        "a network that was given other weights plays by its old ones",
        ("tests/train/learners/test_cpp.py::test_weights_are_the_networks_and_go_both_ways",),
    ),
    Mutant(
        "only-weights-that-pytorch-saw-change",
        "lib/rungs/train/learners/compiled.py",
        "same and not _memcmp(seen.data_ptr(), now.data_ptr(), self._bytes):",
        "same:",
        "a network whose weights were changed past PyTorch is evaluated as it was",
        (f"{CPP}test_weights_are_evaluated_as_they_are_however_they_were_changed",),
    ),
    Mutant(
        "products-of-weights-that-were",
        "cpp/learn/network.hpp",
        "  model.prepared->copy_valid = false;\n",
        "",
        "weights that are changed back after learning are evaluated as they were in between",
        (
            f"{CPP}test_weights_that_were_changed_and_changed_back_are_evaluated_in_between_learning",
        ),
    ),
    Mutant(
        "evaluating-takes-the-network",
        "lib/rungs/train/learners/compiled.py",
        "            each.renew()\n",
        "            each.renew()\n            each.parameter.data = each.place\n",
        "evaluating a network moves it out of the memory that others have",
        (f"{CPP}test_memory_that_others_have_is_left_where_it_is",),
    ),
    Mutant(
        "cut-from-its-network",
        "lib/rungs/train/learners/compiled.py",
        "            each.parameter.data = each.place\n",
        "",
        "a learner moves weights that its network no longer has",
        (f"{LEARNERS}test_a_network_whose_memory_is_replaced_is_still_learnt",),
    ),
    Mutant(
        "flat-vector-cut-from-its-network",
        "lib/rungs/train/adam.py",
        "        self._hold()\n        self._gradient.zero_()",
        "        self._gradient.zero_()",
        "the flat learner moves weights that its network no longer has",
        (f"{LEARNERS}test_a_network_whose_memory_is_replaced_is_still_learnt",),
    ),
    Mutant(
        "actions-beyond-the-last",
        "cpp/learn/forward.hpp",
        "if (action < 0 || action >= kActions) return -1;",
        "if (action < 0) return -1;",
        "C++ reads keys of actions that there are not",
        (f"{CPP}test_positions_that_there_are_not_are_refused_everywhere",),
    ),
    Mutant(
        "actions-off-the-board",
        "cpp/learn/forward.hpp",
        "if (to < 0 || to >= 64) return -1;",
        "",
        "C++ reads squares beyond the board",
        (f"{CPP}test_positions_that_there_are_not_are_refused_everywhere",),
    ),
    Mutant(
        "pieces-that-there-are-not",
        "cpp/learn/forward.hpp",
        "(observation[square] + kEmpty) >= kPieces;",
        "(observation[square] + kEmpty) > kPieces;",
        "C++ reads weights of a piece that there is not",
        (f"{CPP}test_positions_that_there_are_not_are_refused_everywhere",),
    ),
    Mutant(
        "steps-that-are-not-finite",
        "cpp/learn/train_step.hpp",
        "  if (!std::isfinite(total)) return false;\n",
        "",
        "a gradient that is not finite moves all weights",
        (f"{CPP}test_a_gradient_that_is_not_finite_moves_nothing",),
    ),
]
