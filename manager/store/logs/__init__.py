"""Crawl logs as Parquet: files, sums, search, comparison and merge by DuckDB.

Parsing is left to `manager.intake.logs`, what sums mean to `manager.operations`.
"""
