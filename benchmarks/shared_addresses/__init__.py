"""Benchmark of addresses that many sites share."""
