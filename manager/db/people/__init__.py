"""Queries on users, sessions' tokens, third parties and the audit log.

What they mean is left to `manager.operations.people`.
"""
