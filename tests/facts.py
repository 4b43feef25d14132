"""Compares pages by their tables, numbers, code and links: prose may be worded anew."""

import re

import pytest

_NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?")
_NAME = re.compile(r"`[^`]+`|\]\([^)]+\)|<!-- .+? -->")


def assert_same_facts(page: str, expected: str) -> None:
    """Compares numbers within 1 % or one in the last decimal, and tables' cells as text."""
    names, numbers = _facts(page)
    expected_names, expected_numbers = _facts(expected)
    assert names == expected_names
    assert len(numbers) == len(expected_numbers)
    for (number, line), (wanted, _) in zip(numbers, expected_numbers, strict=True):
        decimals = len(wanted.partition(".")[2])
        last_digit = 1.01 * 10.0**-decimals if decimals else 0
        assert _value(number) == pytest.approx(_value(wanted), rel=0.01, abs=last_digit), line


def _facts(page: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Returns names and tables' rows without their numbers, and the numbers with their lines."""
    names, numbers = [], []
    lines = page.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        is_row = line.startswith("|") and not below.startswith("| ---")
        found = [line] if is_row else _NAME.findall(line)
        names += [_NUMBER.sub("#", name) for name in found]
        numbers += [(number, line) for number in _NUMBER.findall(line)]
    return names, numbers


def _value(number: str) -> float:
    return float(number.replace(",", ""))
