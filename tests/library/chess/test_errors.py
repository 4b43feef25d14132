"""Bad input gets a typed error that names it, and nothing is lost or changed."""

import contextlib

import gymnasium
import numpy as np
import pytest

import rungs
from rungs.errors import ConfigurationError, IllegalActionError, InvalidFenError, UnavailableError
from rungs.search import Search


@contextlib.contextmanager
def unchanged(env, error, match):
    """Asserts that what is done raises, and leaves outputs and positions as they were."""

    def outputs_and_fens():
        return [array.tobytes() for array in vars(env.boards.buffers).values()] + env.fens()

    before = outputs_and_fens()
    with pytest.raises(error, match=match) as caught:
        yield caught
    assert outputs_and_fens() == before


def test_an_illegal_action_on_any_board_changes_nothing(rung):
    env = rungs.make("chess", rung, 9)
    env.reset(seed=1)
    for step in range(6):
        env.step(env.sample_actions(step))
    actions = env.sample_actions(6)
    for board, fen in enumerate(env.fens()):
        bad = actions.copy()
        bad[board] = 64 * 6  # a1 to the west: off the board
        with unchanged(env, IllegalActionError, f"board {board}") as caught:
            env.step(bad)
        error = caught.value
        assert (error.board, error.action, error.fen) == (board, 384, fen)
    for action in (-1, 4672, 2**40, -(2**63), 2**63 - 1):
        with unchanged(env, IllegalActionError, str(action)):
            env.step(np.full(9, action))
    env.step(actions)


def test_an_illegal_action_is_one_in_a_mask_of_bits(rung):
    env = rungs.make("chess", rung, 2, mask="bits")
    env.reset()
    # e2e4, whose plane has more pawns on either side of it: of e1 and h3 there is none.
    for action in (524 - 8, 524 + 11):
        with unchanged(env, IllegalActionError, f"board 1: action {action}"):
            env.step([524, action])
    env.step([524, 524 + 3])


WRONG = {
    ("cpp", "num_envs"): (0, 1.5, True, "3", None, 2**40),
    ("cpp", "seed"): (-1, 2**64, 0.5, None),
    ("cpp", "max_plies"): (0, "many"),
    ("cpp", "opening_plies"): (3, (3, 2), (-1, 2), (0, 1.5)),
    ("cpp", "start_fens"): ([], "8/8/8/4k3/8/8/1q6/K7 w - - 0 1"),
    **{("cpp", name): ("kasparov",) for name in ("opponent", "mask", "obs", "start", "dtype")},
    ("openmp", "first_board"): (-1, 2**31),
    ("openmp", "threads"): (0, 1.5, 10**6),
    ("openmp", "schedule"): ("auto",),
    ("openmp", "chunk"): (0,),
    ("threads", "threads"): (0,),
    ("threads", "schedule"): ("static",),
    ("multiprocessing", "workers"): (0, "many"),
    ("multiprocessing", "transport"): ("pigeon",),
    ("multiprocessing", "timeout"): (0,),
}
# Each is known, but not beside the others.
BESIDE = [{"dtype": dtype, "obs": "planes"} for dtype in ("float16", np.uint8)]
BESIDE += [{"dtype": "uint8"}, {"dtype": "float32", "obs": "bitplanes"}]
BESIDE += [{"start": "chess960", "start_fens": ["4k3/8/8/8/8/8/8/4K2R w K - 0 1"]}]


def test_a_wrong_setting_is_named():
    wrong = [(rung, {name: each}) for (rung, name), values in WRONG.items() for each in values]
    for rung, settings in (*wrong, *(("cpp", each) for each in BESIDE)):
        with pytest.raises(ConfigurationError, match=next(iter(settings))):
            rungs.make("chess", rung, **({"num_envs": 4} | settings))


def test_too_little_memory_is_named(monkeypatch):
    env, zeros, many = rungs.make("chess", "cpp", 2), np.zeros, 10**5

    def of_a_small_machine(shape, dtype=float):
        if np.prod(shape) >= many:
            raise MemoryError
        return zeros(shape, dtype)

    monkeypatch.setattr(np, "zeros", of_a_small_machine)
    for allocate, named in (
        (lambda: rungs.make("chess", "cpp", many), f"num_envs={many}"),
        (lambda: rungs.make("cartpole", "cpp", many), f"num_envs={many}"),
        (lambda: env.rollout(many), f"length={many}"),
        (lambda: Search(many, simulations=2), f"num_games={many}"),
    ):
        with pytest.raises(UnavailableError, match=named):
            allocate()


def test_a_wrong_start_is_named():
    for fen in (
        *(None, "nonsense", "8/8/8/8/8/8/8/8 w - - 0 1", "4k3/8/8/8/8/8/8/4K3 w K - 0 1"),
        "r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1RR1Q w EFkq - 0 1",
        # Over: bare kings, 50 moves, mate.
        *("8/8/8/4k3/8/8/8/K7 w - - 0 1", "4k3/8/8/8/8/8/8/R3K3 w Q - 100 90"),
        "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1",
    ):
        with pytest.raises(InvalidFenError, match=str(fen)):
            rungs.make("chess", "cpp", 1, start_fens=["4k3/8/8/8/8/8/8/4K2R w K - 0 1", fen])


def test_the_rung_asked_for_steps_neither_before_a_reset_nor_once_closed(rung):
    env = rungs.make("chess", rung, 1)
    assert type(env.boards).__module__ == f"rungs._src.chess.boards.{rung}"
    for call in (lambda: env.step([0]), env.fens, lambda: env.legal_moves(0)):
        with pytest.raises(gymnasium.error.ResetNeeded):
            call()
    env.reset()
    env.close()
    env.close()
    for call in (env.reset, lambda: env.step([0]), env.fens):
        with pytest.raises(gymnasium.error.ClosedEnvironmentError):
            call()


def test_an_unknown_setting_is_named_with_the_choices(rung):
    with pytest.raises(ConfigurationError, match=r"colour.*height.*autoreset_mode"):
        rungs.make("chess", rung, 2, colour="red", height=3)
    with pytest.raises(ConfigurationError, match=r"opponnent.*opponent"):
        rungs.make("chess", rung, 2, opponnent="random")
