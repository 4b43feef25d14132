"""The CUDA rung: compiled for GPUs, and played on the host where there is no GPU."""

import contextlib
import ctypes
import gc
import sys
from unittest import mock

import numpy as np
import pytest
import torch

import rungs
from rungs._src.chess.boards import cuda, device
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.unpack import unpack_list
from rungs._src.core.memory import on_host
from rungs._src.core.philox import Purpose, below, philox
from rungs._src.core.tensors import chosen_device
from rungs._src.machine import gpu
from rungs.errors import ConfigurationError, IllegalActionError, UnavailableError
from rungs_course.measure.verify import assert_same
from tests.interrupt import interrupted
from tests.proof import lockstep

DEVICES = ["cpu", *(["cuda"] if gpu.usable() else [])]


def make(num_envs, **settings):
    return rungs.make("chess", "cuda", num_envs, **settings)


class OnHost:
    """An environment whose tensors are arrays to those who play it."""

    def __init__(self, env):
        self.env = env

    def __getattr__(self, name):
        return getattr(self.env, name)

    def reset(self, **arguments):
        observation, info = self.env.reset(**arguments)
        return on_host(observation).copy(), arrays(info)

    def step(self, actions, out=None):
        *outputs, info = self.env.step(actions, out)
        return *(on_host(tensor).copy() for tensor in outputs), arrays(info)


def both(num_envs, *, device, **settings):
    """An environment on a device, and one of the rung cpp."""
    reference = rungs.make("chess", "cpp", num_envs, **settings)
    return OnHost(make(num_envs, device=device, **settings)), reference


def arrays(info):
    return {
        name: arrays(value) if isinstance(value, dict) else on_host(value).copy()
        for name, value in info.items()
    }


@pytest.mark.system
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_every_kernel_compiles(arch):
    code = device.cubin(arch)
    assert code.startswith(b"\x7fELF")
    for kernel in device.KERNELS:
        assert f"rungs_chess_{kernel}".encode() in code


@pytest.mark.parametrize("device_name", DEVICES)
def test_games_from_rare_positions_are_cpps(device_name):
    fens = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    ]
    settings = {"start_fens": fens, "mask": "bits", "opening_plies": (0, 3)}
    batch, reference = both(12, device=device_name, **settings)
    lockstep.play(batch, reference, seed=1, steps=100, policy="rare")


@pytest.mark.skipif("cuda" not in DEVICES, reason="no GPU")
@pytest.mark.parametrize("settings", [{}, {"opponent": "random", "obs": "bitplanes"}])
def test_a_million_plies_on_the_gpu_are_cpps(settings):
    batch, reference = both(4096, device="cuda", mask="bits", **settings)
    lockstep.play(batch, reference, seed=2, steps=250, fens=False)


@pytest.mark.skipif("cuda" not in DEVICES, reason="no GPU")
def test_a_step_can_be_recorded_as_a_cuda_graph():
    env, plain = make(64, mask="bits", validate=False), make(64, mask="bits")
    for batch in (env, plain):
        _, info = batch.reset(seed=3)
    actions = on_host(info["action_mask"]).view(np.uint8)
    actions = np.array([np.unpackbits(row, bitorder="little").argmax() for row in actions])
    given = torch.from_numpy(actions).cuda()
    saved = env.get_state()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        env.step(given)
    env.set_state(saved)
    graph.replay()
    plain.step(given)
    assert env.fens() == plain.fens()


