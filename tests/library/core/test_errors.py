"""Errors come back from other processes as what they were."""

import inspect
import pickle

import pytest

from rungs import errors

SPECIAL = {
    errors.IllegalActionError: errors.IllegalActionError.of(3, 0, "a1a2", "the position"),
    errors.InvalidActionError: errors.InvalidActionError(1, 2),
    errors.WorkerDiedError: errors.WorkerDiedError(1, "died"),
    errors.MainGuardError: errors.MainGuardError(),
    errors.EngineError: errors.EngineError("it died", 3),
}
KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.RungsError)
]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_can_be_pickled(kind):
    error = SPECIAL[kind] if kind in SPECIAL else kind("a message")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))


def test_gymnasium_can_raise_an_illegal_action_of_its_workers_again():
    error = errors.IllegalActionError.of(3, 0, "a1a2", "the position")
    again = type(error)(error)  # as AsyncVectorEnv does
    assert str(again) == str(error)
