"""Figures as files."""

from pathlib import Path

from rungs.core.atomic import written


def save_figure(figure, path: Path) -> None:
    """Writes a Matplotlib figure as PNG, whole or not at all."""
    with written(Path(path)) as unfinished:
        figure.savefig(unfinished, dpi=150)
