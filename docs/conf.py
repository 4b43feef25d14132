"""How Sphinx makes the book. `rungs_course.runner.book` calls it on a staged copy of the tree."""

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

from rungs.version import __version__

project = "Rungs"
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["README.md", "docs/conf.py", "**/agents/*/README.md"]
nb_execution_mode = "off"  # papermill did
nb_render_markdown_format = "myst"  # so that links below a cell lead where those above it do
nb_ipywidgets_js = {}  # a page has no kernel; what a widget showed is staged as a picture
suppress_warnings = ["misc.highlighting_failure"]  # C++ in cells, which is no Python
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

# Docstrings are written for `help()`: what is in single backquotes is code, linked where possible.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_mock_imports = ["ray", "tensordict", "torchrl"]  # which the course needs not
autodoc_default_options = {"members": True, "show-inheritance": True}

html_theme = "furo"
html_title = "Rungs"
html_static_path = ["_static"]
html_css_files = ["rungs.css"]
html_favicon = "_static/ladder.svg"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


def _formula(writer, node):
    """A formula as MathML, which browsers draw themselves: no script, no network, and readable
    aloud."""
    block = node.tagname == "math_block"
    formula = tex2mathml(node.astext(), as_block=block)
    writer.body.append(f'<div class="math">{formula}</div>' if block else formula)
    raise SkipNode


def _skip_fields(app, what, name, member, skip, options):
    """Leaves out fields of named tuples: the class's own text has them all."""
    return True if type(member).__name__ == "_tuplegetter" else None


def setup(app):
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))
    app.connect("autodoc-skip-member", _skip_fields)
