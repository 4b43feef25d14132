"""A run's table, which a run that goes on goes on with."""

import csv
import os

import pytest

from rungs._src.train.runs import Table
from rungs.errors import InvalidStateError


def begun(path, last):
    log = Table(path, last)
    log.begin()
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


@pytest.mark.parametrize(
    "text",
    [
        "update,entropy\n1,first\n2,second,more\n",
        "update,more\n1,first\n2,second\n",
        "update,update,entropy\n1,1,first\n",
        "entropy\nfirst\n",
    ],
)
def test_a_table_of_other_columns_is_refused_and_stays(tmp_path, text):
    path = tmp_path / "metrics.csv"
    path.write_text(text)
    with pytest.raises(InvalidStateError, match=r"metrics\.csv"):
        begun(path, 2).add({"update": 3, "entropy": "again"})
    assert path.read_text().split() == text.split()


def test_columns_keep_the_order_that_they_have_in_the_file(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("entropy,update\nfirst,1\n")
    begun(path, 1).add({"update": 2, "entropy": "second"})
    assert updates(path) == [(1, "first"), (2, "second")]


def test_a_table_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "metrics.csv")
    with pytest.raises(InvalidStateError, match=r"metrics\.csv"):
        Table(tmp_path / "metrics.csv", 1)


def test_a_table_without_rows_is_begun(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("")
    begun(path, 2).add({"update": 3, "entropy": "again"})
    assert updates(path) == [(3, "again")]
