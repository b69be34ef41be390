"""Queries on segments, transfers, orders to send them, and the integrity of kept files.

What they mean is left to `manager.operations.segments`.
"""
