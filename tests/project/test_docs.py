"""Pages tell the truth: their Python runs, links lead somewhere, and nothing is left out."""

import ast
import functools
import os
import re
import sys
from pathlib import Path

import nbformat
import pytest

from rungs.errors import UnavailableError
from rungs_course.measure import results
from rungs_course.peers.envpool import import_envpool
from tests.processes import succeed

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
# Pages whose Python is run elsewhere, or is a part of what a reader has.
ELSEWHERE = {
    "labs": "lines of a lab's notebook",
    "peers": "tests/proof/conformance/test_reports.py runs its pages",
}
BLOCK = re.compile(r"^```python( continued)?\n(.*?)^```", re.DOTALL | re.MULTILINE)

# Files of C++ that a page's Python compiles, with their names in the first line.
FILE = re.compile(r"^```cpp\n(// (\w+\.cpp): .*?)^```", re.DOTALL | re.MULTILINE)

# What these bring takes long to import, to compile or to measure.
HEAVY = re.compile(
    r"import (jax|torch)|stable_baselines3|sb3|torchrl|\bray\b|rllib|\"cuda\"|\.cpp\b"
    r"|rungs\.(train|selfplay|adapters\.(torch|jax))|measure\.race"
)


def blocks(page: Path) -> list[str]:
    """The Python of a page, each block with those that it continues."""
    found: list[str] = []
    for continued, code in BLOCK.findall(page.read_text()):
        found.append(found[-1] + code if continued else code)
    return found


def write_files(page: Path, folder: Path) -> None:
    """Writes the files that a page shows into a folder."""
    for text, name in FILE.findall(page.read_text()):
        (folder / name).write_text(text)


def examples() -> list:
    """All blocks but those that another continues, which runs them."""
    chosen = []
    for page in PAGES:
        if {page.stem, page.parent.name} & {*ELSEWHERE}:
            continue
        codes = blocks(page)
        for i, code in enumerate(codes):
            if i + 1 < len(codes) and codes[i + 1].startswith(code):
                continue
            marks = [pytest.mark.system] if HEAVY.search(code) else []
            name = f"{page.parent.name}/{page.stem}-{i}"
            chosen.append(pytest.param(page, code, id=name, marks=marks))
    return chosen


@pytest.mark.parametrize(("page", "code"), examples())
def test_its_python_runs(page, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(page, tmp_path)
    before = dict(os.environ)
    try:
        if "import envpool" in code:  # which may be there without what it needs for other games
            import_envpool()
        exec(compile(code, "<a page>", "exec"), {"__name__": "__main__"})
    except UnavailableError as error:
        pytest.skip(str(error))
    except ModuleNotFoundError as error:
        pytest.skip(f"{error.name} is not installed")
    finally:  # what a peer's import sets, as EnvPool's does MPLBACKEND, is gone after the test
        # Ray's stay: a process that has started Ray expects `RAY_AUTH_MODE` of each later cluster.
        of_ray = {name: value for name, value in os.environ.items() if name.startswith("RAY_")}
        os.environ.clear()
        os.environ.update(before | of_ray)
        if ray := sys.modules.get("ray"):  # RLlib's, which it leaves to the end of the program
            ray.shutdown()


@functools.cache
def anchors(path: Path) -> set[str]:
    """What the book calls the headings of a page or a notebook."""
    text = path.read_text()
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, 4).cells
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", each.lower()).replace(" ", "-") for each in headings}


# The front page of the book is read as if it lay at the top.
LINKING = {*ROOT.glob("*.md"), *PAGES} - {DOCS / "index.md"}


@pytest.mark.parametrize("page", sorted(LINKING), ids=lambda page: page.stem)
def test_its_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https:|<)([^)#]+)(?:#([^)]+))?\)", page.read_text())
    for file, heading in links:
        target = page.parent / file
        assert target.exists(), file
        assert not heading or heading in anchors(target), (file, heading)


def test_a_page_says_where_things_are():
    page = (DOCS / "building.md").read_text()
    rows = page.split("## Where things are")[1].split("\n| `")[1:]
    assert rows
    for row in rows:
        first, what = ("`" + row).split(" | ", 1)
        folders = [ROOT / name for name in re.findall(r"`([\w/]+)`", first)]
        assert all(folder.is_dir() for folder in folders), row
        for name in re.findall(r"`([\w/]+\.(?:hpp|cpp|py))`", what):
            assert any((folder / name).exists() for folder in folders), name


# The page that says where each part of the studies is.
STUDIES = (DOCS / "studies.md").read_text()
PAPER = sorted((ROOT / "data" / "paper").glob("*.csv"))


@pytest.mark.parametrize("path", PAPER, ids=lambda path: path.stem)
def test_every_table_of_theirs_names_its_source_and_has_a_row(path):
    table = results.load(path)
    assert table.attrs["provenance"]["source"]
    assert len(table)
    assert f"data/paper/{path.name}" in STUDIES


def public() -> dict[str, list[str]]:
    """The names in `__all__` of each public module, none of which is imported for it."""
    library = ROOT / "lib" / "rungs"
    files = [library / "__init__.py", *library.glob("[!_]*.py"), *library.glob("adapters/[!_]*.py")]
    names = {}
    for file in files:
        module = ".".join(file.relative_to(library.parent).with_suffix("").parts)
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                names[module.removesuffix(".__init__")] = ast.literal_eval(node.value)
    return dict(sorted(names.items()))


# A section of docs/api: its module, and what comes before the module's members.
SECTION = re.compile(r"^## (rungs\S*)\n\n(.*?)```\{eval-rst\}", re.DOTALL | re.MULTILINE)
PUBLIC = public()
EXAMPLES = {
    module: above
    for page in (DOCS / "api").glob("[!i]*.md")
    for module, above in SECTION.findall(page.read_text())
}


def test_every_public_module_has_its_place_in_the_reference():
    modules = {path.stem for path in (ROOT / "lib" / "rungs").glob("[!_]*.py")} - {"version"}
    assert {f"rungs.{name}" for name in modules} | {"rungs", "rungs.adapters.sb3"} <= {*PUBLIC}
    assert {*EXAMPLES} == {*PUBLIC}
    assert "_src" not in "".join(page.read_text() for page in (DOCS / "api").glob("[!i]*.md"))


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_an_example(module):
    """One stands for all errors."""
    names = [name for name in PUBLIC[module] if not name.endswith(("Error", "Warning"))]
    assert names
    for name in names:
        assert re.search(rf"\b{name}\b", EXAMPLES[module]), f"{module}.{name} has no example"


@pytest.mark.system
@pytest.mark.parametrize(
    ("script", "settings", "last"),
    [
        ("ppo_chess.py", "--num-steps 8 --max-plies 20 --total-timesteps 512 --num-envs 16", "4"),
        ("ppo_jax.py", "--steps 4 --max-plies 8 --updates 3 --num-envs 4", "2"),
    ],
)
def test_a_single_file_learns(script, settings, last, tmp_path):
    if "jax" in script:
        pytest.importorskip("jax")
    printed = succeed([sys.executable, DOCS / "howto" / script, *settings.split()], cwd=tmp_path)
    assert re.findall(r"^update (\d+)\b", printed, re.MULTILINE)[-1] == last
    rewards = re.findall(r": ([-+.\d]+) a game$", printed, re.MULTILINE)
    assert all(-1 <= float(reward) <= 1 for reward in rewards)
