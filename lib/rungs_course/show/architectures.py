"""Three ways to step many environments, as pictures (the CartPole study's figures 1 to 3)."""

import matplotlib.patches

from rungs_course import plots

_ENVS = 4  # drawn for all of them


def architectures(operations: dict[str, int]):
    """Draws a process for each environment, tensors of all, and a kernel's thread for each.

    Args:
        operations: how often a step of the tensors calls each operation, by name, as of
            `rungs_course.studies.cartpole.operations`.
    """
    figure, axes = plots.axes(11.0, 4.2, ncols=3)
    _processes(axes[0])
    _tensors(axes[1], operations)
    _kernel(axes[2])
    for each in axes:
        each.set(xlim=(0, 10), ylim=(0, 10), xticks=[], yticks=[])
        each.spines[:].set_visible(False)
    return figure


def _processes(axes) -> None:
    axes.set_title("a process for each environment")
    _box(axes, 0.2, 3.6, 3.0, 2.8, "agent", plots.SKY)
    for i in range(_ENVS):
        y = 7.9 - 2.4 * i
        axes.add_patch(
            matplotlib.patches.Rectangle(
                (6.2, y - 0.45), 3.6, 1.9, fill=False, linestyle="--", edgecolor=plots.BLACK
            )
        )
        _box(axes, 6.6, y, 2.8, 1.0, f"environment {i}", plots.ORANGE)
        _arrow(axes, (3.3, 5.2), (6.1, y + 0.7))
        _arrow(axes, (6.1, y + 0.3), (3.3, 4.8))
    axes.text(2.9, 8.6, "actions there,\nobservations back", ha="center", fontsize=8)
    axes.text(2.6, 0.6, "a message each way,\nfor every step", ha="center", fontsize=8)


def _tensors(axes, operations: dict[str, int]) -> None:
    axes.set_title("an operation at a time, on all of them")
    names = sorted(operations, key=lambda name: -operations[name])[:5]
    for i in range(_ENVS):
        axes.text(2.3 + 1.9 * i, 9.3, f"{i}", ha="center", fontsize=9)
    for row, name in enumerate(names):
        y = 7.8 - 1.55 * row
        _box(axes, 1.2, y, 7.8, 0.8, f"{name}, {operations[name]} times", plots.ORANGE)
        for i in range(_ENVS):
            _arrow(axes, (2.3 + 1.9 * i, y), (2.3 + 1.9 * i, y - 0.7))
    total = sum(operations.values())
    axes.text(
        5.1, 0.1, f"{total} operations a step,\nwith memory in between", ha="center", fontsize=9
    )


def _kernel(axes) -> None:
    axes.set_title("a kernel, a thread for each")
    axes.add_patch(
        matplotlib.patches.Rectangle(
            (0.8, 1.5), 8.6, 7.6, fill=False, linestyle="--", edgecolor=plots.BLACK
        )
    )
    for i in range(_ENVS):
        x = 1.3 + 2.05 * i
        _box(
            axes, x, 2.2, 1.5, 6.2, f"thread {i}\n\nread\n\nall of\nthe step\n\nwrite", plots.ORANGE
        )
        _arrow(axes, (x + 0.75, 9.9), (x + 0.75, 8.5))
        _arrow(axes, (x + 0.75, 2.1), (x + 0.75, 1.0))
    axes.text(5.1, 0.1, "one launch,\nwith registers in between", ha="center", fontsize=9)


def _box(axes, x: float, y: float, width: float, height: float, text: str, color: str) -> None:
    axes.add_patch(
        matplotlib.patches.FancyBboxPatch(
            (x, y), width, height, boxstyle="round,pad=0.05", facecolor=color, edgecolor="white"
        )
    )
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=8)


def _arrow(axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    look = {"arrowstyle": "->", "color": plots.BLACK, "linewidth": 0.8}
    axes.annotate("", end, start, arrowprops=look)
