"""How modules are put into pages that are opened from a folder."""

import pytest

from rungs_course import paths
from rungs_course.errors import BookError
from rungs_course.runner import bundle
from tests.processes import succeed


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Writes files into the folder of pages."""
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(bundle, "SOURCES", tmp_path)

    def write(**files):
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text)

    return write


@pytest.mark.needs("node")
def test_a_bundle_does_what_its_modules_do(sources, tmp_path):
    sources(
        a_js='import { twice as double } from "./b.js";\nimport { one } from "./c.js";\n'
        "const made = 1;\nconsole.log(double(one), made);\n",
        b_js='import { one } from "./c.js";\nconst made = 2;\n'
        "export function twice(n) {\n  return made * n + one - 1;\n}\n",
        c_js='console.log("once");\nexport const one = 1;\n',
    )
    text = bundle.bundle(tmp_path / "a.js")
    assert succeed(["node", "--input-type=module", "--eval", text]) == "once\n2 1\n"


def test_what_cannot_be_bundled_is_named(sources, tmp_path):
    sources(
        a_js='import { b } from "./b.js";\n',
        b_js="export default 1;\n",
        c_js='import { d } from "./d.js";\n',
        d_js='import { c } from "./c.js";\nexport const d = 1;\n',
        one_html='<title>One</title><script src="weights.bin.js"></script>',
    )
    for name, named in (("a.js", r"b\.js.*export default 1"), ("c.js", r"c\.js.*d\.js")):
        with pytest.raises(BookError, match=named):
            bundle.bundle(tmp_path / name)
    with pytest.raises(BookError, match=r"one\.html.*weights\.bin"):
        bundle.build(tmp_path)


def test_a_page_holds_its_modules_and_a_menu(sources, tmp_path):
    page = '<title>First &amp; best</title><!-- menu --><script type="module" src="a.js"></script>'
    sources(one_html=page, a_js='console.log("</script>");\n')
    out = tmp_path / "out"
    out.mkdir()
    assert bundle.build(out) == {"one.html": "First & best"}
    text = (out / "one.html").read_text()
    assert '<a href="one.html" aria-current="page">First &amp; best</a>' in text
    assert r'console.log("<\/script>")' in text
