"""Queries on sums of logs, distances, volumes, control hosts and refetched pages.

What counts of them is left to `manager.operations.measurement`.
"""
