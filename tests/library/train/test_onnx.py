"""ONNX Runtime computes the same policy and value, and a page plays by it."""

import chess
import numpy as np
import pytest
import torch

import rungs
from rungs._src.chess.actions import legal_actions
from rungs.errors import ConfigurationError
from rungs.selfplay import load_agent
from rungs.train import LegalActionNetwork, PolicyValueNetwork, SparseSquares, export_onnx
from tests.library.train import batches
from tests.project.test_docs import DOCS, blocks

pytestmark = pytest.mark.system
onnxruntime = pytest.importorskip("onnxruntime")

AGENTS = DOCS.parent / "data" / "agents"
SMALL = {"width": 16, "blocks": 1, "keys": 8}


def untrained(**settings):
    """A network of which no weight is 0: those of attacks are at first."""
    torch.manual_seed(0)
    network = PolicyValueNetwork(**settings)
    torch.nn.init.normal_(network.attacked.weight, std=0.1)
    return network


@pytest.mark.parametrize(
    "make",
    [
        *(lambda path=path: load_agent(path).network for path in AGENTS.iterdir()),
        lambda: untrained(squares=SparseSquares),
        lambda: untrained(**SMALL).double(),
    ],
)
def test_policy_and_value_are_the_same_in_batches_of_any_size(make, tmp_path):
    network = make()
    export_onnx(network, tmp_path / "it.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "it.onnx")
    for fens, count, plies in ((None, 64, 40), ([batches.MOST, batches.ONE], 2, 0), (None, 1, 7)):
        observation, mask, _ = batches.positions("bits", fens, count, plies)
        with torch.no_grad():
            actions, log_probabilities, value = network(observation, mask)
        outputs = session.run(["logits", "value"], {"observation": observation.numpy()})
        logits, values = map(torch.from_numpy, outputs)
        assert logits.shape == (count, 4672)
        legal = logits.gather(1, actions).masked_fill(log_probabilities.isinf(), -torch.inf)
        policy = log_probabilities.exp().float()
        torch.testing.assert_close(legal.softmax(1), policy, rtol=0, atol=1e-5)
        torch.testing.assert_close(values, value.float(), rtol=0, atol=1e-5)


def test_what_it_does_not_write_is_named(tmp_path):
    other = untrained(squares=lambda width: torch.nn.Linear(840, width))
    for network in (load_agent(), LegalActionNetwork(), other):
        with pytest.raises(ConfigurationError, match=r"^network="):
            export_onnx(network, tmp_path / "it.onnx")
    with pytest.raises(ConfigurationError, match=r"path=.*it\.onnx.*no folder"):
        export_onnx(untrained(**SMALL), tmp_path / "none" / "it.onnx")
    assert not [*tmp_path.iterdir()]


def test_the_pages_observations_and_actions_are_ours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = {}
    exec(blocks(DOCS / "howto" / "onnx.md")[1], page)
    env = rungs.make("chess", "cpp", 8, mask="list", max_plies=150)
    boards = [chess.Board() for _ in range(8)]
    observation, info = env.reset(seed=3)
    seen = set()
    for _ in range(150):
        for i, board in enumerate(boards):
            np.testing.assert_array_equal(page["observation"](board), observation[i])
            listed = info["action_mask"][i, : info["action_count"][i]].tolist()
            moves = {page["action"](move, board.turn): move for move in board.legal_moves}
            assert sorted(moves) == listed
            assert moves == legal_actions(board)
            seen |= {*listed}
        actions = env.sample_actions(0)
        for board, action in zip(boards, actions, strict=True):
            board.push(legal_actions(board)[int(action)])
        observation, _, terminated, truncated, info = env.step(actions)
        for i in np.flatnonzero(terminated | truncated):
            boards[i].reset()
    assert max(seen) // 64 > 63  # also underpromotions
