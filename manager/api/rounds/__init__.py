"""Routes of `/api/v1` for rounds and schedules.

Who may use them is decided by `manager.api.access`, what they do by `manager.operations`.
"""
