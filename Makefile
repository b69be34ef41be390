# Two commands are enough: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV   := .venv/bin
KEEP   ?=

.DEFAULT_GOAL := help
.PHONY: help venv demo test test-all lint format lock

help:  ## say what each target does
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

venv:  ## the virtual environment, from the lock file with hashes
	@$(PYTHON) tools/make_venv.py

lock: venv  ## choose versions anew and write requirements.lock with hashes
	$(VENV)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	  --all-extras --group dev pyproject.toml -o requirements.lock --no-emit-index-url --no-emit-find-links

lint: venv  ## ruff, mypy strict, import contracts
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy
	$(VENV)/lint-imports

format: venv  ## let ruff lay the code out
	$(VENV)/ruff check --fix .
	$(VENV)/ruff format .

test: venv  ## the default suite
	$(VENV)/pytest -m "not slow"
