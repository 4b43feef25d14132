"""A figure as widgets show it: an image that says in words what it shows."""

import base64
import html
import io

from IPython.display import HTML


def image(figure) -> HTML:
    """Makes an image of a figure with `alternative` as its text, no wider than the page."""
    png = io.BytesIO()
    figure.savefig(png, dpi=150)
    data = base64.b64encode(png.getvalue()).decode()
    width = round(100 * figure.get_figwidth())
    return HTML(
        f'<img src="data:image/png;base64,{data}" alt="{html.escape(alternative(figure))}" '
        f'width="{width}" style="max-width: 100%; height: auto">'
    )


def alternative(figure) -> str:
    """Says what a figure says: titles and axes, what is written in it, and where its lines end."""
    said = (text for axes in figure.axes for text in _said(axes))
    return ". ".join(" ".join(text.split()) for text in said if text) + "."


def _said(axes):
    yield axes.get_title()
    yield " over ".join(filter(None, (axes.get_ylabel(), axes.get_xlabel())))
    # What is written beside a bar is about the bar.
    bars = len(axes.containers) > 0
    names = [label.get_text() for label in axes.get_yticklabels()]
    rows = dict(zip(axes.get_yticks(), names, strict=True)) if bars and names else {}
    for text in axes.texts:
        name = rows.get(getattr(text, "xy", (0, None))[1])
        yield f"{name}: {text.get_text()}" if name else text.get_text()
    for line in axes.lines:
        named = not line.get_label().startswith("_")  # Matplotlib's mark of what has no name
        if named and len(line.get_xdata()):  # a line without points explains the lines' style
            ends = zip(line.get_xdata(), line.get_ydata(), strict=True)
            first, *_, last = [f"{y:,.3g} at {x:,.3g}" for x, y in ends] * 2
            yield f"{line.get_label()}: {first}" + (f" to {last}" if last != first else "")
