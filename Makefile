# A fresh machine needs Python >= 3.11 and make; everything else lands in .venv.
VENV := .venv
BIN := $(VENV)/bin
# --no-compile: bytecode is written on first import, and only for what is imported.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# setuptools warns of everything that is installed as editable.
INSTALL_PAGELIGHT := PYTHONWARNINGS="ignore:Editable installation" $(INSTALL) --no-deps --no-build-isolation --editable .

# The Python that .venv is made with; `make run PYTHON=/path/to/python3.12` chooses another.
PYTHON ?= python3.13 python3.12 python3.11 python3.14 python3 python
USABLE := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))

# Where the environment forbids bytecode, as containers often do, each start of a process would compile
# all it imports anew, for 3 seconds and 100 MB.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run setup test lint format messages bench mutants lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/installed ## Install what is missing and open the app
	@$(BIN)/pagelight run

setup: $(VENV)/installed-dev ## Install the app and the tools to work on it

test: $(VENV)/installed-dev ## Run the tests; `make test ARGS="tests/unit -k fusion"` runs some
	@$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile $(ARGS)

# Two cores are kept busy by four processes, as some of the tests wait.
JOBS ?= 4

lint: $(VENV)/installed-dev ## Check style, types and layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/installed-dev ## Put the code into its form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

messages: $(VENV)/installed-dev ## Renew the template of the pages' messages, and bring new ones into each language
	@$(BIN)/python -m rag.ui.message_catalogs

bench: $(VENV)/installed-dev ## Measure speed and memory; `make bench ARGS=--help` shows the choices
	@$(BIN)/python -m benchmarks $(ARGS)

mutants: $(VENV)/installed-dev ## Break the code in small ways, one at a time, and see which a test notices
	@PATH="$(CURDIR)/$(BIN):$$PATH" mutmut run $(ARGS)
	@$(BIN)/mutmut results | sed '/type check/d; /not checked/d'

lock: ## Renew the locks from pyproject.toml (needs uv; UPGRADE=--upgrade for newer versions)
	@echo pip | uv pip compile - $(LOCK_FORM) $(UPGRADE) --output-file requirements-pip.lock
	@uv pip compile $(LOCK_OPTIONS) --extra vendors --extra mcp $(UPGRADE) --output-file requirements.lock
	@uv pip compile $(LOCK_OPTIONS) --extra vendors --extra mcp --extra drive --extra telemetry --group dev $(UPGRADE) --constraints requirements.lock --output-file requirements-dev.lock

LOCK_FORM := --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"
LOCK_OPTIONS := pyproject.toml $(LOCK_FORM)

clean: ## Remove .venv and all caches; documents and the database stay
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build mutants *.egg-info

# The locks are complete, so nothing is resolved (--no-deps), and every file is checked against its hash.
# setuptools comes out of the lock too: the project itself is installed without asking a registry.
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

# With a pip of its own: the one that Python brings may be years old, and take twice as long for the same.
$(BIN)/python: | requirements-pip.lock
	@for python in $(PYTHON); do \
		if "$$python" -c "$(USABLE)" 2>/dev/null; then \
			"$$python" -m venv --clear $(VENV) && exec $(INSTALL) --require-hashes -r requirements-pip.lock; \
		fi; \
	done; \
	echo "Pagelight needs Python 3.11 or newer with its venv module; tried: $(PYTHON)." >&2; \
	echo "Install it (Debian: apt-get install python3 python3-venv) or name one: make PYTHON=/path/to/python3.12 ..." >&2; \
	exit 1
