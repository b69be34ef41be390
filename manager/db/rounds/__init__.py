"""Queries on rounds, their units, schedules and the clock of the tick.

When a round moves on is left to `manager.operations.rounds`.
"""
