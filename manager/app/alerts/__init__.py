"""Alerts by the clock: search, delivery by mail and webhook, outages of the database.

What is an alert is left to `manager.operations.health`.
"""
