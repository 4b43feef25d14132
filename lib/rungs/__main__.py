"""`python -m rungs`."""

import sys

from rungs._src.cli import main

sys.exit(main())
