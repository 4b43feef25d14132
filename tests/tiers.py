"""Which cases of a test are of the system tier."""

import pytest


def system_tier(*cases, release: bool = False):
    """Returns cases as parameters of the system tier; a tuple has a value for each name.

    Those for a release repeat on another compiler, processor or machine what others show.
    """
    marks = [pytest.mark.system, *([pytest.mark.release] if release else [])]
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=marks) for case in cases
    ]
