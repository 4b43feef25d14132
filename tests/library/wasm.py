"""Whether the rung `wasm` can be made here: `make wasm` compiles what it runs."""

import pytest

import rungs

(_LACKS,) = (one.missing for one in rungs.list() if one.rung == "wasm")
NEEDS_WASM = pytest.mark.skipif(bool(_LACKS), reason=_LACKS)
# What of it `make test-system` compiles first.
WASM = pytest.param("wasm", marks=[pytest.mark.system, NEEDS_WASM])
