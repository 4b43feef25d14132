"""What pages take from recorded results is what was recorded."""

import re
import shutil
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from rungs_course import adapters, paths
from rungs_course.machine.naming import slug_of
from rungs_course.measure import results
from rungs_course.pages import bench, course, machines, numbers, one_click
from rungs_course.runner import recorded as records
from rungs_course.tables import ladder_table
from tests.facts import assert_same_facts

MACHINE = {"machine": "AMD EPYC", "cores": 2, "microarchitecture": "Zen 9", "gpu": None}


def section(page, name):
    (text,) = re.findall(f"<!-- {name} -->\n(.*?)<!-- /{name} -->", page, re.DOTALL)
    return text


TEXT = "".join((paths.ROOT / page).read_text() for page in numbers.PAGES)


@pytest.fixture(scope="module")
def recorded():
    """The folder, below the source tree, of the one machine whose numbers pages show."""
    (folder,) = set(re.findall(r"\((?:\.\./)?(data/recorded/[\w-]+)/\w+\.\w+\)", TEXT))
    return Path(folder)


def test_numbers_are_recorded_ones_of_one_machine(recorded):
    machine = records.read(paths.ROOT / recorded)["machine"]
    assert recorded.name == slug_of(machine)
    usable = records.of_runs(paths.ROOT / recorded)
    for name, expected in numbers.sections(paths.ROOT, recorded, usable).items():
        assert_same_facts(section(TEXT, name), expected)
    assert_same_facts(adapters.PAGE.read_text(), adapters.filled())
    for name, text in (
        ("machines", machines.side_by_side(paths.ROOT)),
        ("bench", bench.benched(paths.ROOT)),
    ):
        page = (paths.ROOT / "docs" / f"{name}.md").read_text()
        assert_same_facts(section(page, name), text)


def test_tables_of_notebooks_are_current():
    for name, page in course.filled(paths.ROOT).items():
        assert (paths.ROOT / name).read_text() == page


def test_where_the_course_is_published_links_open_it_and_colab_installs_it_first(tmp_path):
    address = "https://github.com/someone/course"
    project = tmp_path / "pyproject.toml"
    project.write_text("[project]\n")
    assert one_click.repository(tmp_path) == ""
    project.write_text(f'[project.urls]\nRepository = "{address}"\n')
    assert one_click.repository(tmp_path) == address
    made = one_click.notebooks(address, paths.ROOT)
    line = one_click.links(address)
    assert re.findall(r"/github/someone/course/blob/main/([^)]+)\)", line) == [*made]
    assert line.count("someone/course") == 2 + len(made)
    for text in made.values():
        notebook = nbformat.reads(text, 4)
        nbformat.validate(notebook)
        assert f"git clone --quiet {address} " in notebook.cells[0].source
        sources = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
        assert not re.search(r"\]\((?!https:|#)", "".join(sources))


@pytest.mark.parametrize(
    ("everything", "figures", "shown"),
    [
        (True, {"ladder", "steps", "elo", "wins"}, None),
        (False, {"ladder"}, {"ladder", "rungs", "stepping"}),
    ],
)
def test_a_page_and_its_figures_are_of_what_is_recorded(
    recorded, everything, figures, shown, tmp_path
):
    for folder in (recorded, Path("data/ablations"))[: 1 + everything]:
        shutil.copytree(paths.ROOT / folder, tmp_path / folder)
    names = {*numbers.sections(Path("none"), recorded, set())}
    places = "".join(f"<!-- {name} -->\nold\n<!-- /{name} -->\n" for name in names)
    (tmp_path / "README.md").write_text(places)
    (tmp_path / "figures").mkdir()
    for figure in ("steps", "wins"):
        (tmp_path / "figures" / f"{figure}.png").write_bytes(b"of another run")
    usable = records.of_runs(tmp_path / recorded) if everything else {*numbers.NEEDED}
    for _ in range(1 if everything else 2):  # a filled page can be filled again
        numbers.write(tmp_path, recorded, usable)
    page = (tmp_path / "README.md").read_text()
    table_or_picture = re.compile(r"^\| ---|^!\[", re.MULTILINE)
    assert {n for n in names if table_or_picture.search(section(page, n))} == (shown or names)
    pictures = {path.stem: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    assert pictures.keys() == figures
    assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())