@pytest.mark.parametrize("device_name", DEVICES)
def test_random_play_in_one_call_is_the_same_games(device_name):
    env, plain = both(5, device=device_name, mask="bits", max_plies=40)
    env.reset(seed=6)
    _, info = plain.reset(seed=6)
    plies, episodes = np.zeros((2, 5), int)
    for _ in range(130):
        actions = []
        for i, row in enumerate(info["action_mask"]):
            legal = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
            counter = (i, int(episodes[i]), int(plies[i]), Purpose.AGENT)
            actions.append(legal[below(philox(6, *counter), len(legal))])
        _, _, terminated, truncated, info = plain.step(np.array(actions))
        ended = terminated | truncated
        plies, episodes = np.where(ended, 0, plies + 1), episodes + ended
    assert env.step_many(50) + env.step_many(80) == episodes.sum() >= 15
    assert env.fens() == plain.fens()
    assert_same("mask", on_host(env.boards.buffers.mask), info["action_mask"])


@pytest.mark.parametrize("device_name", DEVICES)
class TestContract:
    def test_outputs_are_tensors_that_stay(self, device_name):
        env = make(3, device=device_name)
        observation, info = env.reset()
        observation, reward, *_, info = env.step(
            torch.tensor(on_host(info["action_mask"]).argmax(axis=1))
        )
        for tensor, dtype in (
            (observation, torch.int8),
            (reward, torch.float32),
            (info["action_mask"], torch.bool),
        ):
            assert tensor.device.type == device_name
            assert tensor.dtype == dtype
        assert "final_obs" not in info
        trusting = make(3, device=device_name, validate=False)
        _, info = trusting.reset()
        *_, info = trusting.step(on_host(info["action_mask"]).argmax(axis=1))
        assert not info["_final_obs"].any()

    @pytest.mark.parametrize("dtype", ["float32", "uint8", "bfloat16"])
    def test_planes_are_tensors_of_their_dtype(self, device_name, dtype):
        env = make(2, device=device_name, obs="planes", dtype=dtype, mask="list")
        observation, info = env.reset()
        assert observation.dtype == getattr(torch, dtype)
        assert observation.float().sum() == 2 * 64 * 5 + 2 * 32  # move 1, rights, and pieces
        assert info["action_mask"].dtype == info["action_count"].dtype == torch.int16
        mask = unpack_list(info["action_mask"])
        assert mask.device.type == device_name
        assert mask.sum(1).tolist() == info["action_count"].tolist() == [20, 20]

    def test_an_illegal_action_on_any_board_changes_nothing(self, device_name):
        env = make(4, device=device_name, first_board=10, mask="bits")
        env.reset()
        before = env.get_state()
        for board in range(4):
            actions = np.full(4, 64 * 8 + 12)  # e2e4
            actions[board], actions[board + 1 :] = 5, 64 * 80
            with pytest.raises(IllegalActionError, match=rf"board {10 + board}: action 5 \(f1f2\)"):
                env.step(actions)
            assert env.get_state() == before

    def test_another_seed_begins_other_games(self, device_name):
        batch, reference = both(5, device=device_name, opponent="random", opening_plies=(4, 4))
        for seed in (1, 2):
            lockstep.play(batch, reference, seed=seed, steps=5)

    def test_a_state_shows_how_often_a_position_stood(self, device_name):
        env = make(1, device=device_name)
        env.reset()
        for move in ("g1f3", "g8f6", "f3g1", "f6g8"):
            observation, *_ = env.step([env.legal_moves(0)[move]])
        before = on_host(observation).copy()
        assert before[0, 70] == 1
        observation, _ = env.set_state(env.get_state())
        assert_same("observation", observation, before)


def test_without_a_gpu_it_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(gpu, "name", lambda: None)
    with pytest.raises(UnavailableError, match="NVIDIA"):
        make(4)
    monkeypatch.setattr(gpu, "name", lambda: "NVIDIA H200")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UnavailableError, match="CUDA"):
        make(4)


def test_too_little_memory_is_named(monkeypatch):
    def full(*arguments, **settings):
        raise torch.OutOfMemoryError("tried to allocate 9 GiB")

    monkeypatch.setattr(cuda.TensorBuffers, "on", full)
    with pytest.raises(UnavailableError, match="memory for 4 boards"):
        make(4, device="cpu")


