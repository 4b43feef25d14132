"""The course itself, at its smallest size."""

from rungs.course import chain


def test_every_notebook_runs_from_top_to_bottom(tmp_path):
    chain.run(size="smoke", out=tmp_path, say=lambda line: None)
    numbers = [path.name[:2] for path in sorted((tmp_path / "notebooks").glob("*.ipynb"))]
    assert numbers == [f"{number:02}" for number in range(16)]
    for number in numbers:
        assert list((tmp_path / "results").glob(f"{number}_*.csv")), number
        assert list((tmp_path / "figures").glob(f"{number}_*.png")), number
