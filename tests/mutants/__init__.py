"""Small faults, each of which some test must notice: `python -m tests.mutants`."""

from tests.mutants import (
    cartpole,
    environment,
    labs,
    ladder,
    learner,
    library,
    measuring,
    outputs,
    randomness,
    records,
    rules,
    search,
    selfplay,
    states,
    steps,
    training,
)

AREAS = {
    "rules of chess": rules.MUTANTS,
    "random numbers": randomness.MUTANTS,
    "environment and errors": environment.MUTANTS,
    "masks and observations": outputs.MUTANTS,
    "states": states.MUTANTS,
    "rungs of chess": ladder.MUTANTS,
    "versions of a step": steps.MUTANTS,
    "CartPole": cartpole.MUTANTS,
    "PPO and training": training.MUTANTS,
    "learner in C++": learner.MUTANTS,
    "search": search.MUTANTS,
    "self-play": selfplay.MUTANTS,
    "measuring": measuring.MUTANTS,
    "records": records.MUTANTS,
    "labs": labs.MUTANTS,
    "adapters and course": library.MUTANTS,
}
