"""A run's table, which a run that goes on goes on with."""

import csv

from rungs.train.log import Log


class Board:
    """TensorBoard's writer, as far as it is used."""

    def add(self, values, update):
        pass


def begun(path, last):
    log = Log(path, last)
    log.begin(Board())
    return log


def updates(path):
    with path.open(newline="") as file:
        return [(int(row["update"]), row["entropy"]) for row in csv.DictReader(file)]


def test_what_was_played_after_the_last_checkpoint_is_lost(tmp_path):
    path = tmp_path / "metrics.csv"
    log = begun(path, 0)
    for update in (1, 2, 3, 4):
        log.add({"update": update, "entropy": "first"})
    log = begun(path, 2)
    assert updates(path) == [(1, "first"), (2, "first")]
    log.add({"update": 3, "entropy": "again"})
    assert updates(path) == [(1, "first"), (2, "first"), (3, "again")]
    begun(path, 0)
    assert updates(path) == []
