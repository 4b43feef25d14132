"""Ranks that are given different settings say what differs, and none of them waits."""

import json

import pytest

from rungs._src.chess.boards.mpi import check_agreement
from rungs._src.processes.ranks import launch
from rungs.errors import ConfigurationError, WorkerDiedError
from tests.library.chess.test_mpi import SAY, script  # noqa: F401 (a fixture)

# One job for all cases, as its start is what takes long.
DIFFER = (
    SAY
    + """
import json
from mpi4py import MPI

rank = MPI.COMM_WORLD.rank
for named, first, other in json.loads(transports[0]):
    for gather in (True, False):
        settings = {"gather": gather} | (other if rank == 1 else first)
        try:
            rungs.make("chess", "mpi", **{"num_envs": 8} | settings)
        except rungs.errors.ConfigurationError as error:
            assert str(error).startswith("ranks were given different settings: "), error
            assert named in str(error), error
            say("refused")
env = rungs.make("chess", "mpi", 8, threads=1)
if not env.serve():
    env.reset()
    env.close()
say("and goes on")
"""
)
CASES = [
    ("num_envs=8 on rank 0 and 64 on rank 1", {}, {"num_envs": 64}),
    ("num_envs=64 on rank 0 and 8 on rank 1", {"num_envs": 64}, {}),
    ("seed=0 on rank 0 and 1 on rank 1", {}, {"seed": 1}),
    ("transport=None on rank 0 and 'messages' on rank 1", {}, {"transport": "messages"}),
    ("threads=1 on rank 0 and 'two' on rank 1", {"threads": 1}, {"threads": "two"}),
    ("opponent=None on rank 0 and 'random' on rank 1", {}, {"opponent": "random"}),
    ("obs='planes' on rank 0 and 'board' on rank 1; max", {"obs": "planes"}, {"max_plies": 3}),
    ("gather=", {"gather": True}, {"gather": False}),
]

RAISES = """
import rungs
from mpi4py import MPI

rungs.make("chess", "mpi", 8, seed=-1 if MPI.COMM_WORLD.rank == 1 else 0).serve()
"""


class Ranks:
    """A communicator whose ranks have the settings that are listed."""

    def __init__(self, *settings):
        self.settings = settings

    def allgather(self, mine):
        assert mine in self.settings
        return list(self.settings)


def test_what_differs_is_named_with_the_first_rank_where_it_does():
    first, other = {"a": 1, "b": None, "c": 0}, {"a": 1, "b": "x", "c": 2}
    settings = (first, first, other, other)
    for mine in (first, other):
        with pytest.raises(ConfigurationError) as caught:
            check_agreement(Ranks(*settings), mine)
        assert str(caught.value) == (
            "ranks were given different settings: "
            "b=None on rank 0 and 'x' on rank 2; c=0 on rank 0 and 2 on rank 2"
        )
    check_agreement(Ranks(first, dict(first)), first)


@pytest.mark.system
def test_every_rank_says_what_differs(script, tmp_path):  # noqa: F811
    folder = tmp_path / "printed"
    folder.mkdir()
    launch(3, script(DIFFER), [str(folder), json.dumps(CASES)])
    printed = "".join(path.read_text() for path in folder.iterdir())
    assert printed.count("refused\n") == 3 * 2 * len(CASES)
    assert printed.count("and goes on\n") == 3


@pytest.mark.system
def test_a_rank_that_raises_before_ends_all_of_them_and_is_named(script, capfd):  # noqa: F811
    with pytest.raises(WorkerDiedError, match="worker 1 raised"):
        launch(3, script(RAISES))
    assert "ConfigurationError: seed=-1" in capfd.readouterr().err
