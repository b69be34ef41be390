"""Queries on the public archive: figures, hosts, selections, downloads, withdrawals.

Segments and their files are left to `manager.db.segments`.
"""
