"""`prs-get`: what it does by itself; `tests/e2e/test_prs_get.py` has it beside a real manager."""
