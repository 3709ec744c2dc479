# Every target prepares what it needs; `make` alone lists the targets.

PYTHON ?= python3
WORKERS ?= auto
BIN := .venv/bin
# Tests compile thousands of programs, most of them small and many of them again and again: all
# are kept, for the other files of tests, the other worker and the next run.
COMPILED := JAX_COMPILATION_CACHE_DIR=$(CURDIR)/.pytest_cache/jax \
  JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0
# A file of tests stays with one worker, so that what its tests share is made once.
PYTEST = $(COMPILED) $(BIN)/pytest -n $(WORKERS) --dist loadfile
# Doubled: pip then speaks only of errors.
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check

TESTING := pytest pytest-timeout
# From a table to pages and backtests, without packages that only our tests need; types are not
# checked at run time here.
JOURNEY_TESTS := tests/test_import_order.py $(addprefix tests/, \
  kernels/test_composite.py model/test_twin.py posterior/test_files.py posterior/test_arviz.py \
  posterior/test_predict.py backtest/test_metrics.py backtest/test_records.py sports/test_calendar.py \
  cli/test_backtest.py cli/test_fit.py cli/test_predict.py cli/test_info.py cli/test_report.py \
  plots/test_plots.py)
JOURNEY = JAX_COMPILATION_CACHE_DIR=$(CURDIR)/.venvs/$(1)/jax \
  JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 .venvs/$(1)/bin/python -m pytest -q \
  $(JOURNEY_TESTS) -m 'not long' -o addopts='--strict-markers --import-mode=importlib'

.DEFAULT_GOAL := help
.PHONY: help test test-long test-versions test-oldest test-newest test-minimal demo docs prove reproduce-table1 figures bench-samplers bench-backtest bench-scaling bench-daily bench-startup bench-memory bench-load bench-ratings bench-links bench-million format clean

help:  ## List the targets
	@grep -E '^[a-z0-9-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 20

test: .venv/.dev  ## Check format, lint and types, then run the tests (WORKERS=auto)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) -m 'not long'

test-long: .venv/.dev  ## Run the tests that take minutes each, which `make test` leaves out
	$(PYTEST) -m long

# Each of these environments is made anew: what is oldest and newest today is the question.
test-versions: test-oldest test-newest test-minimal  ## The journey with the oldest, newest and fewest packages

test-oldest: | $(BIN)/pip
	$(BIN)/python -m venv --clear .venvs/oldest
	$(BIN)/python tests/oldest.py > .venvs/oldest/constraints.txt
	.venvs/oldest/bin/pip install -qq -c .venvs/oldest/constraints.txt -e '.[dask]' $(TESTING)
	$(call JOURNEY,oldest)

test-newest: | $(BIN)/pip
	$(BIN)/python -m venv --clear .venvs/newest
	.venvs/newest/bin/pip install -qq --upgrade -e '.[dask]' $(TESTING)
	$(call JOURNEY,newest)

# No extras, and nothing of ours but pytest.
test-minimal: | $(BIN)/pip
	$(BIN)/python -m venv --clear .venvs/minimal
	.venvs/minimal/bin/pip install -qq -e . pytest
	$(call JOURNEY,minimal)

demo: .venv/.core  ## Fit the embedded games, measure the forecasts, write demo/report.html
	$(BIN)/dpmf demo

docs: .venv/.docs  ## Build the documentation into site/, without any network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

prove: .venv/.dev  ## Run the long proofs
	$(BIN)/python proofs/run.py

reproduce-table1: .venv/.dev  ## The paper's Table 1 on ../shared/data (goes on where it stopped)
	$(BIN)/python benchmarks/table1.py

figures: .venv/.dev  ## The paper's figures on ../shared/data, as pages
	$(BIN)/python benchmarks/figures.py

bench-samplers: .venv/.dev  ## Effective draws per second, against NUTS and elliptical slices
	$(BIN)/python benchmarks/samplers.py

bench-backtest: .venv/.dev  ## Weekly refits of an NBA season, against kickscore and melo
	$(BIN)/python benchmarks/weekly.py

bench-scaling: .venv/.dev  ## Time and memory as events, members, inputs, rank and chains grow
	$(BIN)/python benchmarks/scaling.py

bench-daily: .venv/.dev  ## A season of the NBA refitted every day, for a GPU
	$(BIN)/python benchmarks/daily.py

bench-startup: .venv/.dev  ## Seconds until the command, the import and a first fit do something
	$(BIN)/python benchmarks/startup.py

bench-memory: .venv/.dev  ## The most memory that a fit of three NBA seasons holds, with ten chains
	$(BIN)/python benchmarks/peak_memory.py

bench-load: .venv/.dev  ## Memory of long fits and backtests, against that of short ones
	$(BIN)/python benchmarks/load.py

bench-ratings: .venv/.dev  ## Ratings of films and lectures, against PMF, myFM and SVD++
	$(BIN)/python benchmarks/ratings.py

bench-links: .venv/.dev  ## Which films a viewer rates next, against logistic factorization
	$(BIN)/python benchmarks/links.py

bench-million: .venv/.dev  ## A million simulated ratings, for a GPU
	$(BIN)/python benchmarks/million.py

format: .venv/.dev  ## Rewrite the code in the one format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## Remove the environment, caches and outputs
	rm -rf .venv .venvs .hypothesis .mypy_cache .pytest_cache .ruff_cache build demo dist site

# pip comes last when an environment is made, so it marks a complete one.
$(BIN)/pip:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "dpmf needs Python 3.11 or newer, but there is no $(PYTHON): set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
	  "dpmf needs Python 3.11 or newer, but $(PYTHON) is %d.%d: set PYTHON=..." % sys.version_info[:2])'
	$(PYTHON) -m venv .venv

.venv/.core: pyproject.toml | $(BIN)/pip
	$(PIP_INSTALL) -e .
	@touch $@

.venv/.docs: pyproject.toml | $(BIN)/pip
	$(PIP_INSTALL) -e '.[docs]'
	@touch .venv/.core $@

.venv/.dev: pyproject.toml | $(BIN)/pip
	$(PIP_INSTALL) -e '.[dev]'
	@touch .venv/.core .venv/.docs $@
