"""What a process for each environment takes of a machine."""

import resource

from rungs_course.nb02_parallel import process_limits


def test_processes_are_looked_at_and_ended():
    limits = process_limits(dict)
    assert limits.attrs["seconds"] > 0
    table = limits.set_index("resource")
    files = table.loc["open files of the parent"]
    assert files["each"] >= 1
    assert files["limit"] == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert files["environments"] == files["limit"] // files["each"]
    assert table.loc["memory, bytes", "each"] > 2**16
