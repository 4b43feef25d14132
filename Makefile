# Each target reads like its name. `make run` and `make test` install what they need.
PYTHON ?= python3
SIZE ?= quick
FUZZ_SECONDS ?= 20
BIN := .venv/bin
FIRST := .venv/installed-first
INSTALLED := .venv/installed
TESTED := .venv/installed-for-tests
ALL_TESTED := .venv/installed-for-all-tests
ZIG := .venv/installed-zig
WASM := lib/rungs/compiled/rungs.wasm
CPP = $$(git ls-files '*.c' '*.h' '*.cpp' '*.hpp')
NOTEBOOKS = $$(git ls-files '*.ipynb')
SHELL_SCRIPTS = $$(git ls-files '*.sh' '.ci/*' '.binder/postBuild')
# What checks style, before anything large is installed or with the rest.
STYLE = $(if $(wildcard $(TESTED)),$(TESTED),build/style/installed)
STYLE_BIN = $(if $(wildcard $(TESTED)),$(BIN),build/style/bin)
# Debian's packages of programs that some tests and notebooks use.
TOOLS := bubblewrap chromium clang cmake g++-aarch64-linux-gnu iproute2 libclang-rt-dev llvm \
  musl nodejs papi-tools polyglot qemu-user stockfish valgrind wine64

# Python keeps the modules that it compiles, also in a container that sets this variable: kernels,
# workers and tests are hundreds of processes, and each would compile PyTorch's modules anew.
export PYTHONDONTWRITEBYTECODE :=
# Git reads this clone also where it belongs to another user.
export GIT_CONFIG_COUNT := 1
export GIT_CONFIG_KEY_0 := safe.directory
export GIT_CONFIG_VALUE_0 := $(shell pwd -P)
# Where there is no home, or none to write to, caches and settings are kept below build/.
ifneq ($(shell test -n "$$HOME" && test -w "$$HOME" && echo yes),yes)
export HOME := $(shell mkdir -p build/home && cd build/home && pwd -P)
endif

run: $(INSTALLED)
	$(BIN)/python -m rungs_course run --size $(SIZE) && $(BIN)/python -m rungs_course book

book: $(INSTALLED)
	test -e data/run/manifest.json || $(BIN)/python -m rungs_course run --size $(SIZE)
	$(BIN)/python -m rungs_course book

# Before a container's first page can be read; `install` brings the rest while it is.
install-first: $(FIRST)

install: $(INSTALLED)

test: $(TESTED)
	$(BIN)/python -m tests.run

# What the changes since a commit, SINCE, can have broken; everything without it. The tests that need
# an optional program are among them, so that what `make test` skips is run once the program is here.
test-system: $(ALL_TESTED) wasm
	$(BIN)/python -m tests.run -m '(system or needs) and not slow$(if $(SINCE), and not release)' $(if $(SINCE),--since $(SINCE))

# Before a release: also what repeats a test on other compilers, processors and machines.
test-all: test test-system

test-slow: $(ALL_TESTED)
	$(BIN)/python -m pytest -m slow

# What continuous integration runs, in a fresh clone of the last commit.
ci:
	rm -rf build/ci && git clone --quiet . build/ci/clone
	build/ci/clone/.ci/run $(SINCE)
	git -C build/ci/clone rev-parse HEAD > build/ci/passed

# A thousand million random plies, compared with other move generators; goes on where it was stopped.
proof: $(ALL_TESTED)
	@mkdir -p build
	$(BIN)/python -m tests.proof.differential --log build/differential.jsonl

mutants: $(ALL_TESTED)
	$(BIN)/python -m tests.proof.mutants

# A kernel that no page has used for four hours is ended; one that computes is not. The settings turn
# off JupyterLab's question about news, which covers a corner of every notebook.
lab: $(INSTALLED)
	JUPYTER_CONFIG_PATH=lib/rungs_course/jupyterlab $(BIN)/jupyter lab --allow-root --ip=127.0.0.1 --MappingKernelManager.cull_idle_timeout=14400 notebooks

# Every page has a kernel of its own: voila.json sets which requests get one, and for how long.
explore: $(INSTALLED)
	JUPYTER_PATH=lib/rungs_course JUPYTER_CONFIG_PATH=lib/rungs_course/voila $(BIN)/voila notebooks/explore.ipynb

