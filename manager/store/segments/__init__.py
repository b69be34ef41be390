"""Segments on disk or in a bucket: index, examination, rebuild, rewrite, trash.

WARC records are read by `shared.archive`; which segments there are is left to `manager.db`.
"""
