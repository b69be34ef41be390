"""Benchmark of one lying agent: its effect on plans, counted in truth, with the manager's code."""
