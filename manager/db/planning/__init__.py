"""Queries on plans and on orders of probes.

How a plan is made is left to `manager.operations.planning`.
"""
