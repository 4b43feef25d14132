"""PPO: settings, networks, learners, training runs and evaluation. Imports PyTorch."""

from rungs._src.train.cpp_network import CppNetwork, flat_weights
from rungs._src.train.evaluate import (
    Evaluation,
    NetworkEvaluator,
    NetworkPolicy,
    evaluate,
    interval_of_share,
)
from rungs._src.train.layers import SparseSquares
from rungs._src.train.legal_actions import Legal, Packed, from_lists
from rungs._src.train.network import LegalActionNetwork, PolicyValueNetwork
from rungs._src.train.onnx_file import export_onnx
from rungs._src.train.ppo import Learner
from rungs._src.train.settings import PpoSettings, Training
from rungs._src.train.training import checkpoint, make_env, train, weakest

__all__ = [
    "CppNetwork",
    "Evaluation",
    "Learner",
    "Legal",
    "LegalActionNetwork",
    "NetworkEvaluator",
    "NetworkPolicy",
    "Packed",
    "PolicyValueNetwork",
    "PpoSettings",
    "SparseSquares",
    "Training",
    "checkpoint",
    "evaluate",
    "export_onnx",
    "flat_weights",
    "from_lists",
    "interval_of_share",
    "make_env",
    "train",
    "weakest",
]
