"""PPO: settings, networks, learners, training runs and evaluation. Imports PyTorch."""

from rungs._src.train import checkpoint
from rungs._src.train.evaluate import Evaluation, evaluate
from rungs._src.train.evaluator import NetworkEvaluator
from rungs._src.train.learners.cpp_network import CppNetwork
from rungs._src.train.network import LegalActionNetwork, PolicyValueNetwork
from rungs._src.train.policy import NetworkPolicy
from rungs._src.train.ppo import Learner
from rungs._src.train.settings import PpoSettings, Training
from rungs._src.train.squares import SparseSquares
from rungs._src.train.training import make_env, train, weakest

__all__ = [
    "CppNetwork",
    "Evaluation",
    "Learner",
    "LegalActionNetwork",
    "NetworkEvaluator",
    "NetworkPolicy",
    "PolicyValueNetwork",
    "PpoSettings",
    "SparseSquares",
    "Training",
    "checkpoint",
    "evaluate",
    "make_env",
    "train",
    "weakest",
]
