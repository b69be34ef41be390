"""`prsm` commands for users, sessions, tokens and the audit log.

Each sends one call of `/api/v1`; what it does is left to the manager.
"""
