"""The README tells the truth."""

import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from rungs._src.machine.describe import in_words, slug_of
from rungs.errors import UnavailableError
from rungs_course import pages as readme
from rungs_course.measure import results
from rungs_course.peers.envpool import import_envpool
from rungs_course.runner import recorded

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


PAGES = [
    *("README.md", "docs/library.md", "docs/moving.md"),
    *("docs/search.md", "docs/training.md"),
]


def test_its_numbers_are_recorded_ones_of_one_machine():
    pages = "".join((ROOT / page).read_text() for page in readme.PAGES)
    (folder,) = set(re.findall(r"\((?:\.\./)?(data/recorded/[\w-]+)/\w+\.\w+\)", pages))
    machine = recorded.read(ROOT / folder)["machine"]
    assert Path(folder).name == slug_of(machine)
    assert f"of one machine, {in_words(machine)}" in README
    usable = recorded.of_runs(ROOT / folder)
    for name, section in readme.sections(ROOT, Path(folder), machine, usable).items():
        assert f"<!-- {name} -->\n{section}<!-- /{name} -->" in pages


def test_it_says_where_things_are():
    rows = README.split("## Where things are")[1].split("\n| `")[1:]
    assert len(rows) > 10
    for row in rows:
        first, what = ("`" + row).split(" | ", 1)
        folders = [ROOT / name for name in re.findall(r"`([\w/]+)`", first)]
        assert all(folder.is_dir() for folder in folders), row
        for name in re.findall(r"`([\w/]+\.(?:hpp|cpp|py))`", what):
            assert any((folder / name).exists() for folder in folders), name


@pytest.fixture
def folder(tmp_path):
    """Of a machine whose recorded results are the least that there must be."""
    folder = Path(re.search(r"\((data/recorded/[\w-]+)/\w+.csv\)", README)[1])
    (tmp_path / folder).mkdir(parents=True)
    for name in readme.NEEDED:
        shutil.copy(ROOT / folder / name, tmp_path / folder)
    return folder


MACHINE = {"machine": "AMD EPYC", "cores": 2, "microarchitecture": "Zen 9", "gpu": None}


def write(root, folder, *names):
    """Fills the pages from what must be there and these tables."""
    readme.write(root, folder, MACHINE, {*readme.NEEDED, *names})


def test_what_is_of_no_run_is_left_out_and_its_figure_removed(folder, tmp_path):
    shutil.copy(ROOT / folder / "03_waterfall.csv", tmp_path / folder)
    page = tmp_path / "README.md"
    page.write_text("<!-- steps -->\nold numbers\n<!-- /steps -->\n")
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "steps.png").write_bytes(b"old")
    write(tmp_path, folder)
    assert "Not shown here" in page.read_text()
    assert "old numbers" not in page.read_text()
    assert not (tmp_path / "figures" / "steps.png").exists()


def test_measured_training_stands_beside_the_race_with_its_learner(folder, tmp_path):
    parts = {"transfer": 0.0, "infer": 0.25, "backward": 0.25}
    rows = [("python", i, 1.5) for i in range(5)] + [("threads", i, 0.0) for i in range(5)]
    table = pd.DataFrame(rows, columns=["rung", "update", "generate"]).assign(**parts)
    facts = {"learner": "flat", "num_envs": 64}
    results.save(table, tmp_path / folder / "15_metrics.csv", facts)
    page = tmp_path / "README.md"
    page.write_text("<!-- ladder -->\n<!-- /ladder -->\n")
    write(tmp_path, folder, "15_metrics.csv")
    rows = {
        line.split(" | ")[0]: line.split(" | ")[-1]
        for line in page.read_text().splitlines()
        if line.startswith("| `")
    }
    assert rows["| `threads`"] == "4× (4 to 4) |"
    assert rows["| `mpi`"] == "not run |"
    assert "PPO with the learner `flat` and 64 boards" in page.read_text()


def test_no_column_is_the_quotient_of_two_others(folder):
    head = next(line for line in README.splitlines() if line.startswith("| Rung |"))
    assert head.count("Times as fast") == 1
    assert "Plies" not in head


def test_recorded_self_play_becomes_a_section(folder, tmp_path):
    seconds = [0.0, 100, 300, 700, 1000, 1150, 1200]
    columns = {"elo": [10.4, 1, 2, 3, 4, 5, 600], "low": -50.0, "high": 650.0}
    columns |= {"positions": 8192, "random": 0.975, "search_gain": 212.0}
    table = pd.DataFrame({"seconds": seconds} | columns)
    results.save(table, tmp_path / folder / "16_evaluations.csv", {"simulations": 32})
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "selfplay.md"
    page.write_text("before\n<!-- self-play -->\nold\n<!-- /self-play -->\nafter\n")
    write(tmp_path, folder, "16_evaluations.csv")
    text = page.read_text()
    assert text.startswith("before\n<!-- self-play -->\n![Elo")
    assert text.endswith("|\n<!-- /self-play -->\nafter\n")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]
    assert [row[0] for row in rows] == [
        "| 0.0 min",
        "| 1.7 min",
        "| 5.0 min",
        "| 11.7 min",
        "| 20.0 min",
    ]
    assert rows[-1][1:] == ["8,192", "600 (-50 to 650)", "0.97", "+212 |"]
    assert (tmp_path / "figures" / "elo.png").exists()


