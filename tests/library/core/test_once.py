"""What is made once, however many threads ask."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rungs._src.core.once import once


def test_threads_that_ask_at_the_same_time_get_the_same():
    asked, calls = threading.Barrier(4), []

    @once
    def make(name):
        calls.append(name)
        threading.Event().wait(0.05)  # so that all ask before it returns
        return object()

    def ask(name):
        asked.wait()
        return make(name)

    with ThreadPoolExecutor(4) as pool:
        results = [*pool.map(ask, "abab")]
    assert sorted(calls) == ["a", "b"]
    assert results[0] is results[2] is not results[1]
    assert results[1] is results[3]


def test_an_error_is_not_kept_and_one_may_need_another():
    tries = []

    @once
    def double(number):
        tries.append(number)
        if len(tries) == 1:
            raise OSError("not yet")
        return 2 * number

    @once
    def more(number):
        return double(number) + 1

    with pytest.raises(OSError, match="not yet"):
        more(4)
    assert [more(4), more(4), tries] == [9, 9, [4, 4]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_a_thread_that_it_lacks():
    inside, go_on = threading.Event(), threading.Event()

    @once
    def make(name):
        if name == "slow":
            inside.set()
            go_on.wait()
        return name

    thread = threading.Thread(target=make, args=["slow"])
    thread.start()
    inside.wait()
    if (child := os.fork()) == 0:
        signal.alarm(20)  # in place of a hang
        os._exit(make("quick") != "quick")
    go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
