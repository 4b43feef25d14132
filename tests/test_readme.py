"""The README tells the truth."""

import os
import re
from pathlib import Path

import pytest

from rungs.errors import UnavailableError
from rungs.show.readme import ladder_section

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_its_ladder_is_a_recorded_one():
    section = re.search(r"<!-- ladder -->\n(.*)<!-- /ladder -->", README, re.DOTALL)[1]
    folder = re.search(r"\((data/recorded/[\w-]+)/07_ladder.csv\)", section)[1]
    assert section == ladder_section(ROOT, Path(folder))


BLOCKS = [
    (page.name, i, code)
    for page in (ROOT / "README.md", ROOT / "docs" / "moving.md")
    for i, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize(("page", "number", "code"), BLOCKS, ids=lambda part: str(part)[:12])
def test_its_python_runs(page, number, code):
    before = dict(os.environ)
    try:
        exec(code, {})
    except UnavailableError as error:
        pytest.skip(str(error))
    except ModuleNotFoundError as error:
        pytest.skip(f"{error.name} is not installed")
    finally:  # what a peer's import sets, as EnvPool's does MPLBACKEND, is gone after the test
        os.environ.clear()
        os.environ.update(before)


@pytest.mark.parametrize("page", ["README.md", "docs/moving.md"])
def test_its_links_lead_somewhere(page):
    path = ROOT / page
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert (path.parent / link).exists(), link
