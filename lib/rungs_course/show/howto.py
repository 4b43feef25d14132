"""What the pages of docs/howto take from what is recorded beside them: adapters, and Ray's log.

`python -m rungs_course.show.howto` puts them in anew.
"""

import re
from pathlib import Path

import pandas as pd

from rungs._src.machine.describe import in_words
from rungs_course import paths
from rungs_course.measure import results
from rungs_course.show.style import duration, speed
from rungs_course.show.tables import markdown
from rungs_course.studies import adapters

HOWTO = paths.ROOT / "docs" / "howto"
RECORDED = HOWTO / "recorded"

# By which import an example on a page is one of an adapter's.
_IMPORTS = {
    "TorchRL": "rungs.adapters.torchrl",
    "TorchRL, 32 steps kept": "rungs.adapters.torchrl",
    "RLlib": "rungs.adapters.rllib",
    "Stable-Baselines3": "rungs.adapters.sb3",
    "Tianshou": "rungs.adapters.tianshou",
    "PettingZoo": "rungs.adapters.pettingzoo",
}


def sections() -> dict[Path, dict[str, str]]:
    """Returns the generated sections by page and name, as Markdown."""
    times = results.load(RECORDED / "adapters.csv")
    log = (RECORDED / "ray.log").read_text()
    return {
        HOWTO / "train_with.md": {"adapters": _adapters(times)},
        HOWTO / "cluster.md": {"ray": f"\n```text\n{log}```\n\n"},
    }


def write() -> None:
    """Puts the sections into their pages."""
    for page, named in sections().items():
        text = page.read_text()
        for name, section in named.items():
            head, rest = text.split(f"<!-- {name} -->\n")
            text = (
                f"{head}<!-- {name} -->\n{section}<!-- /{name} -->"
                + rest.split(f"<!-- /{name} -->")[1]
            )
        page.write_text(text)


def _adapters(times: pd.DataFrame) -> str:
    facts = times.attrs["provenance"]
    found = adapters.table(times)
    share = "{:+.0%}".format
    table = pd.DataFrame(
        {
            "Through": found["adapter"],
            "Version": found["version"],
            "Plies": found["rate"].map(speed),
            "A step": found["seconds"].map(duration),
            "Added to a step": found["overhead"].map(share),
            "Quartiles": found["low"].map(share) + " to " + found["high"].map(share),
            "Its user's lines": found["adapter"].map(_lines),
        }
    )
    return (
        f"\n{markdown(table)}\n\n{int(times['num_envs'].iloc[0]):,} boards on the rung "
        f"`{facts['rung']}` of {in_words(facts)}, {facts['repeats']} rounds in turns, "
        f"{facts['date'][:10]} ([data](recorded/adapters.csv)).\n\n"
    )


def _lines(adapter: str) -> str:
    """Counts the lines of an adapter's shortest example, or says nothing of what has none."""
    pages = [HOWTO / "train_with.md", paths.ROOT / "docs" / "library.md"]
    blocks = [
        block
        for page in pages
        for block in re.findall(
            r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE
        )
        if adapter in _IMPORTS and _IMPORTS[adapter] in block
    ]
    counts = [sum(bool(line.strip()) for line in block.splitlines()) for block in blocks]
    return str(min(counts)) if counts else ""


if __name__ == "__main__":
    write()
