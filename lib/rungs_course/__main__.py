"""`python -m rungs_course`."""

import sys

from rungs_course.cli import main

sys.exit(main())
