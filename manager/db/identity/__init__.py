"""Queries on the installation id, join tokens and the leader of several managers.

What they mean is left to `manager.operations.identity`.
"""
