"""Lab 07: what a faster step is worth in training, in a formula that a simulation agrees with."""

import math

import numpy as np

from rungs_course.labs.lab import Difference, Lab, timed

_CASES = 300
_CLOSE = 1e-9


def _cases() -> list[tuple[float, float, int, bool]]:
    """Returns seconds to generate and to update, batches, and whether generation runs ahead."""
    rng = np.random.default_rng(14)
    cases = [(3.0, 1.0, 1, False), (3.0, 1.0, 1, True), (3.0, 1.0, 10, True), (1.0, 3.0, 10, True)]
    for _ in range(_CASES):
        generate, update = rng.exponential(1.0, 2).tolist()
        cases.append((generate, update, int(rng.integers(1, 60)), bool(rng.integers(2))))
    return cases


def _wishes() -> list[tuple[float, float, float]]:
    rng = np.random.default_rng(15)
    wishes = [(9.0, 1.0, 5.0), (9.0, 1.0, 12.0), (1.0, 1.0, 1.0), (3.0, 0.0, 40.0)]
    for _ in range(_CASES):
        generate, update = rng.exponential(1.0, 2).tolist()
        wishes.append((generate, update, float(rng.uniform(1, 4))))
    return wishes


def _simulated(generate: float, update: float, batches: int, ahead: bool) -> float:
    """Plays training through, batch by batch, and returns how long it took."""
    generated = updated = free = 0.0  # when: the last batch, the last update, the generator
    for _ in range(batches):
        generated = (free if ahead else updated) + generate
        began = max(generated, updated)
        updated, free = began + update, began
    return updated


def _judge(functions):
    for generate, update, batches, ahead in _cases():
        expected = _simulated(generate, update, batches, ahead)
        found = functions.training_seconds(generate, update, batches, ahead)
        if not math.isclose(found, expected, rel_tol=_CLOSE):
            return Difference(
                f"seconds of {batches} batches, {generate:.4g} s to generate and {update:.4g} s to "
                f"update, {'one batch ahead' if ahead else 'one after the other'}",
                f"{expected:.6g}",
                f"{found:.6g}",
            )
    for generate, update, wanted in _wishes():
        found = functions.gain_needed(generate, update, wanted)
        difference = _not_needed(generate, update, wanted, found)
        if difference:
            return difference
    return None


def _not_needed(generate: float, update: float, wanted: float, found: float) -> Difference | None:
    """Tries a gain out: training must be as much faster as was wanted, if any gain can do that."""
    parts = f"{generate:.4g} s to generate and {update:.4g} s to update"
    bound = (generate + update) / update if update else math.inf
    if found == math.inf or wanted >= bound or found <= 0:
        possible = "some number above 0" if wanted < bound else "math.inf"
        what = f"the gain needed for training to be {wanted:.4g} times as fast, {parts}"
        right = found == math.inf and wanted >= bound
        return None if right else Difference(what, possible, f"{found:.4g}")
    before = _simulated(generate, update, 100, False)
    faster = before / _simulated(generate / found, update, 100, False)
    if math.isclose(faster, wanted, rel_tol=1e-6):
        return None
    what = f"training's gain with generation {found:.4g} times as fast, {parts}"
    return Difference(what, f"{wanted:.6g}", f"{faster:.6g}")


def _work(functions):
    cases, wishes = _cases(), _wishes()

    def all_of_them():
        for case in cases:
            functions.training_seconds(*case)
        for wish in wishes:
            functions.gain_needed(*wish)

    return timed(all_of_them)


LAB = Lab(
    name="07",
    defines=("training_seconds", "gain_needed"),
    judge=_judge,
    work=_work,
    target=0.5,
    language="python",
)
