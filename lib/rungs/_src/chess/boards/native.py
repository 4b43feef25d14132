"""Settings, positions and checks of saved states, for the boards of all rungs in C++."""

import ctypes
from collections.abc import Mapping

import numpy as np

from rungs._src.chess.engine import UciEngine
from rungs._src.chess.observation import format_name
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import shown
from rungs._src.native.abi import Api, Structure, described
from rungs.errors import InvalidFenError, InvalidStateError


def config(api: Api, settings: ChessSettings, num_starts: int, starts: int) -> Structure:
    """Returns the settings for C++, with seed 0; `starts` is the address of the positions."""
    values = settings.given()
    for name in ("obs", "dtype", "autoreset_mode", "opening_plies", "start", "start_fens"):
        del values[name]  # C++ has them by other names
    opponent = "ENGINE" if isinstance(settings.opponent, UciEngine) else settings.opponent or "none"
    values |= {"opponent": opponent.upper(), "mask": settings.mask.upper()}
    values["max_plies"] = settings.max_plies or 0
    return described(api).structures["ChessConfig"](
        seed=0,
        observation=format_name(settings.obs, settings.dtype),
        autoreset=settings.autoreset_mode.name,
        opening_min=settings.opening_plies[0],
        opening_max=settings.opening_plies[1],
        num_starts=num_starts,
        starts=starts,
        **values,
    )


def parse_fen(api: Api, fen: str) -> np.ndarray:
    """Returns a `rungs::chess::Position`, (8,) uint64; an InvalidFenError says why not."""
    if not isinstance(fen, str):
        raise InvalidFenError(f"{shown(fen)} is not a FEN")
    if not fen.isascii() or "\0" in fen:
        raise InvalidFenError(f"{shown(fen)} has characters that no FEN has")
    text = ctypes.create_string_buffer(fen.encode())
    why = ctypes.create_string_buffer(256)
    position = np.zeros(8, np.uint64)
    api.rungs_chess_parse_fen(ctypes.addressof(text), position.ctypes.data, ctypes.addressof(why))
    if why.value:
        raise InvalidFenError(f"{shown(fen)}: {why.value.decode(errors='replace')}")
    return position


def start_positions(api: Api, settings: ChessSettings) -> np.ndarray:
    """Returns the positions where episodes start, (n, 8) uint64; raises as `parse_fen`."""
    return np.stack([parse_fen(api, fen) for fen in settings.starts])


def fens_at(api: Api, address: int, words: int = 0, count: int = 1) -> list[str]:
    """Returns the FENs of `rungs::chess::Position`s that are `words` words of 8 bytes apart."""
    fens = np.zeros(count, "S128")
    api.rungs_chess_fens(address, words, count, fens.ctypes.data)
    return fens.astype(str).tolist()


def check_size(payload: bytes, size: int) -> None:
    if len(payload) != size:
        raise InvalidStateError(f"the state holds {len(payload)} bytes of boards, not {size}")


def block_bytes(constants: Mapping[str, int], num_envs: int) -> int:
    """Returns the size of the blocks of `num_envs` boards, by the constants that C++ describes."""
    return -(-num_envs // constants["boards_per_block"]) * constants["block_bytes"]


def restored(
    api: Api, batch: int, payload: bytes, first_board: int, histories: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Returns checked copies of boards, (N, words), and histories for `rungs_chess_put`."""
    words = np.frombuffer(payload, np.uint64).copy()
    boards, past = np.split(words, [len(words) - histories[0] * histories[1]])
    saved = boards.reshape(-1, described(api).constants["saved_board_bytes"] // 8)
    why = ctypes.create_string_buffer(256)
    addresses = saved.ctypes.data, past.ctypes.data if past.size else 0
    num_valid = api.rungs_chess_restore(batch, len(saved), *addresses, ctypes.addressof(why))
    if num_valid < len(saved):
        reason = why.value.decode(errors="replace")
        raise InvalidStateError(f"board {first_board + num_valid} of the state: {reason}")
    return saved, past.reshape(histories)
