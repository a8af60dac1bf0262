# Each target prepares .venv by itself from python3 alone; stamp files make the second time fast.

PYTHON ?= python3
WORKERS ?= auto
SOAK_EXAMPLES ?= 100000

BIN := .venv/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-input

# Hundreds of tests start Python anew; compiled files make each start twice as fast.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two installations into one environment must not run side by side under -j.
.NOTPARALLEL:
.PHONY: help demo test check format bench bench-peers docs pages wheel test-sdks soak faults mutants clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

demo: .venv/.core ## watch a scripted agent being kept safe
	@$(BIN)/stanchion demo

test: check ## check, then run every test
	@$(BIN)/python -m pytest -n $(WORKERS)

check: .venv/.dev ## format, lint and strict types
	@$(BIN)/ruff format --check --quiet . || { echo 'run `make format`'; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy

format: .venv/.dev ## rewrite the code in the house format
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

bench: .venv/.dev ## measure decisions beside the floor
	@$(BIN)/python -m stanchion.lab.bench

bench-peers: .venv/.dev ## the same calls through others' libraries
	@$(BIN)/python -m stanchion.lab.bench.peers

pages: .venv/.docs ## write the generated pages of the docs and the index of secret rules
	@$(BIN)/python -m tools.secret_rules
	@$(BIN)/python -m tools.docs

docs: pages ## generate the reference, build the site into build/docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo 'open build/docs/index.html'

wheel: .venv/.made ## build the wheel into dist
	@rm -rf dist
	@$(BIN)/python -m pip wheel -q --disable-pip-version-check --no-input --no-deps --wheel-dir dist .
	@ls dist/*.whl

test-sdks: .venv-sdks/.made ## check replies of real SDKs, in an environment of their own
	@LITELLM_LOCAL_MODEL_COST_MAP=True .venv-sdks/bin/python -m pytest -rs -W ignore::UserWarning -W ignore::DeprecationWarning tests/sdks

.venv-sdks/.made: pyproject.toml
	@echo 'installing stanchion and the SDKs into .venv-sdks'
	@$(PYTHON) -m venv .venv-sdks
	@.venv-sdks/bin/python -m pip install -qq --disable-pip-version-check --no-input -e '.[testing,sdks]'
	@touch $@

soak: .venv/.dev ## long property runs, 500 kills and every mutant
	@STANCHION_SOAK=1 STANCHION_SOAK_EXAMPLES=$(SOAK_EXAMPLES) \
		$(BIN)/python -m pytest -n $(WORKERS) tests/properties tests/stores tests/audit tests/faults tests/e2e tests/guards/test_isolated.py
	@$(BIN)/python -m model.mutants

faults: .venv/.dev ## measure what comes of each fault anew, and write its page
	@$(BIN)/python -m tools.faults

mutants: .venv/.dev ## show that each seeded fault is caught
	@$(BIN)/python -m model.mutants

clean: ## remove everything that make created
	rm -rf .venv .venv-sdks build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src model tests tools -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Stanchion needs Python 3.11 or later; name one with `make PYTHON=python3.12`")'
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.core: pyproject.toml | .venv/.made
	@echo 'installing stanchion into .venv'
	@$(PIP) -e .
	@touch $@

.venv/.dev: pyproject.toml | .venv/.made
	@echo 'installing stanchion and its development tools into .venv'
	@$(PIP) -e '.[dev]'
	@touch .venv/.core $@

.venv/.docs: pyproject.toml | .venv/.made
	@echo 'installing the documentation tools into .venv'
	@$(PIP) -e '.[docs]'
	@touch .venv/.core $@
