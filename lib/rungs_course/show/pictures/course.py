"""The course as a map: a ladder of six rungs, what measures it, and what uses it."""

from typing import Any

from matplotlib.patches import FancyBboxPatch

from rungs_course import plots

LADDER = {
    "01": "Python",
    "02": "Python\nprocesses",
    "03": "C++",
    "04": "OpenMP\nthreads",
    "05": "MPI\nranks",
    "06": "CUDA",
}
MEASURE = {"07": "the ladder", "08": "roofline", "09": "counters", "10": "scaling"}
USE = {
    "11": "full system",
    "12": "peers",
    "13": "CartPole",
    "14": "beyond\none node",
    "15": "training",
    "16": "search",
}

_WIDTH, _HEIGHT = 1.5, 0.9


def course_map(here: str):
    """Draws all notebooks, and marks one of them.

    Args:
        here: its number, "00" to "16".
    """
    figure, axes = plots.axes(9.0, 5.0)
    axes.axis("off")
    _stand(axes, "00", "start here", (0.0, 0.0), plots.GREY, here)
    for i, (number, name) in enumerate(LADDER.items()):
        _stand(axes, number, name, (1.7 * (i + 1), 0.62 * (i + 1)), plots.SKY, here)
    rows = {"measure it": (MEASURE, 5.1), "use it": (USE, 6.6)}
    for title, (names, height) in rows.items():
        axes.text(-0.1, height + _HEIGHT / 2, title, ha="right", va="center", fontweight="bold")
        for i, (number, name) in enumerate(names.items()):
            _stand(axes, number, name, (1.7 * i, height), plots.GREY, here)
    axes.text(-0.1, 1.3, "climb it", ha="right", va="center", fontweight="bold")
    axes.set(xlim=(-1.9, 11.9), ylim=(-0.2, 7.7))
    axes.set_title("The course, and where you are")
    return figure


def _stand(axes, number: str, name: str, corner: tuple[float, float], color: str, here: str):
    x, y = corner
    color = plots.ORANGE if number == here else color
    look: dict[str, Any] = {
        "boxstyle": "round,pad=0.02,rounding_size=0.1",
        "edgecolor": plots.BLACK,
    }
    width = 3 if number == here else 1
    axes.add_patch(
        FancyBboxPatch(corner, _WIDTH, _HEIGHT, facecolor=color, linewidth=width, **look)
    )
    axes.text(
        x + _WIDTH / 2, y + _HEIGHT / 2, f"{number} {name}", ha="center", va="center", fontsize=9
    )