# The book's pages that run Rungs; the address that is printed is the one to play on.
play: $(INSTALLED) $(WASM)
	rm -rf build/browser && mkdir -p build/browser
	$(BIN)/python -c "from pathlib import Path; from rungs_course.runner import bundle; bundle.build(Path('build/browser'))"
	cp build/browser/play.html build/browser/index.html
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/browser 0

doctor: $(INSTALLED)
	$(BIN)/python -m rungs_course doctor

peers: $(INSTALLED)
	$(BIN)/python -m rungs_course run --size $(SIZE) --only 12 --out data/run/peers

# Some of the peers fail some of it: that is what the table is about.
conformance: $(INSTALLED)
	-$(BIN)/python -m rungs_course conformance rungs peers --format markdown --out docs/conformance_table.md

record: $(INSTALLED)
	$(BIN)/python -m rungs_course record

# What needs a GPU: first its games against the host's, then notebooks 06 and 13, recorded.
gpu-record: $(TESTED)
	$(BIN)/python -c "from rungs._src.machine import gpu; gpu.usable() or exit('There is no GPU here.')"
	$(BIN)/python -m pytest -q tests/library/chess/test_cuda.py tests/library/cartpole tests/course/test_cartpole_numba.py
	$(BIN)/python -m rungs_course run --size full --only 06,13 --out data/run/gpu
	$(BIN)/python -m rungs_course record data/run/gpu

# All of them run, whichever fails.
style: $(STYLE)
	@test -n "$$(git ls-files)" || { echo "git lists no files here"; exit 1; }
	@failed=; \
	$(STYLE_BIN)/ruff check . || failed=1; \
	$(STYLE_BIN)/ruff format --check . || failed=1; \
	$(STYLE_BIN)/clang-format --dry-run --Werror $(CPP) || failed=1; \
	$(STYLE_BIN)/nbstripout --verify $(NOTEBOOKS) || failed=1; \
	$(STYLE_BIN)/shellcheck $(SHELL_SCRIPTS) || failed=1; \
	$(STYLE_BIN)/codespell $$(git ls-files '*.md' '*.py' '*.?pp' '*.ipynb' '*.js' '*.toml') || failed=1; \
	if command -v node >/dev/null; then \
	  for file in $$(git ls-files '*.js' '*.mjs'); do node --check $$file || failed=1; done; \
	else echo "JavaScript is not checked: there is no node"; fi; \
	test -z "$$failed"

check: style $(TESTED)
	$(BIN)/python -m mypy && $(BIN)/python -m tools.notebooks

# What `style` asks of layout, done.
format: $(STYLE)
	$(STYLE_BIN)/ruff check --fix --quiet . || true
	$(STYLE_BIN)/ruff format .
	$(STYLE_BIN)/clang-format -i $(CPP)
	$(STYLE_BIN)/nbstripout $(NOTEBOOKS)

fuzz: $(INSTALLED)
	for target in fen actions states; do tests/proof/cpp/fuzz.sh $$target $(FUZZ_SECONDS) || exit 1; done

# How each file of C++ is compiled, for clangd and other editors' tools.
compile_commands: $(INSTALLED)
	cmake -S . -B build/cmake -DMPI_INCLUDE="$$($(BIN)/python -c 'import sys; print(sys.prefix)')/include"
	ln -sf build/cmake/compile_commands.json .

# The C library: include/ and lib/ with pkg-config's and CMake's files, in dist/.
archive: $(INSTALLED)
	RUNGS_VARIANTS=all $(BIN)/python setup.py --quiet archive

# The source distribution and this platform's wheel of the last commit, tried in empty environments
# of the Pythons on the path, or of PYTHONS.
release: $(INSTALLED)
	$(BIN)/python tools/release.py $(PYTHONS)

# One for each platform, compiled by zig, into dist/.
wheels: $(ALL_TESTED)
	$(BIN)/python tools/wheels.py

# The C API in WebAssembly, for js/rungs.js and the book's pages in which it runs.
wasm: $(WASM)

