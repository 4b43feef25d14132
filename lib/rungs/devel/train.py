"""Parts of PPO and boards on a GPU, for tools: see `rungs.devel`. Imports PyTorch."""

from rungs._src.cartpole.carts.torch import TensorCarts
from rungs._src.train.adam import Adam
from rungs._src.train.layers import NUM_PIECES
from rungs._src.train.learners import LEARNERS, LearnerKind, kind
from rungs._src.train.legal_actions import Padded, Positions
from rungs._src.train.network import scores_in_place
from rungs._src.train.ppo import PARTS, Batch, Rollout, TorchPpo, advantages, ppo_loss
from rungs._src.train.ranks import Ranks, all_ranks
from rungs._src.train.runs import CHECKPOINT
from rungs._src.train.torch_file import tensor_flaw
from rungs._src.train.training import ENGINE_TIMEOUT, EVALUATIONS, METRICS
