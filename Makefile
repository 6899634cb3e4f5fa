# Each target makes its own virtual environment; nothing but make and Python 3.11 is needed.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# python3.11 where one runs, else a python3 that is new enough.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3.11 python3; do \
  "$$name" -c '$(NEW_ENOUGH)' 2>/dev/null && command -v "$$name" && break; done)

.PHONY: help quickstart test test-slow lint clean

help:
	@echo "make quickstart  learn, train, evaluate, export and translate (15 minutes)"
	@echo "make test        the test suite; test-slow: its long tests"
	@echo "make lint        ruff and mypy"
	@echo "make clean       remove the environment and what the quickstart wrote"

quickstart: $(STAMP)
	TF_CPP_MIN_LOG_LEVEL=3 $(BIN)/python -m keras_attention.studies.quickstart

# Two processes: tracing graphs keeps one core busy. Each takes whole files, so that a
# fixture of a module is made once.
test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-slow: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "slow and not campaign"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(STAMP): setup.py constraints.txt
	@test -n "$(PYTHON)" && "$(PYTHON)" -c '$(NEW_ENOUGH)' \
	  || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $(STAMP)

clean:
	rm -rf $(VENV) quickstart saved_models/quickstart build dist *.egg-info
