"""Other projects' environments behind our interface, to be measured beside our rungs."""

import importlib

_PEERS = {"OpenSpiel": ("rungs.peers.open_spiel", "OpenSpielChessEnv")}


def is_peer(name: str) -> bool:
    """Whether `make` knows it."""
    return name in _PEERS


def make(name: str, num_envs: int, **settings):
    """Makes a peer's chess environment, with `rungs.make`'s settings as far as it has them.

    Raises:
        ConfigurationError: a setting that it doesn't have.
        UnavailableError: it is not installed.
    """
    module, vector_env = _PEERS[name]
    return getattr(importlib.import_module(module), vector_env)(num_envs, **settings)
