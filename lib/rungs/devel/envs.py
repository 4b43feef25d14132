"""Boards of chess, the conformance suite and search, for tools: see `rungs.devel`."""

from rungs._src.cartpole.carts.carts import HostCarts
from rungs._src.chess.boards import native
from rungs._src.chess.boards.boards import Boards, illegal_action
from rungs._src.chess.boards.cpp import CppBoards
from rungs._src.chess.boards.native import parse_fen
from rungs._src.chess.boards.openmp import SCHEDULES
from rungs._src.chess.boards.python import PythonBoards
from rungs._src.chess.buffers import OUTPUTS, POSITION
from rungs._src.chess.engine import engine_name
from rungs._src.chess.env import ChessEnv
from rungs._src.chess.keywords import MaskFormat
from rungs._src.chess.observation import HISTORY, NUMBER_PLANES
from rungs._src.chess.settings import share_ends
from rungs._src.conformance import environments
from rungs._src.conformance.environment import check_not_asked
from rungs._src.conformance.run import FAILS, NOT_OFFERED, PASSES, run_aside
from rungs._src.search.search import Evaluator
from rungs._src.search.settings import MAX_SIMULATIONS, POLICIES, Policy
