"""Queries on hosts, units, addresses, pieces of split hosts and directories.

What they mean is left to `manager.operations.hosts`; owners of units to `manager.db.ownership`.
"""
