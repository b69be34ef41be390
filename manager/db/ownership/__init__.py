"""Queries on owners of units, their rights, and pins.

An assignment is history and only appended; a right passes only through *free*. When either changes
is left to `manager.operations.ownership` and the packages above it.
"""