def test_the_ladder_is_medians_of_ratios_and_of_a_rung_of_another_job_the_ratio_of_medians():
    seconds = {
        "python": np.arange(1.0, 6),
        "threads": np.arange(1.0, 6) / (100, 200, 400, 50, 800),
        # In another order: the median of the ratios is 12.5.
        "mpi": np.array([0.3, 0.1, 0.5, 0.2, 0.4]),
    }
    rows = [(rung, i, 1000, taken) for rung in seconds for i, taken in enumerate(seconds[rung])]
    race = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])
    table = ladder_table(race, num_envs=100)
    assert table["rung"].tolist() == [*seconds]
    assert table["seconds"].tolist() == pytest.approx([0.3, 0.0015, 0.03])
    assert table["plies_per_second"].tolist() == pytest.approx([1e3 / 3, 2e5 / 3, 1e4 / 3])
    assert table["absolute_speedup"].tolist() == pytest.approx([1, 200, 10])
    assert table["relative_speedup"].tolist() == pytest.approx([1, 200, 0.05])
    assert table["speedup_low"].tolist() == pytest.approx([1, 50, 2])
    assert table["speedup_high"].tolist() == pytest.approx([1, 800, 50])


def record_ladder(folder, rates, **machine):
    """Records how many plies a second each rung plays; returns the machine's facts."""
    facts = MACHINE | machine | {"commit": "abc1234", "date": "2026-01-02T00:00:00+00:00"}
    facts |= {"size": "full", "num_envs": 8, "mask": "bool"}
    rows = [(rung, 0, 8, "bool", int(rate), 1.0) for rung, rate in rates.items()]
    columns = ["racer", "repeat", "num_envs", "mask", "plies", "seconds"]
    results.write(pd.DataFrame(rows, columns=columns), folder / "07_race.csv", facts)
    results.write(pd.DataFrame({"rung": list(rates)}), folder / "07_ladder.csv", facts)
    return facts


def table_rows(text):
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {name.strip(): [cell.strip() for cell in cells] for name, *cells in lines}


def test_machines_stand_side_by_side_and_the_readers_first(tmp_path):
    recorded = tmp_path / "data" / "recorded"
    record_ladder(recorded / "small", {"python": 5e3, "cpp": 5e6}, machine="Small")
    record_ladder(recorded / "large", {"cpp": 2e7}, machine="Large", cores=64)
    gains = pd.DataFrame({"peer": ["Slow", "Slow"], "gain": [20.0, 10.0]})
    results.write(gains, recorded / "large" / "12_gains.csv", MACHINE)
    assert table_rows(machines.side_by_side(tmp_path)) == {
        "": ["large", "small"],
        "---": ["---", "---"],
        "machine": ["64 cores of Large, Zen 9", "2 cores of Small, Zen 9"],
        "recorded": ["2026-01-02, abc1234"] * 2,
        "`cpp`, plies/s": ["20 M/s", "5 M/s"],
        "`python`, plies/s": ["", "5 k/s"],
        "times as fast as Slow": ["10×", ""],
    }
    run = tmp_path / "run"
    mine = record_ladder(run / "results", {"cpp": 1e7}, machine="Mine", cores=4)
    compared = machines.side_by_side(tmp_path, run)
    assert "`small`" in compared  # has the nearest number of cores
    assert table_rows(compared)["`cpp`, plies/s"] == ["10 M/s", "20 M/s", "5 M/s", "2×"]
    record_ladder(recorded / slug_of(mine), {"cpp": 2e7}, machine="Mine", cores=4)
    assert f"`{slug_of(mine)}`" in machines.side_by_side(tmp_path, run)
