"""Figures as files."""

from pathlib import Path

from rungs._src.core.atomic import atomic_write


def save_figure(figure, path: Path) -> None:
    """Writes a Matplotlib figure as PNG, whole or not at all."""
    with atomic_write(Path(path)) as unfinished:
        figure.savefig(unfinished, dpi=150)
