"""Captures read from segments: lists, selections, mirrors, zip and WARC streams.

Who may take them is left to `manager.operations.archive`.
"""
