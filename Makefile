# Each target reads like its name. `make run` and `make test` install what they need.
PYTHON ?= python3
SIZE ?= quick
FUZZ_SECONDS ?= 20
BIN := .venv/bin
INSTALLED := .venv/installed

run: $(INSTALLED)
	$(BIN)/python -m rungs run --size $(SIZE) && $(BIN)/python -m rungs book

book: $(INSTALLED)
	test -e data/run/manifest.json || $(BIN)/python -m rungs run --size $(SIZE)
	$(BIN)/python -m rungs book

test: $(INSTALLED)
	$(BIN)/python -m pytest

test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -m slow

lab: $(INSTALLED)
	$(BIN)/jupyter lab --allow-root --ip=127.0.0.1 notebooks

explore: $(INSTALLED)
	JUPYTER_PATH=lib/rungs/show $(BIN)/voila --template=rungs --Voila.ip=127.0.0.1 notebooks/explore.ipynb

doctor: $(INSTALLED)
	$(BIN)/python -m rungs doctor

bench: $(INSTALLED)
	$(BIN)/python -m rungs run --size full --only 07 --out data/run/bench

peers: $(INSTALLED)
	$(BIN)/python -m rungs run --size $(SIZE) --only 12 --out data/run/peers

record: $(INSTALLED)
	$(BIN)/python -m rungs record

check: $(INSTALLED)
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files '*.hpp' '*.cpp')
	tests/cpp/fuzz.sh fen $(FUZZ_SECONDS) && tests/cpp/fuzz.sh actions $(FUZZ_SECONDS)

tools:
	apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends \
	  chromium clang iproute2 papi-tools stockfish valgrind

# CUDA's libraries are left to PyTorch, whose builds for GPUs pin their own versions of them.
lock: $(INSTALLED)
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' \
	  | grep -Ev '^(cuda-bindings|cuda-toolkit|nvidia-)' > constraints.txt

clean:
	rm -rf .venv build data/run figures/run

# torch goes first and alone: installed, it satisfies whatever asks for it later.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Rungs needs Python 3.11 or newer: make PYTHON=...")'
	@command -v g++ >/dev/null || { echo "Rungs needs g++"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch==2.13.0
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[book,course,dev,gpu,mpi,peers,train]'
	touch $@

.PHONY: run book test test-slow lab explore doctor bench peers record check tools lock clean
