"""The README tells the truth."""

import re
from pathlib import Path

from rungs.show.readme import ladder_section

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_its_ladder_is_a_recorded_one():
    section = re.search(r"<!-- ladder -->\n(.*)<!-- /ladder -->", README, re.DOTALL)[1]
    folder = re.search(r"\((data/recorded/[\w-]+)/07_ladder.csv\)", section)[1]
    assert section == ladder_section(ROOT, Path(folder))


def test_its_python_runs():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names = {}
    exec(code, names)
    assert names["observation"].shape == (512, 72)


def test_its_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link
