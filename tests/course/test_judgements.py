"""What notebooks say where noise decides: every sentence is given factors that are noise.

Each cell that writes sentences is run with data that answers everything (`Unknown`), once as though
all its conditions held and once as though none did. Only factors are real, and all are noise. What
it then writes may name neither a cause, nor a difference, nor its absence.
"""

import ast
import builtins
import re

import nbformat
import pytest

from rungs_course import paths
from rungs_course.measure.noise import factor
from rungs_course.notebook import NotebookRun, in_words

NOISE = factor([1.1, 0.9, 1.3, 1.1, 1.1])
FEW = factor([2.0, 2.0])
NOTEBOOKS = sorted((paths.ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))

# Words of sentences that conclude. A sentence that has one of them outside of `judge` says it
# whatever was measured.
CONCLUDES = re.compile(
    r"\b(because|therefore|thus|hence|so (?!far|that)|caused?|causes|explains?|explained|is why"
    r"|due to|pays|gains? (?:nothing|no more)|helps?|hurts?|wins?|loses?"
    r"|faster than|slower than|as fast as|makes no difference|no (?:slower|faster|gain|loss)"
    r"|is not what|does not (?:matter|pay|help|gain|cost)|the bottleneck is|costs more than)\b",
    re.IGNORECASE,
)


class Unknown(str):
    """Data of which nothing is known: every question about it has the same answer.

    It is a text, so that it can be joined with others.
    """

    def __new__(cls, holds: bool):
        self = super().__new__(cls, "…")
        self.__dict__["holds"] = holds
        return self

    def answer(self, *_, **__) -> "Unknown":
        return self

    def __getattribute__(self, name):
        known = name.startswith("__") or name in self.__dict__ or name in vars(type(self))
        return object.__getattribute__(self, name) if known else self

    __getitem__ = __call__ = answer
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = answer
    __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __pow__ = __rpow__ = answer
    __neg__ = __and__ = __or__ = __invert__ = __rand__ = __ror__ = answer
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = answer
    __enter__ = answer

    def __exit__(self, *_):
        return False

    def __setitem__(self, *_):
        pass

    def __bool__(self):
        return self.holds

    def __contains__(self, _):
        return self.holds

    def __iter__(self):
        return iter((self, self))

    def __len__(self):
        return 2

    def __int__(self):
        return 1

    __index__ = __int__

    def __float__(self):
        return 1.0

    def __hash__(self):
        return 1

    def __str__(self):
        return "…"

    def __format__(self, _):
        return "…"

    def __round__(self, _=None):
        return self

    def __abs__(self):
        return self

    def keys(self) -> list:
        return []


class Answers(dict):
    """The names of a cell: what it does not define itself is `Unknown`."""

    def __init__(self, unknown: Unknown, **names):
        super().__init__(names, __builtins__=builtins)
        self.unknown = unknown

    def __missing__(self, name):
        if hasattr(builtins, name):
            return getattr(builtins, name)
        return self.unknown


class UndisturbedRun(Unknown):
    """A run that judges as the course's do, and does nothing else."""

    disturbed = False

    def __new__(cls, holds: bool, noise, texts: list[str]):
        self = super().__new__(cls, holds)
        self.__dict__ |= {"noise": noise, "texts": texts}
        return self

    def judge(self, _, **sentences) -> str:
        return NotebookRun.judge(self, self.noise, **sentences)

    def verdicts(self, _, titles, **sentences) -> None:
        self.texts += [*titles, self.judge(None, **sentences)]


def sentences(source: str, holds: bool, noise) -> list[str]:
    """Returns the sentences that a cell writes where all factors are noise."""
    texts: list[str] = []
    names = Answers(
        Unknown(holds),
        say=texts.append,
        in_words=lambda *_: in_words(noise),
        this_run=UndisturbedRun(holds, noise, texts),
        unpacked=unpacked,
    )
    exec(compile(of_unknowns(source), "<cell>", "exec"), names)
    return texts


class OfUnknowns(ast.NodeTransformer):
    """Changes a cell so that `Unknown` can be unpacked, looked up and need not be imported."""

    def visit_ImportFrom(self, node):
        return node if node.module == "rungs.errors" else None

    def visit_Import(self, _):
        return None

    def visit_DictComp(self, _):
        return ast.Name("unknown", ast.Load())  # its keys would be

    def visit_Assign(self, node):
        self.generic_visit(node)
        node.value = self._unpacked(node.value, node.targets[0])
        return node

    def visit_For(self, node):
        self.generic_visit(node)
        node.iter = self._unpacked(node.iter, ast.List([node.target, node.target]))
        return node

    visit_comprehension = visit_For

    def visit_While(self, node):
        raise AssertionError(f"line {node.lineno}: what decides when this loop ends is not known")

    def _unpacked(self, value, target):
        shape = ast.Constant(shape_of(target))
        return ast.Call(ast.Name("unpacked", ast.Load()), [value, shape], [])


def shape_of(target):
    """Returns the nested tuples of a target of an assignment, None for each of its names."""
    if isinstance(target, ast.Tuple | ast.List):
        return tuple(shape_of(each) for each in target.elts)
    return None


def unpacked(value, shape):
    """Returns a value that a target of this shape can be assigned."""
    if shape is None or not isinstance(value, Unknown):
        return value
    return tuple(unpacked(value, each) for each in shape)


def of_unknowns(source: str) -> ast.Module:
    tree = OfUnknowns().visit(ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.MULTILINE)))
    return ast.fix_missing_locations(tree)


def cells(notebook, word: str):
    """The code cells of a notebook in which a function is called."""
    for number, cell in enumerate(nbformat.read(notebook, as_version=4).cells):
        if cell.cell_type == "code" and re.search(rf"\b{word}\(", cell.source):
            yield number, cell.source


SENTENCES = [
    pytest.param(source, id=f"{notebook.stem} [{number}]")
    for notebook in NOTEBOOKS
    for number, source in cells(notebook, "(?:say|verdicts)")
]


@pytest.mark.parametrize("source", SENTENCES)
@pytest.mark.parametrize("noise", [NOISE, FEW], ids=["noise", "few repeats"])
@pytest.mark.parametrize("holds", [True, False])
def test_where_noise_decides_nothing_is_claimed(source, holds, noise):
    for text in sentences(source, holds, noise):
        found = CONCLUDES.search(text)
        assert not found, f"claims {found.group()!r}: {text}"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_only_judge_asks_a_factor(notebook):
    for number, source in cells(notebook, ""):
        for node in ast.walk(ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.MULTILINE))):
            where = f"cell {number}, line {getattr(node, 'lineno', '')}"
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("beyond", "judged"), f"{where}: ask `this_run.judge`"
            if isinstance(node, ast.Compare):
                asked = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
                assert not asked & {"middle", "low", "high"}, f"{where}: ask `this_run.judge`"


def test_a_sentence_that_concludes_from_noise_is_found():
    wrong = 'say(f"{in_words(gain)}. " + ("It pays." if gain > 1 else "It does not pay."))'
    assert all(CONCLUDES.search(sentences(wrong, holds, NOISE)[0]) for holds in (True, False))
    right = 'say(f"{in_words(g)}. " + this_run.judge(g, larger="It pays.", smaller="It loses."))'
    assert not any(CONCLUDES.search(sentences(right, holds, NOISE)[0]) for holds in (True, False))
