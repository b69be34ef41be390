"""Routes of `/api/v1` for users, sessions, tokens and the audit log.

Who may use them is decided by `manager.api.access`, what they do by `manager.operations`.
"""
