"""Routes of `/api/v1` for the archive and third parties.

Who may use them is decided by `manager.api.access`, what they do by `manager.operations`.
"""
