"""The CUDA rung: compiled for GPUs, and played on the host where there is no GPU."""

import contextlib
import sys
from unittest import mock

import numpy as np
import pytest
import torch

import rungs
from rungs._src.chess.boards import cuda, device
from rungs._src.chess.engine import UciEngine
from rungs._src.core.memory import on_host
from rungs._src.core.philox import Purpose, below, philox
from rungs._src.core.tensors import chosen_device
from rungs._src.machine import gpu
from rungs.errors import ConfigurationError, IllegalActionError, UnavailableError
from rungs_course.measure.verify import assert_same
from tests.interrupt import interrupted
from tests.proof import lockstep
from tests.saved import refusal
from tests.tiers import system_tier

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


def arrays(info):
    return {
        name: arrays(value) if isinstance(value, dict) else on_host(value).copy()
        for name, value in info.items()
    }


@pytest.mark.parametrize("arch", [*system_tier("sm_80"), *system_tier("sm_90", release=True)])
def test_every_kernel_compiles(arch):
    code = device.cubin(arch)
    assert code.startswith(b"\x7fELF")
    for kernel in device.KERNELS:
        assert f"rungs_chess_{kernel}".encode() in code


@pytest.mark.skipif("cuda" not in DEVICES, reason="no GPU")
@pytest.mark.parametrize("settings", [{}, {"opponent": "random", "obs": "bitplanes"}])
def test_a_million_plies_on_the_gpu_are_cpps(settings):
    settings = settings | {"mask": "bits"}
    batch, reference = OnHost(make(4096, **settings)), rungs.make("chess", "cpp", 4096, **settings)
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
    settings = {"mask": "bits", "max_plies": 40}
    env, plain = make(5, device=device_name, **settings), rungs.make("chess", "cpp", 5, **settings)
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
        _, info = env.reset()
        actions = torch.tensor(on_host(info["action_mask"]).argmax(axis=1))
        observation, reward, *_, info = env.step(actions)
        tensors = [observation, reward, info["action_mask"]]
        assert {tensor.device.type for tensor in tensors} == {device_name}
        assert [tensor.dtype for tensor in tensors] == [torch.int8, torch.float32, torch.bool]
        assert "final_obs" not in info

    def test_without_validation_the_number_of_ends_is_unknown(self, device_name):
        for validate in (True, False):
            env = make(2, device=device_name, validate=validate, mask="bits")
            env.reset()
            ended = env.boards.step(env.sample_actions(0))
            assert ended == (0 if validate else None)
            *_, info = env.step(env.sample_actions(0))
            assert ("_final_obs" in info) == (not validate)
            assert validate or not info["_final_obs"].any()

    def test_an_illegal_action_on_any_board_changes_nothing(self, device_name):
        env = make(4, device=device_name, first_board=10, mask="bits")
        env.reset()
        for board in range(4):
            actions = np.full(4, 64 * 8 + 12)  # e2e4
            actions[board], actions[board + 1 :] = 5, 64 * 80
            with refusal(env, IllegalActionError, f"board {10 + board}: action 5 "):
                env.step(actions)


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(gpu, "name", lambda: None)
    with pytest.raises(UnavailableError, match="NVIDIA"):
        make(4)
    monkeypatch.setattr(gpu, "name", lambda: "NVIDIA H200")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UnavailableError, match="CUDA"):
        make(4)
    full = mock.Mock(side_effect=torch.OutOfMemoryError)
    monkeypatch.setattr(cuda.TensorBuffers, "on", full)
    with pytest.raises(UnavailableError, match="memory"):
        make(4, device="cpu")
    # As cuda-core's own error is one.
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setattr(nvrtc, "nvrtcVersion", mock.Mock(side_effect=RuntimeError))
    with pytest.raises(UnavailableError, match="NVRTC"):
        device.cubin("sm_80")


def test_a_recorded_step_reads_a_new_seed_from_the_same_memory():
    env = make(2, device="cpu", mask="bits")
    env.reset(seed=1)
    sent = env.boards.buffers.device_batch[-1]
    env.reset(seed=2)
    assert env.boards.buffers.device_batch[-1].data_ptr() == sent.data_ptr()
    struct = type(env.boards._struct)
    assert struct.from_buffer_copy(sent.numpy()).config.seed == 2


def test_what_it_can_not_do_is_named():
    for named, settings in {
        "engine": {"opponent": UciEngine("/bin/cat")},
        "validate": {"validate": False, "autoreset_mode": "DISABLED"},
        "threads_per_block": {"threads_per_block": 0},
    }.items():
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

    core.launch = lambda stream, *_: launched.append((current[-1], stream.__cuda_stream__()[1]))
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
