"""Teams of threads for C++: of our own, so that no runtime of others is in their way.

Each thread that steps has a team, of whatever environments it steps: two threads that step at the
same time are in nobody's way. Its threads sleep between steps, and end with the thread that they
belong to. A process that is forked starts its own where it needs any.
"""

import os
import threading
import weakref
from typing import Any

from rungs._src.core.arguments import integer
from rungs._src.machine.cpu import usable_cores, warn_of_oversubscription
from rungs.errors import UnavailableError

_MOST_THREADS = 1024

_own = threading.local()


def thread_count(threads: int | None) -> int:
    """Returns how many threads are asked for; None asks for as many as there are cores to use.

    Warns where they are more than those.

    Raises:
        ConfigurationError: it is no number from 1 to 1,024.
    """
    number = integer("threads", usable_cores() if threads is None else threads, 1, _MOST_THREADS)
    warn_of_oversubscription("threads", number)
    return number


class Team:
    """Threads that a caller has to help it.

    Args:
        api: the compiled functions of `cpp/bindings`, of `rungs._src.native`.
        threads: how many, the caller's among them.

    Attributes:
        threads: how many there are.
        address: where C++ finds them.

    Raises:
        UnavailableError: the system refuses; the message says how many it gives.
    """

    def __init__(self, api: Any, threads: int):
        self.threads = threads
        self.address = api.rungs_pool_start(threads)
        if self.address < 0:
            raise refused(-self.address, threads)
        end = weakref.finalize(self, _end, api, self.address, os.getpid())
        end.atexit = False  # a thread may be in a step still; the system ends them all


def team_of(api: Any, threads: int) -> int:
    """Returns the address of the calling thread's team, of so many threads or more.

    Raises:
        UnavailableError: as `Team`.
    """
    teams = _own.__dict__
    team = teams.get(api)
    if team is None or team.threads < threads:
        team = teams[api] = Team(api, threads)
    return team.address


def workers_of(api: Any, threads: int) -> tuple[int, int, int]:
    """Returns with what C++ of another library computes on the calling thread's team.

    Args:
        api: the functions of `cpp/bindings`, whose team it is.
        threads: how many are to work.

    Returns:
        What `rungs::learn::Workers` consists of: how to run a team, the team, and so many threads;
        where that is one, none.

    Raises:
        UnavailableError: as `Team`.
    """
    if threads == 1:
        return 0, 0, 1
    return api.rungs_pool_runner(), team_of(api, threads), threads


def refused(given: int, number: int) -> UnavailableError:
    """Makes the error that says how many threads the system gives."""
    return UnavailableError(
        f"the system gives {given} of {number} threads: ask for fewer, or raise its limits on "
        "processes (ulimit -u) and memory (ulimit -v)"
    )


def _end(api: Any, address: int, process: int) -> None:
    if process == os.getpid():  # a forked process has none of the threads
        api.rungs_pool_end(address)


def _forget() -> None:
    global _own
    _own = threading.local()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_forget)