$(WASM): $(ZIG) tools/wasm.py $(wildcard cpp/*/*.h cpp/*/*.hpp cpp/*/*.cpp)
	$(BIN)/python -m tools.wasm

$(ZIG): $(INSTALLED)
	@$(INSTALL) $(call extras,wheels) \
	  || { echo "WebAssembly needs zig's compiler, and pip can't install ziglang"; exit 1; }
	@touch $@

# One by one where a system lacks any of them.
tools:
	apt-get update --quiet
	apt-get install --quiet --yes --no-install-recommends $(TOOLS) || for tool in $(TOOLS); do \
	  apt-get install --quiet --yes --no-install-recommends $$tool || echo "$$tool can't be installed"; done
	tests/arm_python.sh build/arm

list-tools:
	@echo $(TOOLS)

# CUDA's libraries are left to PyTorch, whose builds for GPUs pin their own versions of them.
lock: $(ALL_TESTED)
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' \
	  | grep -Ev '^(cuda-bindings|cuda-toolkit|nvidia-)' > constraints.txt

clean:
	rm -rf .venv build data/run figures/run

# Python without its lock, for a test of the library: four minutes of a core.
free_threaded:
	tests/free_threaded_python.sh build/free_threaded

# What pyproject.toml lists under some of its extras, but for other extras of ours.
extras = $(shell $(PYTHON) -c "import sys, tomllib; \
  there = tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']; \
  print(*(repr(each) for name in '$(1)'.split() for each in there[name] if 'rungs-rl[' not in each))")
# Modules are compiled when they are first imported, which most never are.
# pip shows a bar for what it fetches in a terminal; a log has what goes wrong alone.
QUIET := $(shell test -t 2 || echo --quiet)
INSTALL := $(BIN)/python -m pip install $(QUIET) --no-compile --constraint constraints.txt
# What simulates and compiles a GPU's kernels is a quarter of what runs them.
KERNELS := $(if $(shell command -v nvidia-smi),gpu,kernels)
WHEELS := .venv/wheels

# JupyterLab and what notebooks import, but for PyTorch and cppyy. While pip fetches it, the other core
# compiles the library, which stays in the user's cache.
$(FIRST): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Rungs needs Python 3.11 or newer: make PYTHON=...")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "Rungs needs Python's venv (Debian: python3-venv)"; exit 1; }
	@command -v g++ >/dev/null || { echo "Rungs needs g++ (Debian: g++)"; exit 1; }
	@test -e "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" \
	  || { echo "Rungs needs Python's headers (Debian: python3-dev)"; exit 1; }
	@echo "Installing into .venv; only this once."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(INSTALL) --editable .
	@$(BIN)/python -c 'from rungs._src.native import gpp; gpp.load(); gpp.load_learn()' & compiling=$$!; \
	$(INSTALL) $(call extras,course) && wait $$compiling || { kill $$compiling 2>/dev/null; exit 1; }
	@touch $@

# cppyy, which no registry holds for Linux, is compiled meanwhile. EnvPool comes without what it needs
# for environments that are not raced here.
$(INSTALLED): $(FIRST)
	@echo "Installing all that the course needs: about 3 GB, some 4 minutes on 2 cores."
	@CFLAGS=-g0 $(BIN)/python -m pip wheel --quiet --no-deps --constraint constraints.txt \
	  --wheel-dir $(WHEELS) CPyCppyy cppyy & compiling=$$!; \
	$(INSTALL) $(call extras,book mpi peers train $(KERNELS)) \
	  && $(INSTALL) --no-deps envpool && wait $$compiling \
	  || { kill $$compiling 2>/dev/null; exit 1; }
	@$(INSTALL) --find-links $(WHEELS) --editable '.[cling]' && rm -r $(WHEELS)
	@touch $@

$(TESTED): $(INSTALLED)
	@echo "Installing what the tests need: 0.1 GB."
	@$(INSTALL) $(call extras,dev style)
	@touch $@

$(ALL_TESTED): $(TESTED)
	@echo "Installing what all tests need: 1.4 GB."
	@$(INSTALL) $(call extras,system wheels onnx rllib torchrl trackio wandb)
	@touch $@

build/style/installed: pyproject.toml constraints.txt
	@$(PYTHON) -m venv build/style
	@build/style/bin/python -m pip install $(QUIET) --constraint constraints.txt $(call extras,style)
	@touch $@

.PHONY: run book install-first install test test-system test-all test-slow ci style proof mutants lab explore play doctor peers conformance record gpu-record check format fuzz compile_commands archive release wheels wasm tools list-tools free_threaded lock clean
