"""`prsm` commands for hosts.

Each sends one call of `/api/v1`; what it does is left to the manager.
"""
