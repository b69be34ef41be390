"""`prsm` commands for plans and probes.

Each sends one call of `/api/v1`; what it does is left to the manager.
"""
