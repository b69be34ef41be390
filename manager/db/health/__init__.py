"""Queries on alerts that were told, silences, and counts of everything.

What is wrong is decided by `manager.operations.health`.
"""
