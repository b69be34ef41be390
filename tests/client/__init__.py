"""Tests of `prs-get` by itself; `tests/e2e/archive` has it beside a real manager."""
