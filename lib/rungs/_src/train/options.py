"""The options of `python -m rungs train`: one per field of its settings, named like it."""

import argparse
import dataclasses
from typing import Any

from rungs._src.train.settings import PpoSettings, Training


def add_options(
    parser: argparse.ArgumentParser, kinds: tuple[type, ...] = (Training, PpoSettings)
) -> None:
    """Adds an option for every field, without a default, so that it is known which were given.

    Args:
        parser: of a command.
        kinds: of settings.
    """
    for settings in kinds:
        for field in dataclasses.fields(settings):
            if "help" not in field.metadata:
                continue
            takes: dict[str, Any] = {"type": field.type}
            if field.type is bool:
                takes = {"action": argparse.BooleanOptionalAction}
            parser.add_argument(
                f"--{field.name.replace('_', '-')}",
                **takes,
                default=argparse.SUPPRESS,
                help=f"{field.metadata['help']} (default: {field.default})",
            )


def training_of(options: argparse.Namespace, how: dict) -> Training:
    """Returns the settings that were given.

    Args:
        options: what a parser with `add_options` found.
        how: the rung's own settings.

    Raises:
        ConfigurationError: a value is out of its range.
    """
    return Training(
        **given(options, Training), how=how, ppo=PpoSettings(**given(options, PpoSettings))
    )


def given(options: argparse.Namespace, settings: type) -> dict:
    """Returns the fields of some settings that were given a value."""
    names = {field.name for field in dataclasses.fields(settings)}
    return {name: value for name, value in vars(options).items() if name in names - {"how"}}
