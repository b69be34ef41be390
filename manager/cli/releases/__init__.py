"""`prsm` commands for releases and rollouts.

Each sends one call of `/api/v1`; what it does is left to the manager.
"""
