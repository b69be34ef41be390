"""Queries on accepted reports and on what an hour of all logs brought.

The lines themselves lie in files of `manager.store`; what they mean is left to
`manager.operations.logs`.
"""
