"""Crawl logs (M3): entry, completion of units, search and export.

Enters what intake parsed, finishes units that logs or agents report as done, finds lines again.
Parsing is left to `manager.intake`, what sums mean for distances to `measurement`.
"""
