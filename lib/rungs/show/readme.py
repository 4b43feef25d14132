"""The README's ladder, table and picture, from recorded results."""

import re
from pathlib import Path

from rungs.measure import results
from rungs.show import figures, tables
from rungs.show.save import save_figure

_SECTION = re.compile(r"(<!-- ladder -->\n).*(<!-- /ladder -->)", re.DOTALL)


def ladder_section(root: Path, recorded: Path) -> str:
    """The Markdown for one machine's recorded ladder.

    Args:
        root: the repository.
        recorded: a folder of `data/recorded/`, relative to `root`, holding `07_ladder.csv`.
    """
    frame = results.load(root / recorded / "07_ladder.csv")
    facts = frame.attrs["provenance"]
    table = tables.markdown(tables.ladder(frame))
    return (
        f"{table}\n\n"
        f"{facts['num_envs']} boards a step, `{facts['mask']}` masks, on {facts['cores']} cores of "
        f"{facts['machine']}, {facts['date'][:10]} "
        f"([data]({recorded.as_posix()}/07_ladder.csv)).\n"
    )


def write_ladder(root: Path, recorded: Path) -> None:
    """Puts a machine's recorded ladder into README.md and figures/ladder.png.

    Args:
        root: the repository.
        recorded: a folder of `data/recorded/`, relative to `root`.
    """
    frame = results.load(root / recorded / "07_ladder.csv")
    floor = float(frame.attrs["provenance"]["floor_plies_per_second"])
    save_figure(figures.ladder(frame, floor), root / "figures" / "ladder.png")
    readme = root / "README.md"
    text = readme.read_text()
    section = ladder_section(root, recorded)
    readme.write_text(_SECTION.sub(lambda match: match[1] + section + match[2], text))
