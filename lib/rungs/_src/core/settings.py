"""Settings: frozen dataclasses in which a field has its default, its meaning and its check."""

import dataclasses
import inspect
import textwrap
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from rungs._src.core.arguments import boolean, choice, did_you_mean, integer, real, shown
from rungs.errors import ConfigurationError

Settings = TypeVar("Settings")


def setting(
    default: Any,
    help: str,
    low: float = 0,
    high: float = 1e9,
    choices: tuple | Callable[[], tuple] = (),
    check: Callable[[str, Any], Any] | None = None,
) -> Any:
    """Makes a field of settings; where its default is None, the field may be None.

    `low` and `high` bound a number, `choices` (or a function that returns them) a string; `check`
    takes name and value, and returns the value to keep, in place of the check by type.
    """
    metadata = {"help": help, "range": (low, high), "choices": choices, "check": check}
    return dataclasses.field(default=default, metadata=metadata)


def checked_later(name: str, value: Any) -> Any:
    """Returns a value that `__post_init__` checks, as other settings decide which are right."""
    return value


def documented(kind: type[Settings]) -> type[Settings]:
    """Puts what every `setting` of a dataclass means into its docstring, before its `Raises:`."""
    lines = [
        textwrap.fill(f"{field.name}: {field.metadata['help']}", 96, subsequent_indent="    ")
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]  # a dataclass
        if field.metadata
    ]
    before, raises, after = inspect.cleandoc(kind.__doc__ or "").partition("Raises:\n")
    arguments = textwrap.indent("\n".join(lines), "    ")
    kind.__doc__ = f"{before.rstrip()}\n\nArgs:\n{arguments}\n\n{raises}{after}\n"
    return kind


def check_fields(settings: Any) -> None:
    """Checks every `setting` of a frozen dataclass, and stores it as a value of its type."""
    for field in dataclasses.fields(settings):
        if field.metadata:
            checked = _checked(field, getattr(settings, field.name))
            object.__setattr__(settings, field.name, checked)


def _checked(field: dataclasses.Field, value: Any) -> Any:
    choices, check = field.metadata["choices"], field.metadata["check"]
    if check:
        return check(field.name, value)
    if choices:
        return choice(field.name, value, choices() if callable(choices) else choices)
    if value is None and field.default is None:
        return None
    kinds = typing.get_args(field.type) or (field.type,)
    if bool in kinds:
        return boolean(field.name, value)
    if int in kinds:
        return integer(field.name, value, *field.metadata["range"])
    if float in kinds:
        return real(field.name, value, *field.metadata["range"])
    if not isinstance(value, str):
        raise ConfigurationError(f"{field.name}={shown(value)} is not a string")
    return str(value)


def split_settings(
    keywords: dict[str, Any], kind: type[Settings], make: Callable, common: Callable
) -> tuple[Settings, dict[str, Any]]:
    """Splits keywords into an environment's settings, checked, and those that `make` accepts."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]  # likewise
    settings = kind(**{name: value for name, value in keywords.items() if name in names})
    rung_settings = {name: value for name, value in keywords.items() if name not in names}
    known = _keyword_only(make)
    unknown = sorted(rung_settings.keys() - known)
    if not unknown:
        return settings, rung_settings
    choices = sorted(names | known | _keyword_only(common))
    raise ConfigurationError(
        f"{make.__name__} has no setting {', '.join(unknown)}{did_you_mean(unknown, choices)}; "
        f"there are: {', '.join(choices)}"
    )


def _keyword_only(make: Callable) -> set[str]:
    takes = inspect.signature(make).parameters.values()
    return {parameter.name for parameter in takes if parameter.kind == parameter.KEYWORD_ONLY}
