"""Queries on releases and on what sites report of updates.

What they mean is left to `manager.operations.releases`.
"""
