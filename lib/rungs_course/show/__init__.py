"""What the course shows: figures, tables, prose, pictures of boards, and widgets."""

import sys

# Seaborn asks scipy for densities and trees, which no figure here has, and goes without where there
# are none: two of the five seconds that a kernel's imports take.
_unneeded = {"scipy.stats", "scipy.cluster"} - sys.modules.keys()
sys.modules.update(dict.fromkeys(_unneeded))  # type: ignore[arg-type]  # None: can't be imported
try:
    import seaborn  # noqa: F401
finally:
    for _name in _unneeded:
        del sys.modules[_name]
