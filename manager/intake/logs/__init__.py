"""Crawl logs (M3): from a spooled body to Parquet rows and sums.

`log_intake` takes a log, `log_parser` runs in a worker process. What the sums mean is left to
`manager.operations.logs`.
"""
