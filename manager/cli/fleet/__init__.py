"""`prsm` commands for agents.

Each sends one call of `/api/v1`; what it does is left to the manager.
"""
