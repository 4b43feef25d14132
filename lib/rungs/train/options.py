"""The options of `python -m rungs train`: one per field of its settings, named like it."""

import argparse
import dataclasses
import re

from rungs.train.settings import PpoSettings, Training


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds an option for every field, without a default, so that it is known which were given."""
    for settings in (Training, PpoSettings):
        text = dict(re.findall(r"^ {8}(\w+): (.*(?:\n {12}.*)*)", settings.__doc__, re.MULTILINE))
        for field in dataclasses.fields(settings):
            if field.default is dataclasses.MISSING:
                continue
            kind = {"action": "store_true"} if field.type is bool else {"type": field.type}
            told = " ".join(text[field.name].split()).replace("%", "%%")
            parser.add_argument(
                f"--{field.name.replace('_', '-')}",
                default=argparse.SUPPRESS,
                help=f"{told} (default: {field.default})",
                **kind,
            )


def training_of(options: argparse.Namespace, how: dict) -> Training:
    """The settings that were given.

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
    """The fields of some settings that were given a value."""
    names = {field.name for field in dataclasses.fields(settings)}
    return {name: value for name, value in vars(options).items() if name in names - {"how"}}
