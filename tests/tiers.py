"""Which cases of a test are of the system tier."""

import pytest


def system_tier(*cases):
    """Returns cases as parameters of the system tier; a tuple has a value for each name."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.system)
        for case in cases
    ]
