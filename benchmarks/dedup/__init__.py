"""Seed 003's experiment again, with more structures: `make bench-dedup`.

stream.py     a power-law stream of links
simulate.py   hits, false positives and false negatives of a structure on it
speed.py      URLs a second, and table 1
crawl.py      what a structure before the exact set saves in the module `dedup`
saving.py     memory at equal hit rate
report.py     tables and figures
"""
