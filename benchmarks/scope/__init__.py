"""Decisions by scope rules: `make bench-scope`."""
