"""The reports for other projects say what their programs print."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rungs._src.conformance.suite import load

PAGES = sorted((Path(__file__).parents[3] / "docs" / "peers").glob("*.md"))
BLOCK = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
PROGRAMS = [
    pytest.param(*block, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(BLOCK.findall(page.read_text()), 1)
]


# What they run is others', of the versions that are locked.
@pytest.mark.release
@pytest.mark.system
@pytest.mark.parametrize(("program", "prints"), PROGRAMS)
def test_a_reports_program_prints_what_it_says(program, prints):
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True)
    if re.search(r"^(ModuleNotFoundError|rungs\.errors\.UnavailableError)", done.stderr, re.M):
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.stdout == prints, done.stderr


def test_cases_that_pages_name_are_in_the_suite():
    ids = {case.id for case in load().cases}
    named = {
        name for page in PAGES for name in re.findall(r"`((?:\w+-){2,}\w+)`", page.read_text())
    }
    assert named
    assert named <= ids
