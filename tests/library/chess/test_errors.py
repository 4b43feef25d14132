"""Bad input gets a typed error that names it, and nothing is lost or changed."""

import gymnasium
import numpy as np
import pytest

import rungs
from rungs._src.chess.policy import random_actions
from rungs.errors import ConfigurationError, IllegalActionError, InvalidFenError, UnavailableError
from rungs.search import Search


def begun(rung, num_envs, steps=6, **settings):
    env = rungs.make("chess", rung, num_envs, **settings)
    _, info = env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(steps):
        *_, info = env.step(random_actions(info["action_mask"], rng))
    return env, random_actions(info["action_mask"], rng)


def outputs_and_fens(env):
    fields = vars(env.boards.buffers)
    return [fields[name].tobytes() for name in sorted(fields)] + env.fens()


def test_an_illegal_action_on_any_board_changes_nothing(rung):
    env, actions = begun(rung, 9)
    before = outputs_and_fens(env)
    for board, fen in enumerate(env.fens()):
        bad = actions.copy()
        bad[board] = 64 * 6  # a1 to the west: off the board
        with pytest.raises(IllegalActionError, match=f"board {board}") as caught:
            env.step(bad)
        assert (caught.value.board, caught.value.action) == (board, 384)
        assert caught.value.fen == fen
        assert fen in str(caught.value)
        assert outputs_and_fens(env) == before
    for action in (-1, 4672, 2**40, -(2**63), 2**63 - 1):
        with pytest.raises(IllegalActionError, match=str(action)):
            env.step(np.full(9, action))
        assert outputs_and_fens(env) == before
    env.step(actions)


def test_an_illegal_action_is_one_in_a_mask_of_bits(rung):
    env = rungs.make("chess", rung, 2, mask="bits")
    env.reset()
    before = outputs_and_fens(env)
    # e2e4, whose plane has more pawns on either side of it: of e1 and h3 there is none.
    for action in (524 - 8, 524 + 11):
        with pytest.raises(IllegalActionError, match=f"board 1: action {action}"):
            env.step([524, action])
    assert outputs_and_fens(env) == before
    env.step([524, 524 + 3])


@pytest.mark.parametrize(
    ("actions", "named"),
    [
        (np.zeros(3, np.int64), r"\(3,\)"),
        (np.zeros((2, 1), np.int64), r"\(2, 1\)"),
        (np.zeros(2), "float64"),
        (np.zeros(2, np.bool_), "bool"),
        (np.zeros(2, np.uint64), "uint64"),
        (["e2e4", "e2e4"], "<U4"),
    ],
)
def test_actions_of_a_wrong_shape_or_dtype(actions, named):
    env, _ = begun("cpp", 2)
    before = outputs_and_fens(env)
    with pytest.raises(ConfigurationError, match=named):
        env.step(actions)
    assert outputs_and_fens(env) == before


@pytest.mark.parametrize(
    ("rung", "settings"),
    [
        *(("cpp", {"num_envs": value}) for value in (0, 1.5, True, "3", None, 2**40)),
        *(("cpp", {"seed": value}) for value in (-1, 2**64, 0.5, None)),
        *(("cpp", {"max_plies": value}) for value in (0, "many")),
        *(("cpp", {"opening_plies": value}) for value in (3, (3, 2), (-1, 2), (0, 1.5))),
        *(("cpp", {"start_fens": value}) for value in ([], "8/8/8/4k3/8/8/1q6/K7 w - - 0 1")),
        *(("cpp", {"dtype": dtype, "obs": "planes"}) for dtype in ("float16", np.uint8)),
        ("cpp", {"dtype": "uint8"}),
        ("cpp", {"dtype": "float32", "obs": "bitplanes"}),
        ("cpp", {"opponent": "kasparov"}),
        ("cpp", {"mask": "lists"}),
        ("cpp", {"obs": "pixels"}),
        ("cpp", {"start": "chess959"}),
        ("cpp", {"start": "chess960", "start_fens": ["4k3/8/8/8/8/8/8/4K2R w K - 0 1"]}),
        ("cpp", {"first_board": 2**31}),
        ("openmp", {"first_board": -1}),
        *(("openmp", {"threads": value}) for value in (0, 1.5, 10**6)),
        ("openmp", {"schedule": "auto"}),
        ("openmp", {"chunk": 0}),
        ("threads", {"threads": 0}),
        ("threads", {"schedule": "static"}),
        ("multiprocessing", {"workers": 0}),
        ("multiprocessing", {"workers": "many"}),
        ("multiprocessing", {"transport": "pigeon"}),
        ("multiprocessing", {"timeout": 0}),
    ],
)
def test_a_wrong_setting_is_named(rung, settings):
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


@pytest.mark.parametrize(
    ("fen", "why"),
    [
        ("nonsense", "nonsense"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "KING"),
        ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", "BAD_CASTLING_RIGHTS"),
        ("r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1RR1Q w EFkq - 0 1", "BAD_CASTLING_RIGHTS"),
        ("8/8/8/4k3/8/8/8/K7 w - - 0 1", "over"),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 100 90", "over"),
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", "over"),
        (None, "None"),
    ],
)
def test_a_wrong_start_is_named(fen, why):
    with pytest.raises(InvalidFenError, match=why):
        rungs.make("chess", "cpp", 1, start_fens=["4k3/8/8/8/8/8/8/4K2R w K - 0 1", fen])


def test_the_rung_is_the_one_asked_for(rung):
    env = rungs.make("chess", rung, 2)
    env.close()
    assert type(env.boards).__module__ == f"rungs._src.chess.boards.{rung}"


def test_step_before_reset_and_anything_after_close(rung):
    env = rungs.make("chess", rung, 1)
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
