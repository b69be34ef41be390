"""Benchmark of a crawl while agents come and go."""
