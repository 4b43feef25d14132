"""Thread pools for C++, independent of OpenMP.

Each calling thread has one pool, which it uses for all its environments, so two threads can step
environments at the same time. The pool's threads sleep between steps and end with the calling
thread. A forked process starts a pool of its own when it needs one.
"""

import os
import threading
import weakref
from typing import Any

from rungs._src.core.arguments import integer
from rungs._src.machine.cpu import usable_cores, warn_of_oversubscription
from rungs.errors import UnavailableError

_MAX_THREADS = 1024

_pools = threading.local()


def thread_count(threads: int | None, cores: int | None = None) -> int:
    """Returns the checked number of threads, by default `cores` or all usable ones."""
    if threads is None:
        threads = min(cores or usable_cores(), _MAX_THREADS)
    number = integer("threads", threads, 1, _MAX_THREADS)
    warn_of_oversubscription("threads", number)
    return number


class ThreadPool:
    """A caller's pool of `threads` threads, including the caller, at an address in C++.

    With `fewer`, where the system gives fewer threads, it has half of those.
    """

    def __init__(self, api: Any, threads: int, fewer: bool = False):
        self.wanted = self.threads = threads
        self.address = api.rungs_pool_start(threads)
        while fewer and self.address < 0 and self.threads > 1:
            self.threads = max(1, -self.address // 2)  # the rest is left to others
            self.address = api.rungs_pool_start(self.threads)
        if self.address < 0:
            raise refused(-self.address, threads)
        end = weakref.finalize(self, _end, api, self.address, os.getpid())
        end.atexit = False  # a thread may still be in a step; the system ends them all


def pool_of(api: Any, threads: int, fewer: bool = False) -> int:
    """Returns the address of the calling thread's `ThreadPool`; 0 for one thread."""
    if threads == 1:
        return 0
    pools = _pools.__dict__
    pool = pools.get(api)
    if pool is None or (pool.wanted if fewer else pool.threads) < threads:
        pool = pools[api] = ThreadPool(api, threads, fewer)
    return pool.address


def workers_of(api: Any, threads: int, fewer: bool = False) -> tuple[int, int, int]:
    """Returns the fields of `rungs::learn::Workers`: a function, its pool, and the threads."""
    if threads == 1:
        return 0, 0, 1
    return api.rungs_pool_runner(), pool_of(api, threads, fewer), threads


def refused(available: int, number: int) -> UnavailableError:
    """Returns the error for a system that gives only `available` of `number` threads."""
    return UnavailableError(
        f"the system gives {available} of {number} threads: ask for fewer, or raise its limits on "
        "processes (ulimit -u) and memory (ulimit -v), and OpenMP's (OMP_THREAD_LIMIT, OMP_DYNAMIC)"
    )


def _end(api: Any, address: int, process: int) -> None:
    if process == os.getpid():  # a forked process does not have the threads
        api.rungs_pool_end(address)


def _forget() -> None:
    global _pools
    _pools = threading.local()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_forget)