def test_where_nvrtc_is_missing_it_is_named(monkeypatch):
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")

    def missing():
        raise RuntimeError("no such library")  # as cuda-core's own error is one

    monkeypatch.setattr(nvrtc, "nvrtcVersion", missing)
    with pytest.raises(UnavailableError, match="NVRTC"):
        device.cubin("sm_80")


def test_what_is_kept_for_a_rollout_goes_with_it():
    env = make(2, device="cpu", mask="bits")
    env.reset()

    def num_structs():
        gc.collect()
        size = ctypes.sizeof(env.boards._struct)
        tensors = [tensor for tensor in gc.get_objects() if type(tensor) is torch.Tensor]
        return sum(tensor.dtype == torch.uint8 and tensor.shape == (size,) for tensor in tensors)

    for steps in range(5):
        _, rows = env.rollout(2)
        for out in rows:
            env.step(env.sample_actions(steps), out)
        if not steps:
            first = num_structs()
    assert num_structs() == first


def test_a_recorded_step_reads_a_new_seed_from_the_same_memory():
    env = make(2, device="cpu", mask="bits")
    env.reset(seed=1)
    sent = env.boards.buffers.device_batch[-1]
    env.reset(seed=2)
    assert env.boards.buffers.device_batch[-1].data_ptr() == sent.data_ptr()
    struct = type(env.boards._struct)
    assert struct.from_buffer_copy(sent.numpy()).config.seed == 2


@pytest.mark.parametrize("device_name", DEVICES)
def test_without_validation_the_number_of_ends_is_unknown(device_name):
    for validate in (True, False):
        env = make(2, device=device_name, validate=validate, mask="bits")
        env.reset()
        ended = env.boards.step(env.sample_actions(0))
        assert ended == (0 if validate else None)


@pytest.mark.parametrize(
    ("named", "settings"),
    [
        ("engine", {"opponent": UciEngine("/bin/cat")}),
        ("validate", {"validate": False, "autoreset_mode": "DISABLED"}),
        ("threads_per_block", {"threads_per_block": 0}),
    ],
)
def test_what_it_can_not_do_is_named(named, settings):
    with pytest.raises(ConfigurationError, match=named):
        make(2, device="cpu", **settings)


def test_ctrl_c_leaves_boards_that_whole_steps_lead_to():
    env, other = (make(16, device="cpu") for _ in range(2))
    for batch in (env, other):
        batch.reset(seed=3)
    interrupted(0.2, call=lambda: env.step_many(2**31 - 1))
    left, launches = env.get_state(), range(200)
    assert any(
        other.step_many(other.boards.steps_at_once()) >= 0 and other.get_state() == left
        for _ in launches
    )


def test_kernels_run_on_the_device_at_construction_whichever_is_current(monkeypatch):
    current, launched, core = [1], [], mock.MagicMock()

    @contextlib.contextmanager
    def on(device):
        current.append(device.index)
        yield
        current.pop()

    def launch(stream, *_):
        launched.append((current[-1], stream.__cuda_stream__()[1]))

    core.launch = launch
    core.Device = lambda index: mock.Mock(set_current=lambda: current.__setitem__(-1, index))
    monkeypatch.setitem(sys.modules, "cuda.core", core)
    monkeypatch.setattr(device, "cubin", lambda arch, threads: b"")
    for name, fake in {
        "current_device": lambda: current[-1],
        "current_stream": lambda: mock.Mock(cuda_stream=100 + current[-1]),
        "get_device_capability": lambda device: (9, 0),
        "device": on,
    }.items():
        monkeypatch.setattr(torch.cuda, name, fake)
    chosen = chosen_device("cuda")
    current[:] = [0]
    kernels = device.Gpu(128, chosen)
    assert current == [0]
    for now in (0, 1):
        current[:] = [now]
        kernels.run("step", 4, 0)
        assert current == [now]
    assert chosen == torch.device("cuda", 1)
    assert launched == [(1, 101)] * 2
