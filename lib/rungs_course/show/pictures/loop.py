"""The loop of reinforcement learning: who gives what to whom."""

from typing import Any

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from rungs_course import plots


def rl_loop():
    """Draws agent and environment, what goes from one to the other, and what the agent learns from.

    After figure 1 of Barua et al. (2022), with the legal-action mask that chess needs.
    """
    figure, axes = plots.axes(7.5, 3.6)
    axes.set(xlim=(0, 10), ylim=(0, 5))
    axes.axis("off")
    _box(axes, (0.2, 1.9), "agent", "a network, and what\nit learns by", plots.GREY)
    _box(axes, (7.0, 1.9), "environment", "the rules of chess,\nand many boards", plots.SKY)
    _arrow(axes, (3.0, 3.6), (7.0, 3.6), -0.25)
    axes.text(5.0, 4.25, "action", ha="center", va="bottom", fontweight="bold")
    _arrow(axes, (7.0, 2.2), (3.0, 2.2), -0.25)
    answers = "observation, legal actions,\nreward, and whether it is over"
    axes.text(5.0, 1.55, answers, ha="center", va="top", fontweight="bold")
    axes.text(5.0, 2.9, "generate: one step of all boards", ha="center", va="center")
    _arrow(axes, (0.9, 1.9), (2.3, 1.9), 1.1)
    axes.text(1.6, 0.75, "update, after\na batch", ha="center", va="top")
    axes.set_title("The loop of reinforcement learning")
    return figure


def _box(axes, corner: tuple[float, float], name: str, below: str, color: str) -> None:
    x, y = corner
    look: dict[str, Any] = {
        "boxstyle": "round,pad=0.05,rounding_size=0.2",
        "facecolor": color,
        "alpha": 0.6,
    }
    axes.add_patch(FancyBboxPatch(corner, 2.8, 2.0, edgecolor=plots.BLACK, **look))
    axes.text(x + 1.4, y + 1.45, name, ha="center", va="center", fontweight="bold", fontsize=12)
    axes.text(x + 1.4, y + 0.65, below, ha="center", va="center", fontsize=9)


def _arrow(axes, start: tuple[float, float], end: tuple[float, float], bend: float) -> None:
    look = {"arrowstyle": "-|>", "mutation_scale": 18, "linewidth": 2, "color": plots.BLUE}
    axes.add_patch(FancyArrowPatch(start, end, connectionstyle=f"arc3,rad={bend}", **look))
