"""Where the source tree is, whose notebooks, figures and data the course reads and writes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
