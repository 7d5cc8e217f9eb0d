# Each target does its own set-up on a machine that has Python, git and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LITELLM := .venv-litellm/.installed
SECONDS_OF_DEMO ?= 60
CODE := src tests benchmarks

.PHONY: demo test check format mutants bench lock clean

demo: $(STAMP) ## lab, canary and a live view: suspensions come, hold and end
	$(BIN)/routecanary demo --seconds $(SECONDS_OF_DEMO)

test: $(STAMP) $(LITELLM) check ## format, lint, types, then every suite with the listed mutants
	$(BIN)/python -m pytest -n auto

check: $(STAMP)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

mutants: $(STAMP) ## one-line breaks of decide/, each killed by the test named beside it
	$(BIN)/python -m tests.mutants

bench: $(STAMP)
	$(BIN)/python benchmarks/merge.py
	$(BIN)/python benchmarks/round.py

$(STAMP): pyproject.toml requirements-dev.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Routecanary needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(LITELLM): requirements-litellm.lock ## LiteLLM and its proxy, whose pins do not meet the daemon's
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

lock: ## resolve the development dependencies anew (needs uv)
	uv pip compile --universal --generate-hashes --no-header --no-emit-index-url --no-annotate \
		--extra daemon --group dev pyproject.toml --output-file requirements-dev.lock
	uv pip compile --universal --generate-hashes --no-header --no-emit-index-url --no-annotate \
		--group litellm --output-file requirements-litellm.lock

clean:
	rm -rf $(VENV) $(dir $(LITELLM)) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
