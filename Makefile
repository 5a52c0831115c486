# Every target sets up what it needs in .venv, from the package registry alone.
PYTHON ?= python3
BIN := .venv/bin
NATIVE := $(shell find native -name '*.cpp' -o -name '*.h' -o -name 'CMakeLists.txt')
WORKERS ?= 2
# Instruction sets to compile for: without it the baseline and the best of this machine; v2, v3 or v4
# alone compiles faster; all is for wheels.
ISA ?=
VENV_MISSING := extensor: $(PYTHON) cannot make a virtual environment; install Python 3.11 or later with venv \
  (Debian, Ubuntu: apt install python3-venv; Fedora: dnf install python3)
PURELIB := import sysconfig; print(sysconfig.get_path('purelib'))

.PHONY: help train test test-reference soak workers-soak browser-test check format bench parity xla peers sanitize docs \
  wheel test-wheel release clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

train: .venv/installed  ## Train LeNet-5 on handwritten digits, in some seconds (see extensor train --help)
	$(BIN)/extensor train $(ARGS)

test: .venv/tools  ## Run the test suite and the doctests (under ten minutes)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

# Left out are tests of files, commands, pages and workers, which compute by whatever engine there is.
test-reference: .venv/tools  ## Run the tests of what is computed with formulas alone, without kernels
	EXTENSOR_ENGINE=reference $(BIN)/pytest -n $(WORKERS) --dist worksteal --ignore=tests/mpi --ignore=tests/programs --ignore=tests/compiled \
	  $(foreach x,cli csv data_readers docs earlier estimator experiment exit joint killed links live lives notebook \
	  odd own page picture redaction report resume run_lock saving screen security series shards sweep streaming table \
	  tensorboard text texts trust tune_lr typing walk,--ignore-glob='tests/test_$(x)*.py')

soak: .venv/tools  ## Run the long forms of the fuzzers, at most an hour (ARGS: families, --calls, --seed, --minutes)
	PYTHONPATH=tests $(BIN)/python -m soak $(ARGS)

# Not among the families of the soak: two kinds of MPI need two environments, and namespaces need root.
workers-soak: .venv/tools .venv/mpich .venv/peers  ## Try workers and compiled steps at length, an hour: bits, drawn programs, faults (root: over TCP too)
	$(BIN)/python tests/mpi/matrix.py --mpi .venv .venv/mpich
	$(BIN)/python tests/programs/run.py 60 $(if $(SEED),--seed $(SEED))
	$(BIN)/python tests/mpi/faults.py 100 --mpi .venv .venv/mpich $(if $(filter 0,$(shell id -u)),--hosts) $(ARGS)
	$(if $(filter 0,$(shell id -u)),$(BIN)/python tests/mpi/matrix.py --mpi .venv .venv/mpich --hosts)

browser-test: .venv/tools  ## Look at a report with Chromium, which must be installed
	$(BIN)/pytest -o addopts= tests/browser

docs: .venv/tools  ## Build the documentation site into build/docs; any warning is an error
	$(BIN)/python -m sphinx -b html -W --keep-going -q -j $(WORKERS) docs build/docs
	@echo "open build/docs/index.html"

check: .venv/tools  ## Lint, format, type and spelling checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini
	$(BIN)/codespell *.md docs src tools benchmarks examples native
	find native benchmarks tests -name '*.cpp' -o -name '*.h' | xargs $(BIN)/clang-format --dry-run -Werror

format: .venv/tools  ## Format all sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	find native benchmarks tests -name '*.cpp' -o -name '*.h' | xargs $(BIN)/clang-format -i

sanitize: .venv/tools  ## Run the tests under the address, undefined-behaviour and thread sanitizers
	tools/sanitize.sh address,undefined tests -n $(WORKERS)
	tools/sanitize.sh thread tests -n $(WORKERS)

bench: .venv/tools  ## Measure against the peers that are installed (see make peers)
	$(BIN)/python -m benchmarks $(ARGS)

parity: .venv/tools  ## Compare with PyTorch where it is installed (see make peers)
	$(BIN)/pytest -o addopts= tests/parity

xla: .venv/peers .venv/tools  ## Run steps by XLA on the CPU, against the same steps here (ARGS: tests)
	EXTENSOR_TEST_BACKEND=xla $(BIN)/pytest -o addopts= --doctest-modules -n $(WORKERS) --dist worksteal \
	  $(or $(ARGS),tests/xla tests/compiled src/extensor/compiled)

peers: .venv/peers  ## Install PyTorch, JAX, ONNX Runtime and OpenVINO, for parity, XLA and benchmarks only

wheel: .venv/pip  ## Build the sdist and a wheel for each Python from 3.11 to 3.13 that is found, into dist (ARGS: --python)
	$(BIN)/python tools/wheels.py build $(if $(ISA),--isa $(ISA)) $(ARGS)

test-wheel: .venv/pip  ## Install the wheels of dist in new environments and run the tests there (ARGS: --python, --floor)
	$(BIN)/python tools/wheels.py test --workers $(WORKERS) $(ARGS)

release:  ## Run every check, and leave tested wheels and the sdist in dist
	$(MAKE) check
	$(MAKE) test
	EXTENSOR_ENGINE=reference $(MAKE) test
	$(MAKE) docs
	$(MAKE) wheel ISA= ARGS=
	$(MAKE) test-wheel ARGS=
	$(MAKE) test-wheel ARGS="--python 3.11 --floor"

clean:  ## Remove everything that was built or installed here
	rm -rf .venv build dist

.venv/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' && $(PYTHON) -m venv .venv \
	  || { rm -rf .venv; echo "$(VENV_MISSING)" >&2; exit 1; }
	@echo "installing into .venv"
	@$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	touch $@

.venv/installed: .venv/pip pyproject.toml $(NATIVE)
	@$(BIN)/python tools/progress.py $(BIN)/pip install --quiet --group build
	@$(BIN)/python tools/progress.py $(BIN)/pip install --verbose --no-build-isolation --editable '.[plot]' \
	  $(if $(ISA),--config-settings=cmake.define.EXTENSOR_INSTRUCTION_SETS=$(ISA))
	touch $@

.venv/tools: .venv/installed
	$(BIN)/pip install --quiet --group test --group check
	touch $@

# MPICH beside Open MPI: an environment of its own, which finds all else in the first.
.venv/mpich: .venv/tools
	$(PYTHON) -m venv .venv/mpich
	.venv/mpich/bin/pip install --quiet mpi4py mpich
	echo "import site; site.addsitedir('$$($(BIN)/python -c "$(PURELIB)")')" \
	  > "$$(.venv/mpich/bin/python -c "$(PURELIB)")/beside.pth"

.venv/peers: .venv/installed
	$(BIN)/pip install --quiet torch==2.13.0 expecttest jax jaxlib flatbuffers onnx onnxruntime openvino
	touch $@
