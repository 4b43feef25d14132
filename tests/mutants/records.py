"""What is recorded: of one processor, of a commit that holds all sources, of a run that is kept."""

from tests.mutants.mutant import Mutant

_RECORDED = ("tests/course/test_recorded.py",)

MUTANTS = [
    Mutant(
        "mixed-folder",
        "lib/rungs_course/runner/recorded.py",
        "        if apart := differing(facts, machine, told):\n",
        '        if apart := differing(facts, machine, ("machine", "cores")):\n',
        "tables of two processors of one name are accepted in one folder",
        _RECORDED,
    ),
    Mutant(
        "dirty-table",
        "lib/rungs_course/runner/recorded.py",
        '    return commit not in (None, "None", "") and not commit.endswith("-dirty")\n',
        '    return commit not in (None, "None", "")\n',
        "tables and runs of a commit that lacks some of their sources are accepted",
        _RECORDED,
    ),
    Mutant(
        "unknown-run",
        "lib/rungs_course/runner/recorded.py",
        "        if name not in said or not (name in unverified or _run_of(name, record))\n",
        "        if name not in said\n",
        "tables of a run that nobody knows are accepted",
        _RECORDED,
    ),
    Mutant(
        "recorded-elsewhere",
        "lib/rungs_course/runner/record.py",
        '        _require_here(str(file), results.load(file).attrs["provenance"])\n',
        "        results.load(file)\n",
        "a run that went on on another processor is recorded",
        (
            "tests/course/test_results.py::test_of_full_runs_results_are_recorded_and_of_all_how_long_they_took",
        ),
    ),
]
