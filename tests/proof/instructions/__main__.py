"""Records the counts and prints which have changed: `python -m tests.proof.instructions`."""

from tests.proof.instructions import RECORD, REPORTED, changed, record, recorded

before = recorded()[1] if RECORD.exists() else {}
record()
print("\n".join(changed(before, recorded()[1], REPORTED)) or "no count has changed")
