"""Texts that can be shown and stored anywhere, whatever a submission or a hand-in put into them."""

import re

_LONG = 4000  # characters
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def plain(text: str, most: int = _LONG) -> str:
    """Escapes control characters but tab and newline, and lone surrogates, which no encoding has.

    Args:
        text: any.
        most: characters, of which the first and the last are kept.
    """
    if len(text) > most:
        text = f"{text[: most // 2]} […] {text[-(most // 2) :]}"
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
