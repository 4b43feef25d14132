"""Results and figures as files."""

import pandas as pd
import pytest

from rungs.atomic import written
from rungs.errors import ConfigurationError
from rungs.measure import results
from rungs.measure.ladder import ladder_table
from rungs.show import figures, tables
from rungs.show.readme import ladder_section, write_ladder
from rungs.show.save import save_figure


def test_a_result_says_where_it_comes_from(tmp_path):
    frame = pd.DataFrame({"rung": ["python", "cpp"], "seconds": [0.5, 1 / 3]})
    path = tmp_path / "new" / "x.csv"
    results.save(frame, path, {"size": "smoke", "seed": 4})
    loaded = results.load(path)
    pd.testing.assert_frame_equal(loaded, frame)
    provenance = loaded.attrs["provenance"]
    assert provenance["seed"] == "4"
    for fact in ("machine", "cores", "numpy", "torch", "cppyy", "g++", "commit", "date"):
        assert provenance[fact] not in ("", "None")


def test_a_table_without_provenance_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(ConfigurationError, match=r"x\.csv"):
        results.load(tmp_path / "x.csv")


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "file"
    path.write_text("before")

    def interrupted():
        with written(path) as unfinished:
            unfinished.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def race():
    """Three repeats of two rungs; the second is 100, 200 and 400 times as fast."""
    rows = [("python", i, 1000, 1.0 + i) for i in range(3)]
    rows += [("cpp", i, 1000, (1.0 + i) / gain) for i, gain in enumerate((100, 200, 400))]
    return pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])


def test_the_ladder_is_medians_of_ratios_repeat_by_repeat(race):
    table = ladder_table(race, rest_of_batch=0.2, num_envs=100)
    assert table["rung"].tolist() == ["python", "cpp"]
    python, cpp = table.to_dict("records")
    assert python["seconds"] == pytest.approx(0.2)
    assert python["plies_per_second"] == pytest.approx(500)
    assert python["absolute_speedup"] == python["training_speedup"] == 1
    assert cpp["absolute_speedup"] == cpp["relative_speedup"] == pytest.approx(200)
    assert cpp["training_speedup"] == pytest.approx(0.4 / (0.2 + cpp["seconds"]))


def test_the_readmes_ladder_is_the_recorded_one(race, tmp_path):
    recorded = tmp_path / "data/recorded/somewhere"
    table = ladder_table(race, rest_of_batch=0.2, num_envs=100)
    facts = {"num_envs": 100, "mask": "bool", "floor_plies_per_second": 1e6}
    results.save(table, recorded / "07_ladder.csv", facts)
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- ladder -->\nold\n<!-- /ladder -->\nafter\n")
    for _ in range(2):
        write_ladder(tmp_path, recorded.relative_to(tmp_path))
    text = readme.read_text()
    assert text.startswith("before\n<!-- ladder -->\n| Version | Rung |")
    assert text.endswith("\n<!-- /ladder -->\nafter\n")
    assert "| 2 | cpp |" in text
    assert "old" not in text
    assert str(tmp_path) not in text
    assert (tmp_path / "figures/ladder.png").stat().st_size > 10_000
    assert ladder_section(tmp_path, recorded.relative_to(tmp_path)).startswith(
        tables.markdown(tables.ladder(table))
    )


def test_a_figure_is_saved(race, tmp_path):
    figure = figures.ladder(ladder_table(race, 0.2, 100))
    save_figure(figure, tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
