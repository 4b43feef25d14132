"""`python -m rungs_course.pages`: writes the tables of notebooks into README and docs."""

from rungs_course import paths
from rungs_course.pages.course import write_course

write_course(paths.ROOT)