def test_a_recorded_waterfall_becomes_a_section(folder, tmp_path):
    ideas = ["Python", "the step", "first", "bitboards", "C++"]
    columns = {"nanoseconds": 9.0, "relative": [1.0, 2, 3, 1, 0.5], "absolute": 1.0}
    table = pd.DataFrame({"racer": ideas, "idea": ideas} | columns)
    results.save(table, tmp_path / folder / "03_waterfall.csv", {"floor_nanoseconds": 8.0})
    (tmp_path / "README.md").write_text("<!-- steps -->\n<!-- /steps -->\n")
    write(tmp_path, folder, "03_waterfall.csv")
    text = (tmp_path / "README.md").read_text()
    assert "2 versions in C++ of the same step, of which *first* gains most, 3×" in text
    assert "| bitboards | 1× |" in text
    assert (tmp_path / "figures" / "steps.png").exists()


def test_recorded_learners_become_a_section(folder, tmp_path):
    parts = {"generate": 0.001, "infer": 0.01, "backward": 0.1, "share": [0.05, 0.5]}
    columns = {"steps_per_second": [2e4, 2e5], "gain": [1.0, 10.0]} | parts
    table = pd.DataFrame({"learner": ["torch", "cpp"]} | columns)
    results.save(table, tmp_path / folder / "11_learners_table.csv", {})
    updates = pd.DataFrame({"racer": ["torch"], "positions": 16384})
    results.save(updates, tmp_path / folder / "11_learners.csv", {})
    rows = [
        (learner, seed, step, step / 1000, wins, 100)
        for learner, end in (("torch", 80), ("cpp", 95))
        for seed in (0, 1)
        for step, wins in ((10_000, 50), (20_000, end))
    ]
    names = ["learner", "seed", "steps", "seconds", "wins", "games"]
    results.save(pd.DataFrame(rows, columns=names), tmp_path / folder / "11_curves.csv", {})
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "training.md"
    page.write_text("<!-- learners-measured -->\n<!-- /learners-measured -->\n")
    write(tmp_path, folder, "11_learners_table.csv", "11_learners.csv", "11_curves.csv")
    text = page.read_text()
    assert "updates of 16,384 steps" in text
    parts = "1 ms, 10 ms, 100 ms"
    assert "`torch`, learns from 20,000 steps a second" in text
    assert f"| `torch` | 1× | 5.0% | {parts} |  | 80.0% (80.0% to 80.0%) |" in text
    assert f"| `cpp` | 10× | 50.0% | {parts} | 20 s, 2 of 2 seeds |" in text
    assert (tmp_path / "figures" / "wins.png").exists()


# What these bring takes long to import and to compile.
HEAVY = re.compile(r"import (jax|torch)|stable_baselines3|sb3_contrib|rungs\.sb3")
BLOCKS = [
    pytest.param(page, i, code, marks=[pytest.mark.system] if HEAVY.search(code) else [])
    for page in PAGES
    for i, code in enumerate(
        re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    )
]


@pytest.mark.parametrize(("page", "number", "code"), BLOCKS, ids=lambda part: str(part)[:12])
def test_its_python_runs(page, number, code):
    before = dict(os.environ)
    try:
        if "import envpool" in code:  # which may be there without what it needs for other games
            import_envpool()
        exec(code, {})
    except UnavailableError as error:
        pytest.skip(str(error))
    except ModuleNotFoundError as error:
        pytest.skip(f"{error.name} is not installed")
    finally:  # what a peer's import sets, as EnvPool's does MPLBACKEND, is gone after the test
        os.environ.clear()
        os.environ.update(before)


# The front page of the book is read as if it lay at the top.
LINKING = {*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")} - {ROOT / "docs" / "index.md"}


@pytest.mark.parametrize("page", sorted(LINKING), ids=lambda page: page.stem)
def test_its_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!https:)([^)#]+)[^)]*\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_the_books_front_page_says_how_to_install_and_begin():
    index = (ROOT / "docs" / "index.md").read_text()
    parts = re.findall(r'{include} README.md\n:start-after: "(.+)"\n:end-before: "(.+)"\n', index)
    assert len(parts) == index.count("{include}")
    shown = "".join(README.split(start, 1)[1].split(end, 1)[0] for start, end in parts)
    for words in ("make run", "make lab", "pip install .", "rungs.make("):
        assert words in shown
    assert "(docs/install.md)" in index
